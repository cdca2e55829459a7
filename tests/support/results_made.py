"""A committed sample for tests that need any."""

from typing import Any

from harness.agent.attempt import ChosenBy, StopReason
from harness.grading.verdict import Verdict
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult


def made_result(
    problem: str, *, solved: bool = False, index: int = 0, **changes: Any
) -> SampleResult:
    """Return a sample of a problem with one public and one hidden test."""
    plain = SampleResult(
        sample=f"{problem}#{index}",
        problem_id=problem,
        index=index,
        title=problem,
        problem_hash=f"hash of {problem}",
        platform="made",
        difficulty="easy",
        tags=(),
        release_date=None,
        known_issues=(),
        verdict=Verdict.ACCEPTED if solved else Verdict.WRONG_ANSWER,
        public_passed=1,
        public_total=1,
        hidden_passed=int(solved),
        hidden_total=1,
        tests=(),
        code="",
        chosen_by=ChosenBy.NEWEST,
        extraction="",
        stop_reason=StopReason.MODEL_STOPPED,
        model_calls=1,
        tool_calls=0,
        malformed_tool_calls=0,
        nudges=0,
        written=1,
        usage=Usage(input_tokens=1_000, output_tokens=100),
        cost=0.5,
        seconds=1.0,
    )
    return plain.model_copy(update=changes)
