"""What LiveCodeBench's rows of value questions have in common."""

from functools import partial
from typing import Any

from harness.problem import Problem, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.files.row_checks import text_column
from harness.sources.livecodebench import fields


def question_of(row: fields.Row, where: str, test: TestCase, **own: Any) -> Problem:
    """Return the problem of a row; its test, which has the answer, is hidden.

    Args:
        row: the row.
        where: the row's place, for errors.
        test: call and value.
        own: the other fields, which differ between the kinds.

    Raises:
        DataError: a column is missing or invalid.
    """
    return Problem(
        source="livecodebench",
        platform="leetcode",
        difficulty=fields.level(row, where),
        difficulty_word=text_column(row, "difficulty", where),
        release_date=fields.release_date(row, where),
        tests=TestSuite((), partial(tuple[TestCase, ...], (test,))),
        preamble=preambles.LIVECODEBENCH,
        **own,
    )
