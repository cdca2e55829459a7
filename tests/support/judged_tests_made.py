"""Results of judged tests."""

from typing import Any

from harness.grading.verdict import TestResult, Verdict


def judged_test(verdict: Verdict = Verdict.WRONG_ANSWER, **keys: Any) -> TestResult:
    """Return the result of the first test, which is public, with some fields changed."""
    plain = TestResult(index=0, public=True, verdict=verdict, cpu_s=0, wall_s=0)
    return plain.model_copy(update=keys)
