"""Rows of MapCoder's and Reflexion's published results: solutions, whether solved, and tokens.

MapCoder (https://github.com/Md-Ashraful-Pramanik/MapCoder, `final-results/`) writes all solutions
of a problem in a row and asks until one is right, so only the last can be. Reflexion
(https://github.com/noahshinn/reflexion) writes one, on HumanEval without the function's head.
"""

import re
from collections.abc import Iterator
from typing import cast

from harness.errors import DataError
from harness.features.grade.solutions import Published, Solution
from harness.models.protocol import Usage

_OF_MULTIPL_E = re.compile(r"mbpp_(\d{1,6})_\w+")
_NAMES = ("task_id", "id", "name")


def read_solved(row: dict[str, object], where: str) -> Iterator[Solution]:
    """Yield the solutions of a row with `is_solved`.

    Raises:
        DataError: a column is malformed.
    """
    solved = row.get("is_solved")
    if not isinstance(solved, bool):
        raise DataError(where, "is_solved", f"{solved!r:.60} is neither true nor false")
    codes = row.get("source_codes", [row.get("solution")])
    if not isinstance(codes, list) or not codes:
        raise DataError(where, "source_codes", "not a list of solutions")
    listed = cast("list[object]", codes)
    calls = row.get("api_calls") if len(listed) == 1 else None
    for number, code in enumerate(listed):
        if not isinstance(code, str):
            column = "source_codes" if "source_codes" in row else "solution"
            raise DataError(where, column, f"not a string but {code!r:.60}")
        yield Solution(
            _name(row, where),
            code,
            published=Published(passed=solved and number == len(listed) - 1),
            completion="source_codes" not in row,
            usage=_usage(row, number),
            calls=calls if isinstance(calls, int) else 0,
        )


def _name(row: dict[str, object], where: str) -> str:
    """Return the problem's name; those of MultiPL-E's MBPP hold the number of MBPP."""
    name = next((row[key] for key in _NAMES if row.get(key) is not None), None)
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise DataError(where, _NAMES[0], "missing, or not a name")
    match = _OF_MULTIPL_E.fullmatch(str(name))
    return match[1] if match else str(name)


def _usage(row: dict[str, object], number: int) -> Usage | None:
    """Return the tokens of one solution; None if they were not counted."""
    given, made = (_tokens(row.get(f"{kind}_tokens"), number) for kind in ("prompt", "completion"))
    return Usage(input_tokens=given, output_tokens=made) if given and made else None


def _tokens(counts: object, number: int) -> int:
    values = cast("list[object]", counts) if isinstance(counts, list) else [counts]
    value = values[number] if number < len(values) else None
    return value if isinstance(value, int) and value > 0 else 0
