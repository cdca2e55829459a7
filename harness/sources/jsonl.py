r"""This project's own format, `jsonl:PATH`: one problem a line.

    {"id": "sum-of-two", "statement": "…", "tests": [{"input": "1 2\n", "output": "3\n",
     "public": true}]}

`JsonlRow` lists every key. With an `entry_point` a problem asks for a function: each line of a
test's input is then one JSON value, an argument each, and its output is one JSON value.
"""

import ast
import difflib
import inspect
import re
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from harness.errors import DataError
from harness.plugins import RuleName
from harness.problem import Checker, Problem, Signature, TestCase, TestSuite
from harness.python_source import UNREADABLE, parse, reason
from harness.sources import preambles
from harness.sources.files.lines import Line
from harness.sources.files.rows import (
    LEVELS,
    check_function_test,
    content_hash,
    load_paths,
    load_rows,
    name_fault,
    references_of,
)
from harness.sources.jsonl_code import has_another_shape, in_own_shape, tests_as_code
from harness.sources.public_examples import Split, split
from harness.sources.signature import canonical, signature_of

PreambleName = Literal["none", "livecodebench", "leetcode", "leetcodedataset", "apps", "mercury"]


def _describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add the text below each field; pydantic's own setting reads the source at every import."""
    body = cast("ast.ClassDef", parse(inspect.getsource(model)).body[0]).body
    for statements in pairwise(body):
        match statements:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                schema["properties"][name]["description"] = inspect.cleandoc(text)
            case _:
                pass


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", json_schema_extra=_describe)


class RowTest(_Strict):
    """A test."""

    input: str
    """Input of a program; for a function one JSON value per line, an argument each."""
    output: str | None = None
    """Expected output of a program; for a function one JSON value. Not needed with `raises`."""
    public: bool | None = None
    """Whether the model may see it. If no test of a row has this key, the first few are public."""
    kwargs: dict[str, Any] = {}
    """Named arguments of the call."""
    raises: str | None = None
    """Name of the exception that the call must raise."""
    argument: int | None = None
    """Index, from 0, of the argument that is compared instead of the result."""
    tolerance: float | None = None
    """Allowed relative or absolute error of a number."""


class JsonlRow(_Strict):
    """A problem: one line of the file."""

    statement: str
    """Statement for the model, Markdown or plain text."""
    tests: tuple[RowTest, ...] = ()
    """All tests must pass; a problem without any is never graded. Not allowed with `test`."""
    id: str | None = None
    """`<source>/<name>`, or a name alone; by default a hash of the content."""
    title: str | None = None
    """Title for people; by default the id."""
    platform: str = ""
    """Origin of the problem, a word to filter by."""
    difficulty: str | None = None
    """Any word; easy, medium and hard, in any case, count as levels."""
    tags: tuple[str, ...] = ()
    """Words to filter by."""
    release_date: date | None = None
    """Date such as 2024-12-31."""
    starter_code: str = ""
    """Frame of a function's solution; its annotations say which arguments are nodes."""
    entry_point: str | None = None
    """Function or method of `Solution` to call; without one, the problem asks for a program."""
    preamble: PreambleName | None = None
    """Code that runs before a solution; by default leetcode for functions, none for programs."""
    rule: RuleName = "lcb"
    """How outputs are compared with the expected ones."""
    checker: str | None = None
    """Python source that judges instead of the rule, in a sandbox. `check(input, expected, answer)`
    returns True, or False or a sentence with the reason. For a program the three are texts; for a
    function they are the list of its arguments, the expected value and its result.
    """
    references: tuple[str, ...] = ()
    """Known-good solutions."""
    known_issues: tuple[str, ...] = ()
    """Reasons why a right solution may be judged wrong, each in a word."""
    test: str | tuple[str, ...] | None = None
    """Tests as Python code, instead of `tests`: a function `check(candidate)`, a
    `unittest.TestCase`, functions `test_…`, statements that assert, or a list of such statements.
    The code runs in a separate sandbox from the solution's.
    """
    public_test: str | tuple[str, ...] | None = None
    """Tests as code that the model may see; without any, the first few of `test` are public."""
    test_setup: str = ""
    """Python source that comes before the code of the tests."""
    values: Literal["json", "python"] = "json"
    """Format of a function's tests: `python` has the arguments as between the brackets of a call,
    and compares with `==`.
    """
    preamble_code: str = ""
    """Python source that runs before every solution, after the preamble."""
    time_limit: float | None = Field(default=None, gt=0)
    """CPU seconds of a test."""
    memory_limit: int | None = Field(default=None, gt=0)
    """MiB of memory of a test."""


