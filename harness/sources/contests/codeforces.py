"""Codeforces problems, as `open-r1/codeforces` publishes them.

Rows have `id`, `title`, `description`, `input_format`, `output_format`, `note`, `examples`,
`official_tests`, `time_limit`, `memory_limit`, `input_mode` and `generated_checker`. Examples are
public, the other official tests hidden. A row with incomplete official tests has the known issue
`tests_incomplete`. Interactive problems, those that read a file, and rows without any test are
refused. The data set's generated tests, in separate files, are not used.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from harness.errors import DataError
from harness.problem import Checker, Level, Problem, TestCase, TestSuite
from harness.sources.contests.checker_programs import score_checker
from harness.sources.files.lines import Line
from harness.sources.files.rows import content_hash, load_paths, load_rows

EASY, MEDIUM = 1_300, 2_000
"""Ratings below which a problem counts as easy, and as medium."""


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
    rating = row.get("rating")
    seconds, memory = _number(row.get("time_limit")), _number(row.get("memory_limit"))
    statement = _statement(row, where)
    parts = [part for test in (*examples, *hidden) for part in (test.input, test.output)]
    return Problem(
        id=f"codeforces/{name}",
        source="codeforces",
        title=_text(row, "title", where) or name,
        statement=statement,
        platform="codeforces",
        difficulty=_level(rating),
        difficulty_word=str(int(rating)) if isinstance(rating, int | float) else "",
        tags=tuple(str(tag) for tag in cast("list[Any]", row.get("tags") or [])),
        release_date=_date(row.get("contest_start")),
        tests=TestSuite(
            public=tuple(examples), load_hidden=partial(tuple[TestCase, ...], tuple(hidden))
        ),
        rule="tokens",
        checker=checker,
        cpu_s=seconds,
        memory_bytes=int(memory) << 20 if memory else None,
        known_issues=() if row.get("official_tests_complete") else ("tests_incomplete",),
        content_hash=content_hash(statement, source, *parts),
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


def _level(rating: object) -> Level | None:
    if not isinstance(rating, int | float):
        return None
    return "easy" if rating < EASY else "medium" if rating < MEDIUM else "hard"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _date(seconds: object) -> Any:
    if not isinstance(seconds, int | float) or seconds <= 0:
        return None
    return datetime.fromtimestamp(seconds, UTC).date()
