"""Events of runs and samples that observers receive.

An event is frozen, contains no hidden test and no reference, and becomes a JSON object by
`model_dump_json`. Within one `schema_version` keys are only added and never change their meaning.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field

from harness.grading.verdict import Verdict
from harness.models.protocol import Frozen
from harness.run.store.results import SampleResult
from harness.run.summary.summary import Summary

SCHEMA = 1


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class _Event(Frozen):
    """Common fields: `run`, the run directory as the user gave it; `time`, in UTC."""

    schema_version: int = SCHEMA
    run: str
    time: str = Field(default_factory=_now)


class RunStarted(_Event):
    """A run has started or resumed. `left` of its `samples` are still to do."""

    event: Literal["run_started"] = "run_started"
    model: str
    mode: str
    prompt: str
    problems: int
    samples: int
    left: int


class SampleStarted(_Event):
    """A sample has started or resumed. `sample` is `<problem id>#<index>`."""

    event: Literal["sample_started"] = "sample_started"
    sample: str


class SampleEnded(_Event):
    """A sample is graded and committed."""

    event: Literal["sample_ended"] = "sample_ended"
    sample: str
    result: SampleResult


class SampleFailed(_Event):
    """A sample could not be graded because infrastructure failed; it stays pending."""

    event: Literal["sample_failed"] = "sample_failed"
    sample: str
    verdict: Verdict
    cause: str


class SamplePutOff(_Event):
    """A sample is postponed: the budget is spent, or the user stopped the run."""

    event: Literal["sample_put_off"] = "sample_put_off"
    sample: str


class RunEnded(_Event):
    """A run has ended: it is done, the user stopped it, or some samples are pending."""

    event: Literal["run_ended"] = "run_ended"
    outcome: Literal["done", "interrupted", "incomplete"]
    summary: Summary


class RunFailed(_Event):
    """A run failed with an error; samples committed before are kept."""

    event: Literal["run_failed"] = "run_failed"
    cause: str


RunEvent = RunStarted | RunEnded | RunFailed
Observed = Annotated[
    RunEvent | SampleStarted | SampleEnded | SampleFailed | SamplePutOff,
    Field(discriminator="event"),
]
