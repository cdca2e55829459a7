"""What a feature does in one run; `harness.registry.RUN_FEATURES` lists such features."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.agent.events import Response
from harness.problem import Problem
from harness.run.store.results import SampleResult
from harness.sandbox.executor import Executor


class RunPart(NamedTuple):
    """What a feature does in one run.

    Attributes:
        graded: returns a sample's result with what the feature adds, from the result, the problem
            and the model's answers. Raises SandboxError.
        notice: line shown where the run begins; empty for none.
        stored: its entry in `run.json`, if it has one.
    """

    graded: Callable[[SampleResult, Problem, Sequence[Response], Executor], Awaitable[SampleResult]]
    notice: str = ""
    stored: Mapping[str, Any] | None = None
