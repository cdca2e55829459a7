r"""This project's own format: one problem a line, for problems of one's own.

    {"id": "sum-of-two", "statement": "…", "tests": [{"input": "1 2\n", "output": "3\n",
     "public": true}]}

`Row` lists every key. With an `entry_point` a problem asks for a function: each line of a test's
input is then one JSON value, an argument each, and its output is one JSON value.
"""

import difflib
from collections.abc import Iterable
from datetime import date
from functools import partial

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json

from harness.errors import DataError, UsageError
from harness.problem import Problem, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.reading import JsonLines, Line, expand
from harness.sources.rows import LEVELS, Loaded, check_function_test, content_hash, load_rows
from harness.sources.signature import signature_of


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class RowTest(_Strict):
    """A test; `public` says whether the model may see it."""

    input: str
    output: str
    public: bool


class Row(_Strict):
    """A line of the file.

    Attributes:
        id: `<source>/<name>`, or a name alone; without one, the content's hash names the problem.
        difficulty: any word; easy, medium and hard, in any case, count as levels.
        release_date: as 2024-12-31.
        references: known-good solutions.
    """

    statement: str
    tests: tuple[RowTest, ...]
    id: str | None = None
    title: str | None = None
    platform: str = ""
    difficulty: str | None = None
    tags: tuple[str, ...] = ()
    release_date: date | None = None
    starter_code: str = ""
    entry_point: str | None = None
    references: tuple[str, ...] = ()


def load(where: str | None, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems of the files that a path or glob names.

    Raises:
        UsageError: no file is given, or none is there.
        DataError: a row is not as the format says.
    """
    if where is None:
        raise UsageError("jsonl needs a file: give jsonl:PATH")
    files = (JsonLines(path) for path in expand(where))
    return read_files(files, source="jsonl", skip_bad_rows=skip_bad_rows)


def read_files(files: Iterable[JsonLines], *, source: str, skip_bad_rows: bool = False) -> Loaded:
    """The problems of some files, in order.

    Args:
        files: what to read.
        source: the first part of an id that names no source of its own.
        skip_bad_rows: as `load_rows` says.
    """
    return load_rows(files, partial(parse_row, source=source), skip_bad_rows=skip_bad_rows)


def parse_row(line: Line, *, source: str) -> Problem:
    """The problem of one row.

    Raises:
        DataError: the row is not as the format says.
    """
    line.json_object()  # says what is wrong with the line itself better than the model would
    try:
        row = Row.model_validate_json(line.text())
    except ValidationError as error:
        raise _data_error(line.where, error) from None
    _check(row, line.where)
    digest = _content_hash(row)
    problem_id = _problem_id(row.id or digest[:16], source)
    tests = tuple(
        TestCase(input=test.input, output=test.output, public=test.public) for test in row.tests
    )
    hidden = tuple(test for test in tests if not test.public)
    return Problem(
        id=problem_id,
        source=problem_id.partition("/")[0],
        title=row.title or problem_id.partition("/")[2],
        statement=row.statement,
        platform=row.platform.lower(),
        difficulty=LEVELS.get((row.difficulty or "").lower()),
        difficulty_word=row.difficulty or "",
        tags=row.tags,
        release_date=row.release_date,
        starter_code=row.starter_code,
        entry_point=row.entry_point,
        signature=signature_of(row.starter_code, row.entry_point),
        tests=TestSuite(
            public=tuple(test for test in tests if test.public),
            load_hidden=partial(tuple[TestCase, ...], hidden),
        ),
        preamble=preambles.LEETCODE if row.entry_point else "",
        references=row.references,
        content_hash=digest,
    )


def _check(row: Row, where: str) -> None:
    """What the model's types cannot say."""
    if row.id is not None and not all(part.strip() for part in row.id.split("/", 1)):
        raise DataError(where, "id", f"{row.id!r:.60} is not a name or <source>/<name>")
    if row.entry_point is None:
        return
    if not row.entry_point.isidentifier():
        raise DataError(where, "entry_point", f"{row.entry_point!r:.60} is not a Python name")
    for number, test in enumerate(row.tests, start=1):
        check_function_test(test.input, test.output, where, f"tests, test {number}")


def _problem_id(name: str, source: str) -> str:
    return name if "/" in name else f"{source}/{name}"


def _content_hash(row: Row) -> str:
    tests = to_json([(test.input, test.output, test.public) for test in row.tests]).decode()
    return content_hash(row.statement, row.starter_code, row.entry_point or "", tests)


def _data_error(where: str, error: ValidationError) -> DataError:
    """The first complaint, with the nearest key when the row has one too many."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = [str(part) for part in first["loc"]]
    field = ".".join(path)
    if first["type"] != "extra_forbidden":
        return DataError(where, field, _complaint(first["msg"], first["input"]))
    known = RowTest if len(path) > 1 else Row
    near = difflib.get_close_matches(path[-1], known.model_fields, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known.model_fields)}"
    return DataError(where, field, f"unknown key; {hint}")


def _complaint(message: str, given: object) -> str:
    what = message[:1].lower() + message[1:]
    return what if isinstance(given, dict) else f"{what}, not {given!r:.60}"
