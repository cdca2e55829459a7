"""Settings of execution: speed, place and budget."""

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from harness.run.spec.settings import (
    ASKED,
    MOST_IN_FLIGHT,
    Setting,
    SettingsGroup,
)
from harness.run.spec.shard import Shard
from harness.run.spec.timeout_values import LONGEST_SECONDS
from harness.sandbox.executor import ExecutorName

_asks = partial(Setting, modes=ASKED)
_budget = partial(Setting, modes=ASKED, may_change=True, compared=False)
_place = partial(Setting, needs="programs", may_change=True, compared=False)


def _shard(value: Any) -> str | None:
    try:
        return None if value is None else str(Shard.read(str(value)))
    except ValueError as error:
        raise PydanticCustomError("shard", "{why}", {"why": str(error)}) from error


class ExecutionSettings(SettingsGroup):
    """How fast a run goes, where its work is done, and what it may spend."""

    concurrency: Annotated[
        int,
        Setting("Most model requests at the same time.", "Run", may_change=True, compared=False),
    ] = Field(default=8, ge=1, le=MOST_IN_FLIGHT)
    workers: Annotated[
        int | None, _place("Number of sandbox processes. Default: one per core.", "Run")
    ] = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    executor: Annotated[
        ExecutorName,
        _place(
            "Judge on this machine, or on all nodes of a Ray cluster.", "Run", metavar="local|ray"
        ),
    ] = "local"
    ray_address: Annotated[
        str | None,
        _place(
            "Address of the Ray cluster. Default: the one that this machine is part of (auto).",
            "Run",
            metavar="auto|HOST:PORT",
        ),
    ] = None
    shard: Annotated[
        str | None,
        BeforeValidator(_shard),
        Setting(
            "Run only the I-th of N equal parts of the problems; `harness merge` joins them.",
            "Run",
            metavar="I/N",
            compared=False,
        ),
    ] = None
    idle_timeout: Annotated[
        float | None,
        _budget(
            "Seconds that a provider may be silent during a request. Default: 900. Answers "
            "are streamed where the provider can.",
            "Model",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    request_timeout: Annotated[
        float | None,
        _budget("Seconds that one request may take in all. Default: 7200.", "Model", metavar="S"),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    retry_timeout: Annotated[
        float | None,
        _budget(
            "Seconds for which a failing request is repeated. Default: 1800.", "Model", metavar="S"
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    outage_timeout: Annotated[
        float | None,
        _budget(
            "Seconds that the run pauses while the provider does not answer, before it "
            "stops with exit code 4. Default: 600; 60 if the provider has not answered yet.",
            "Model",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    max_cost: Annotated[
        float | None,
        _budget(
            "Most US dollars that the run may spend. Default: no limit.", "Budget", metavar="USD"
        ),
    ] = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens_total: Annotated[
        int | None,
        _budget(
            "Most input and output tokens that the run may use. Default: no limit.",
            "Budget",
            metavar="N",
        ),
    ] = Field(default=None, ge=1)
    max_cost_per_sample: Annotated[
        float | None,
        _asks(
            "Most US dollars that one sample may spend. Default: no limit.", "Budget", metavar="USD"
        ),
    ] = Field(default=None, gt=0, allow_inf_nan=False)
