"""What observers from outside are told: events of runs and samples, as data.

An event is frozen, holds no hidden test and no reference, and is a JSON object by
`model_dump_json`. Keys are added, and never change their meaning, as long as `schema_version` is
the same.
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
    """Of every event: `run` is the run's directory as its user named it, `time` is in UTC."""

    schema_version: int = SCHEMA
    run: str
    time: str = Field(default_factory=_now)


class RunStarted(_Event):
    """A run has begun, or goes on. `left` of its `samples` are to be done now."""

    event: Literal["run_started"] = "run_started"
    model: str
    mode: str
    prompt: str
    problems: int
    samples: int
    left: int


class SampleStarted(_Event):
    """A sample has begun, or goes on. `sample` is `<problem id>#<index>`."""

    event: Literal["sample_started"] = "sample_started"
    sample: str


class SampleEnded(_Event):
    """A sample is graded and committed."""

    event: Literal["sample_ended"] = "sample_ended"
    sample: str
    result: SampleResult


class SampleFailed(_Event):
    """A sample that infrastructure kept from being graded; it stays pending."""

    event: Literal["sample_failed"] = "sample_failed"
    sample: str
    verdict: Verdict
    cause: str


class SamplePutOff(_Event):
    """A sample that is left for another time: the budget is spent, or the user stopped the run."""

    event: Literal["sample_put_off"] = "sample_put_off"
    sample: str


class RunEnded(_Event):
    """A run has ended: it is done, its user stopped it, or samples of it are pending."""

    event: Literal["run_ended"] = "run_ended"
    outcome: Literal["done", "interrupted", "incomplete"]
    summary: Summary


class RunFailed(_Event):
    """A run was broken off by an error; what was committed before is safe."""

    event: Literal["run_failed"] = "run_failed"
    cause: str


RunEvent = RunStarted | RunEnded | RunFailed
Observed = Annotated[
    RunEvent | SampleStarted | SampleEnded | SampleFailed | SamplePutOff,
    Field(discriminator="event"),
]
