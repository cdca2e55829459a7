"""LiveCodeBench's code generation rows, from files in upstream's own schema.

Upstream's reader is the reference for what a row means
(https://github.com/LiveCodeBench/LiveCodeBench, `lcb_runner/benchmarks/code_generation.py`): every
column is a string, three of them hold JSON, and `func_name` in the metadata, not a test's
`testtype`, decides whether a solution is a function or a program. Hidden tests are most of the data
(4.5 GB for 1,055 problems), so a problem only remembers where its own are.
"""

from collections.abc import Iterable
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from harness.errors import DataError, UsageError
from harness.problem import Level, Problem, TestCase, TestSuite
from harness.sources import errata, preambles, private_tests
from harness.sources.parquet import open_rows
from harness.sources.reading import Line, expand, json_complaint
from harness.sources.rows import LEVELS, Loaded, check_function_test, content_hash, load_rows
from harness.sources.signature import signature_of

COLUMNS = (
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_id",
    "contest_date",
    "starter_code",
    "difficulty",
    "public_test_cases",
    "private_test_cases",
    "metadata",
)


def load(where: str | None, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems of the files that a path or glob names.

    Raises:
        UsageError: no file is given, or none is there.
        DataError: a row is not as upstream's schema says; its private tests are looked at only when
            they are loaded.
    """
    if where is None:
        raise UsageError("livecodebench needs a file: give livecodebench:PATH")
    return read_files(expand(where), skip_bad_rows=skip_bad_rows)


def read_files(paths: Iterable[Path], *, skip_bad_rows: bool = False) -> Loaded:
    """The problems of some files, JSONL, gzipped or not, or Parquet, in order."""
    return load_rows(map(open_rows, paths), parse_row, skip_bad_rows=skip_bad_rows)


def parse_row(line: Line) -> Problem:
    """The problem of one row.

    Raises:
        DataError: a column is missing or not as it should be.
    """
    row = _columns(line)
    question_id = row["question_id"]
    if not question_id.strip():
        raise DataError(line.where, "question_id", "empty")
    title = row["question_title"]
    platform = row["platform"].lower()
    slug = title if platform == "leetcode" else ""
    entry_point = _entry_point(row["metadata"], line.where)
    functional = entry_point is not None
    return Problem(
        id=f"livecodebench/{question_id}",
        source="livecodebench",
        title=title,
        statement=row["question_content"],
        platform=platform,
        difficulty=_level(row["difficulty"], line.where),
        difficulty_word=row["difficulty"],
        release_date=_release_date(row["contest_date"], line.where),
        starter_code=row["starter_code"],
        entry_point=entry_point,
        signature=signature_of(row["starter_code"], entry_point),
        tests=TestSuite(
            public=_tests(
                row["public_test_cases"].encode(),
                public=True,
                functional=functional,
                where=line.where,
            ),
            load_hidden=partial(
                _decode, row["private_test_cases"], functional=functional, where=line.where
            ),
        ),
        preamble=preambles.LIVECODEBENCH,
        known_issues=errata.known_issues(question_id, slug),
        aliases=(slug,) if slug else (),
        content_hash=_content_hash(row),
    )


def _columns(line: Line) -> dict[str, str]:
    row = line.json_object()
    for name in COLUMNS:
        if name not in row:
            raise DataError(line.where, name, "missing")
        if not isinstance(row[name], str):
            raise DataError(line.where, name, f"not a string but {row[name]!r:.60}")
    return {name: cast("str", row[name]) for name in COLUMNS}


def _content_hash(row: dict[str, str]) -> str:
    return content_hash(
        row["question_content"],
        row["starter_code"],
        row["metadata"],
        row["public_test_cases"],
        row["private_test_cases"],
    )


def _entry_point(metadata: str, where: str) -> str | None:
    try:
        value: object = from_json(metadata)
    except ValueError as error:
        raise DataError(where, "metadata", json_complaint(error)) from None
    if not isinstance(value, dict):
        raise DataError(where, "metadata", "not a JSON object")
    name = cast("dict[str, object]", value).get("func_name")
    if name is None:
        return None
    if not isinstance(name, str) or not name.isidentifier():
        raise DataError(where, "metadata", f"func_name {name!r:.60} is not a Python name")
    return name


def _level(word: str, where: str) -> Level:
    if word not in LEVELS:
        raise DataError(where, "difficulty", f"{word!r:.60} is not one of {', '.join(LEVELS)}")
    return LEVELS[word]


def _release_date(text: str, where: str) -> date:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        raise DataError(where, "contest_date", f"{text!r:.60} is not an ISO date") from None


def _tests(text: bytes, *, public: bool, functional: bool, where: str) -> tuple[TestCase, ...]:
    column = "public_test_cases" if public else "private_test_cases"
    try:
        tests: object = from_json(text)
    except ValueError as error:
        raise DataError(where, column, json_complaint(error)) from None
    if not isinstance(tests, list):
        raise DataError(where, column, "not a JSON list")
    return tuple(
        _test(test, number, public=public, functional=functional, where=where, column=column)
        for number, test in enumerate(cast("list[object]", tests), start=1)
    )


def _test(
    test: object, number: int, *, public: bool, functional: bool, where: str, column: str
) -> TestCase:
    match test:
        case {"input": str(given), "output": str(expected), "testtype": "stdin" | "functional"}:
            if functional:
                check_function_test(given, expected, where, f"{column}, test {number}")
            return TestCase(input=given, output=expected, public=public)
        case {"input": str(), "output": str(), "testtype": str(kind)}:
            complaint = f"testtype {kind!r:.60} is not stdin or functional"
        case _:
            complaint = "input, output and testtype must be there, as strings"
    raise DataError(where, column, f"test {number}: {complaint}")


def _decode(encoded: str, *, functional: bool, where: str) -> tuple[TestCase, ...]:
    if not encoded:
        return ()
    try:
        text = private_tests.decode(encoded)
    except ValueError as error:
        raise DataError(where, "private_test_cases", str(error)) from None
    return _tests(text, public=False, functional=functional, where=where)
