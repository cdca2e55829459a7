"""Codeforces problems, as `open-r1/codeforces` publishes them.

Rows have `id`, `title`, `description`, `input_format`, `output_format`, `note`, `examples`,
`official_tests`, `time_limit`, `memory_limit`, `input_mode` and `generated_checker`. Examples are
public, the other official tests hidden. A row with incomplete official tests has the known issue
`tests_incomplete`. Interactive problems, those that read a file, and rows without any test are
refused. The data set's generated tests, in separate files, are not used.
"""

from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any, cast

from harness.errors import DataError
from harness.judged_by import Checker
from harness.kinds.packages.checker_programs import score_checker
from harness.problem import Level, Problem, TestCase, TestSuite
from harness.sources import limits
from harness.sources.files.content_hash import content_hash
from harness.sources.files.lines import Line
from harness.sources.files.rows import load_paths, load_rows

EASY, MEDIUM = 1_300, 2_000
"""Ratings below which a problem counts as easy, and as medium."""
_LAST_SECOND = 253_402_300_800  # the year 10,000


def parse_row(line: Line) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is missing, or the problem cannot be judged here.
    """
    row = line.json_object()
    where = line.where
    name = _text(row, "id", where)
    if not name:
        raise DataError(where, "id", "missing")
    if _text(row, "interaction_format", where).strip():
        raise DataError(where, "interaction_format", f"{name} is interactive: it cannot be judged")
    if _text(row, "input_mode", where) not in {"", "stdio"}:
        raise DataError(where, "input_mode", f"{name} reads a file: only stdio can be judged")
    examples = _tests(row, "examples", where, public=True)
    official = _tests(row, "official_tests", where, public=False)
    known = {(test.input.strip(), test.output.strip()) for test in examples}
    hidden = [t for t in official if (t.input.strip(), t.output.strip()) not in known]
    if not (examples or hidden):
        raise DataError(where, "official_tests", f"{name} has no test")
    source = _text(row, "generated_checker", where)
    checker = Checker(kind="check", code=score_checker(source)) if source.strip() else None
    rating = _finite(row.get("rating"))
    seconds, memory = row.get("time_limit"), row.get("memory_limit")
    statement = _statement(row, where)
    parts = [part for test in (*examples, *hidden) for part in (test.input, test.output)]
    return Problem(
        id=f"codeforces/{name}",
        source="codeforces",
        title=_text(row, "title", where) or name,
        statement=statement,
        platform="codeforces",
        difficulty=_level(rating),
        difficulty_word="" if rating is None else str(int(rating)),
        tags=_tags(row.get("tags")),
        release_date=_date(row.get("contest_start")),
        tests=TestSuite(
            public=tuple(examples), load_hidden=partial(tuple[TestCase, ...], tuple(hidden))
        ),
        rule="tokens",
        checker=checker,
        exit_code_counts=True,
        cpu_s=limits.seconds(seconds, where, "time_limit") if seconds else None,
        memory_bytes=_memory(memory, where) if memory else None,
        known_issues=() if row.get("official_tests_complete") else ("tests_incomplete",),
        content_hash=content_hash(statement, source, *parts, "exit code counts"),
    )


read_rows = partial(load_rows, parse=parse_row)
"""Read the problems of some files, in order."""

load = partial(load_paths, "codeforces", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def _text(row: dict[str, object], column: str, where: str) -> str:
    value = row.get(column)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(where, column, f"no string: {value!r:.60}")
    return value


def _tests(row: dict[str, object], column: str, where: str, *, public: bool) -> list[TestCase]:
    value: object = row.get(column) or []
    if not isinstance(value, list):
        raise DataError(where, column, f"no list: {value!r:.60}")
    tests: list[TestCase] = []
    for number, each in enumerate(cast("list[object]", value), 1):
        match each:
            case {"input": str(given), "output": str(wanted)}:
                tests.append(TestCase(input=given, output=wanted, public=public))
            case _:
                raise DataError(where, column, f"test {number} has no input and output")
    return tests


def _statement(row: dict[str, object], where: str) -> str:
    parts = [_text(row, "description", where)]
    for title, column in (("Input", "input_format"), ("Output", "output_format"), ("Note", "note")):
        text = _text(row, column, where).strip()
        parts += [f"## {title}\n\n{text}"] if text else []
    if not any(part.strip() for part in parts):
        raise DataError(where, "description", "missing")
    return "\n\n".join(parts).strip()


def _memory(given: object, where: str) -> int:
    """Return a limit of memory in bytes; the data have MiB with decimals."""
    return int(limits.number(given, 1, limits.MOST_MEBIBYTES, where, "memory_limit") * (1 << 20))


def _finite(value: object) -> float | None:
    return value if isinstance(value, int | float) and -inf < value < inf else None


def _tags(given: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", given))) if isinstance(given, list) else ()


def _level(rating: float | None) -> Level | None:
    if rating is None:
        return None
    return "easy" if rating < EASY else "medium" if rating < MEDIUM else "hard"


def _date(seconds: object) -> Any:
    if not isinstance(seconds, int | float) or not 0 < seconds < _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC).date()
