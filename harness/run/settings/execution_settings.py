"""Settings of judging and of execution: rules, time limits, speed, place and budget."""

import math
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from harness.kinds.cpp.language import FLAGS
from harness.languages.known import language
from harness.models.clients.timeouts import Timeouts
from harness.plugins import RuleName
from harness.run.settings.setting import (
    LEAST_MEMORY,
    MOST_IN_FLIGHT,
    MOST_MEMORY,
    Setting,
    SettingsGroup,
)
from harness.run.settings.shard import Shard
from harness.sandbox.executor import ExecutorName
from harness.sandbox.isolation import Level

Timing = Literal["paired", "mercury"]
LONGEST_SECONDS = 7 * 86_400
REFERENCE = "reference*"
"""Prefix of a time limit given as a multiple of a reference's time."""


MOST_FACTOR = 100.0
"""Largest multiple of a time limit."""


def read_test_timeout(value: Any, *, by_reference: bool = True) -> float | str:
    """Parse a CPU time limit per test: seconds, or `reference*FACTOR` if allowed.

    Raises:
        ValueError: it is neither; the message says what to give.
    """
    if by_reference and isinstance(value, str) and value.strip().startswith("reference"):
        text = value.strip()
        if factor_of(text) is None:
            raise ValueError("give reference*FACTOR, as reference*4, with a factor of more than 0")
        return text
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        most = f"more than 0, at most {LONGEST_SECONDS:g}"
        other = ", or reference*FACTOR" if by_reference else ""
        raise ValueError(f"give CPU seconds, {most}{other}")
    return seconds


def factor_of(test_timeout: float | str | None) -> float | None:
    """Return the factor of `reference*FACTOR`; None for other limits."""
    if not isinstance(test_timeout, str) or not test_timeout.startswith(REFERENCE):
        return None
    try:
        factor = float(test_timeout.removeprefix(REFERENCE))
    except ValueError:
        return None
    return factor if 0 < factor < math.inf else None


def validated_timeout(value: Any) -> float | str | None:
    """Return a setting's time limit. Raises PydanticCustomError."""
    try:
        return None if value is None else read_test_timeout(value)
    except ValueError as error:
        raise PydanticCustomError("test_timeout", "{why}", {"why": str(error)}) from error