def parse_row(line: Line, *, source: str) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: the row does not have the format.
    """
    raw = line.json_object()  # has a better message for an invalid line than the model
    text = line.text()
    if has_another_shape(raw):
        text = to_json(in_own_shape(raw, line.where))
    try:
        row = JsonlRow.model_validate_json(text)
    except ValidationError as error:
        raise _data_error(line.where, error) from None
    _check(row, line.where)
    digest = _content_hash(row)
    problem_id = _problem_id(row.id or digest[:16], source)
    tests, checker = _tests_and_checker(row, line.where)
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
        signature=Signature() if _is_code(checker) else _signature(row),
        tests=TestSuite(
            public=tests.public, load_hidden=partial(tuple[TestCase, ...], tests.hidden)
        ),
        public_rule=tests.rule,
        preamble=_preamble(row),
        rule=row.rule,
        checker=checker,
        cpu_s=row.time_limit,
        memory_bytes=row.memory_limit and row.memory_limit << 20,
        load_references=partial(references_of, *row.references),
        known_issues=row.known_issues,
        content_hash=digest,
    )


read_rows = partial(load_rows, parse=partial(parse_row, source="jsonl"))
"""Read the problems of some files, in order."""

load = partial(load_paths, "jsonl", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def _signature(row: JsonlRow) -> Signature:
    return signature_of(row.starter_code, row.entry_point)


def _is_code(checker: Checker | None) -> bool:
    return checker is not None and checker.tests is not None


def _tests_and_checker(row: JsonlRow, where: str) -> tuple[Split, Checker | None]:
    found = tests_as_code(row, where)
    if found is not None:
        return found
    checker = Checker(kind="check", code=row.checker) if row.checker is not None else None
    return _tests(row), checker


def _tests(row: JsonlRow) -> Split:
    signature = _signature(row)
    tests = [
        TestCase(input=t.input, output=canonical(t.output or "", signature), public=bool(t.public))
        for t in row.tests
    ]
    if tests and all(test.public is None for test in row.tests):
        return split(tests, [False for _ in tests])
    public = tuple(test for test in tests if test.public)
    return Split(public, tuple(test for test in tests if not test.public), "source")


def _check(row: JsonlRow, where: str) -> None:
    """Check what the model's types cannot express."""
    if row.test is None and "tests" not in row.model_fields_set:
        raise DataError(where, "tests", "field required; or give 'test', tests that are code")
    if row.id is not None and not all(part.strip() for part in row.id.split("/", 1)):
        raise DataError(where, "id", f"{row.id!r:.60} is not a name or <source>/<name>")
    said = [test.public is not None for test in row.tests]
    if any(said) and not all(said):
        number = said.index(False) + 1
        raise DataError(where, "tests", f"test {number} does not say 'public', as others do")
    for number, test in enumerate(row.tests, start=1):
        if test.output is None and test.raises is None:
            raise DataError(where, "tests", f"test {number} has no 'output'")
    if row.checker is not None:
        _check_checker(row.checker, where)
    if row.entry_point is None:
        return
    if not row.entry_point.isidentifier():
        raise DataError(where, "entry_point", f"{row.entry_point!r:.60} is not a Python name")
    for number, test in enumerate(row.tests if row.values == "json" else (), start=1):
        check_function_test(test.input, test.output or "null", where, f"tests, test {number}")


def _check_checker(code: str, where: str) -> None:
    """Check that a checker is Python and defines `check`, before a model costs money."""
    if not re.search(r"\bcheck\b", code):
        raise DataError(where, "checker", "defines no function 'check'")
    try:
        parse(code)
    except UNREADABLE as error:
        raise DataError(where, "checker", f"not valid Python: {reason(error)}") from None


def _problem_id(name: str, source: str) -> str:
    return name if "/" in name else f"{source}/{name}"


def _preamble(row: JsonlRow) -> str:
    if row.preamble is None:
        named = preambles.LEETCODE if row.entry_point else ""
    else:
        named = preambles.BY_NAME[row.preamble]
    return f"{named}\n{row.preamble_code}" if row.preamble_code else named


def _content_hash(row: JsonlRow) -> str:
    tests = to_json([(test.input, test.output, test.public) for test in row.tests]).decode()
    judged = (row.preamble or "", row.rule, row.checker or "")
    judged = judged if judged != ("", "lcb", "") else ()
    more = row.model_dump(include=_JUDGED_TOO, exclude_defaults=True)
    of_tests = [test.model_dump(include=_OF_A_TEST, exclude_defaults=True) for test in row.tests]
    more |= {"tests": of_tests} if any(of_tests) else {}
    judged = (*judged, to_json(more).decode()) if more else judged
    return content_hash(row.statement, row.starter_code, row.entry_point or "", tests, *judged)


_JUDGED_TOO = {"test", "public_test", "test_setup", "values", "preamble_code"}
_OF_A_TEST = {"kwargs", "raises", "argument", "tolerance"}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a row."""
    return JsonlRow.model_json_schema() | {
        "anyOf": [{"required": [key]} for key in ("tests", "test")]
    }


def _data_error(where: str, error: ValidationError) -> DataError:
    """Return the first error, with the nearest key if a key is unknown."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = [str(part) for part in first["loc"]]
    if first["type"] != "extra_forbidden":
        return name_fault(where, error)
    known = RowTest if len(path) > 1 else JsonlRow
    near = difflib.get_close_matches(path[-1], known.model_fields, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known.model_fields)}"
    return DataError(where, ".".join(path), f"unknown key; {hint}")
