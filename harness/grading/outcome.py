"""The outcome of one test: its verdict, and the excerpts that are shown."""

import json
from collections.abc import Callable

from harness.excerpts import shorten, shorten_bytes
from harness.grading.answer_comparison import OwnScore
from harness.grading.rules.json_values import describe_value
from harness.grading.verdict import Difference, TestResult, Verdict
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution
from harness.text import writable

EXCERPT = 1_500
LONGEST_READABLE = 4 << 20
"""Largest result in bytes that is decoded for display."""

_VERDICT_OF = {
    **dict.fromkeys((Ending.ERROR, Ending.EXIT, Ending.SIGNAL), Verdict.RUNTIME_ERROR),
    **dict.fromkeys((Ending.CPU_LIMIT, Ending.WALL_LIMIT), Verdict.TIME_LIMIT),
    Ending.MEMORY_LIMIT: Verdict.MEMORY_LIMIT,
    Ending.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT,
    Ending.CANNOT_COMPILE: Verdict.COMPILE_ERROR,
    Ending.SANDBOX_LOST: Verdict.RUNTIME_ERROR,
}


def outcome(
    execution: Execution,
    *,
    test: TestCase,
    index: int,
    functional: bool,
    answer: bytes | None,
    readable: Callable[[str], str] = str,
    difference: Difference | None = None,
    checker_error: str = "",
    own_score: OwnScore | None = None,
) -> TestResult:
    """Return the result of a test.

    Args:
        execution: execution of the test.
        test: the test.
        index: its position among the problem's tests.
        functional: whether the answer is a value.
        answer: result of `answer_of`, shown if the answer was wrong.
        readable: function that extracts the part of a value to show to a person.
        difference: where the answer is wrong; None when it is right, or was not compared.
        checker_error: reason why it could not be compared.
        own_score: points that the checker gave.
    """
    verdict, error = _VERDICT_OF.get(execution.ending), execution.error or _ended(execution)
    if checker_error:
        verdict, error = Verdict.CHECKER_ERROR, checker_error
    elif answer is not None and difference is None:
        verdict, error = Verdict.ACCEPTED, ""
    elif verdict is None and answer is None:
        verdict, error = Verdict.RUNTIME_ERROR, "the process ended before the function returned"
    elif verdict is None:
        verdict = Verdict.WRONG_ANSWER
    shown: dict[str, str] = {}
    if verdict is not Verdict.ACCEPTED:
        stdout = writable(shorten_bytes(execution.stdout, EXCERPT, "surrogateescape"))
        shown = {
            "got": _value(answer, readable) if functional and answer is not None else stdout,
            "stdout": stdout if functional else "",
            "stderr": clean(execution.stderr),
        }
    return TestResult(
        index=index,
        public=test.public,
        verdict=verdict,
        cpu_s=round(execution.cpu_s, 6),
        wall_s=round(execution.wall_s, 6),
        peak_bytes=execution.peak_bytes if execution.alone else None,
        difference=difference,
        error=clean(error),
        points=None if own_score is None else own_score.points,
        share=None if own_score is None else own_score.share,
        **shown,
    )


def _value(answer: bytes, readable: Callable[[str], str]) -> str:
    """Return an excerpt of a result, much as Python writes it."""
    if len(answer) > LONGEST_READABLE:
        return writable(shorten_bytes(answer, EXCERPT, "replace"))
    result = readable(answer.decode("utf-8", "replace"))
    if len(result) > 100 * EXCERPT:
        return clean(result)
    try:
        return clean(describe_value(json.loads(result)))
    except (ValueError, RecursionError, TypeError):
        return clean(result)


def _ended(execution: Execution) -> str:
    match execution.ending:
        case Ending.EXIT:
            return f"exit code {execution.code}"
        case Ending.SIGNAL:
            return f"killed by signal {execution.code}"
        case Ending.WALL_LIMIT:
            return (
                f"the limit of wall time was reached after {execution.wall_s:.1f} s, of which the "
                f"program ran for {execution.cpu_s:.2f} s"
            )
        case _:
            return ""


def clean(text: str) -> str:
    """Return a bounded excerpt that can be written as UTF-8."""
    return writable(shorten(text, EXCERPT))