_asks = partial(Setting, heeded_by="asks")
_budget = partial(Setting, heeded_by="asks", may_change=True, compared=False)
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
        Setting(
            "Most model requests at the same time.",
            "Run",
            may_change=True,
            compared=False,
            common=True,
        ),
    ] = Field(default=8, ge=1, le=MOST_IN_FLIGHT)
    workers: Annotated[
        int | None, _place("Number of sandbox processes. Default: one per core.", "Run")
    ] = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    executor: Annotated[
        ExecutorName,
        _place("Judge on this machine, or on all nodes of a Ray cluster."),
    ] = "local"
    ray_address: Annotated[
        str | None,
        _place(
            "Address of the Ray cluster. Default: the one that this machine is part of (auto).",
            metavar="auto|HOST:PORT",
            effective=lambda spec: spec.executor == "ray",
        ),
    ] = None
    shard: Annotated[
        str | None,
        BeforeValidator(_shard),
        Setting(
            "Run only the I-th of N equal parts of the problems; `harness merge` joins them.",
            metavar="I/N",
            compared=False,
        ),
    ] = None
    idle_timeout: Annotated[
        float | None,
        _budget(
            "Seconds that a provider may be silent during a request. Default: 900. Answers "
            "are streamed where the provider can.",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    request_timeout: Annotated[
        float | None,
        _budget("Seconds that one request may take in all. Default: 7200.", metavar="S"),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    retry_timeout: Annotated[
        float | None,
        _budget("Seconds for which a failing request is repeated. Default: 1800.", metavar="S"),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    outage_timeout: Annotated[
        float | None,
        _budget(
            "Seconds that the run pauses while the provider does not answer, before it "
            "stops. Default: 600; 60 if the provider has not answered yet.",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    max_cost: Annotated[
        float | None,
        _budget(
            "Most US dollars that the run may spend. Default: no limit.",
            "Budget",
            metavar="USD",
            common=True,
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
        Setting(
            "Most US dollars that one sample may spend. Default: no limit.",
            heeded_by="several",
            metavar="USD",
        ),
    ] = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def timeouts(self) -> Timeouts:
        """Time limits of each request."""
        given = {
            "idle_s": self.idle_timeout,
            "request_s": self.request_timeout,
            "retry_s": self.retry_timeout,
        }
        return Timeouts(**{name: value for name, value in given.items() if value is not None})


_tests = partial(Setting, needs="tests")
_limit = partial(Setting, needs="programs", compared=False)
_times = partial(Setting, needs="tests", compared=False)
_sandbox = partial(Setting, compared=False)


class JudgingSettings(SettingsGroup):
    """How solutions are judged."""

    run_tests: Annotated[
        bool,
        Setting(
            "Grade the solutions, or only generate them.",
            "Grading",
            names=("--run-tests/--no-run-tests",),
            effective=lambda spec: spec.run_tests or not spec.known_mode.runs_tests,
            otherwise="--no-run-tests goes with single shot: {mode} runs the public tests",
        ),
    ] = True
    rule: Annotated[
        RuleName | None,
        _tests(
            "Rule that compares outputs. Default: each problem's own.",
            "Grading",
            metavar="lcb|equality|tokens|apps_legacy|NAME",
        ),
    ] = None
    test_timeout: Annotated[
        float | str | None,
        BeforeValidator(validated_timeout),
        _limit(
            "CPU limit per test in seconds; or a multiple of what the problem's reference "
            "needs, after `harness verify`. Default: the source's own.",
            "Grading",
            metavar="S|reference*F",
        ),
    ] = None
    time_factor: Annotated[
        float,
        _limit(
            "Multiple of the CPU limit that solutions in Python get, for limits made for faster "
            "languages.",
            metavar="F",
        ),
    ] = Field(default=1.0, ge=1, le=MOST_FACTOR)
    cpp_flags: Annotated[
        str | None,
        Setting(
            f"Flags of the C++ compiler. Default: {FLAGS}.",
            metavar="'FLAGS'",
            usual=FLAGS,
            effective=lambda spec: language(spec.language).is_compiled,
            otherwise="--set cpp_flags goes with --language cpp",
        ),
    ] = None
    memory: Annotated[
        int | None,
        _limit(
            "Memory limit per test in MiB. Default: the source's own.", "Grading", metavar="MIB"
        ),
    ] = Field(default=None, ge=LEAST_MEMORY, le=MOST_MEMORY)
    isolate_tests: Annotated[
        bool, _tests("Start a new process for every test, instead of one per solution.")
    ] = False
    wall_timeout: Annotated[
        float | None,
        _limit(
            "Wall-clock limit per test in seconds. Default: follows from the CPU limit.",
            metavar="S",
        ),
    ] = Field(default=None, gt=0, le=LONGEST_SECONDS)
    all_tests: Annotated[
        bool | None,
        _tests(
            "Run every test, or stop at the first failure. Default: stop after a limit, and "
            "with more than 100 tests after any failure.",
            "Grading",
            names=("--all-tests/--fail-fast",),
        ),
    ] = None
    efficiency: Annotated[
        bool,
        _times(
            "Also time the solutions that pass, beside the problems' references. Without a "
            "model, the references are timed.",
            "Grading",
            effective=lambda spec: spec.run_tests,
            otherwise="--efficiency times what passes the tests; leave out --no-run-tests",
        ),
    ] = False
    timing: Annotated[
        Timing,
        _times(
            "Timing method: interleaved with references (paired), or Mercury's protocol of "
            "128 iterations.",
            effective=lambda spec: spec.efficiency,
            otherwise="--set timing says how --efficiency measures; give that too",
        ),
    ] = "paired"
    require_isolation: Annotated[
        Level,
        _sandbox(
            "Refuse a sandbox weaker than this: namespaces, landlock, seccomp.",
            "Grading",
            metavar="LEVEL",
        ),
    ] = Level.LANDLOCK
    unsafe_no_sandbox: Annotated[
        bool, _sandbox("Run even where no sandbox can be had; marks all results.", "Grading")
    ] = False

    @property
    def flags(self) -> str:
        """The compiler's flags; empty for the usual ones."""
        return self.cpp_flags or ""
