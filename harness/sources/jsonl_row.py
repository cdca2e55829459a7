r"""Rows of this project's own format, `jsonl:PATH`, and of formats like it.

`JsonlRow` lists every key. HumanEval, MBPP, LeetCodeDataset and BigCodeBench have different names
for the same columns. A row counts as one of these if it has tests that are code and no `statement`;
columns without a name below are ignored.
"""

import ast
import difflib
import inspect
import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, to_json

from harness.errors import DataError
from harness.languages import LanguageName, OtherLanguage
from harness.plugins import RuleName
from harness.python_source import parse, parse_or_none
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import check_function_test, fault, valid_python
from harness.sources.limits import MOST_MEBIBYTES, MOST_SECONDS

LEAST_POINTS, MOST_POINTS = 0.001, 1e6
PreambleName = Literal["none", "livecodebench", "leetcode", "leetcodedataset", "apps", "mercury"]
NAMES = {
    "id": ("id", "task_id", "question_id", "problem_id", "slug", "name"),
    "statement": (
        *("problem_description", "description", "question", "problem", "text", "content"),
        *("instruct_prompt", "instruction", "complete_prompt", "prompt"),
    ),
    "test": ("test", "test_code", "test_list", "tests", "unit_tests"),
    "public_test": ("public_test", "public_tests"),
    "test_setup": ("test_setup", "test_setup_code"),
    "reference": ("canonical_solution", "reference", "solution", "completion", "code"),
    "starter_code": ("starter_code",),
    "entry_point": ("entry_point", "function_name", "fn_name"),
    "title": ("title", "question_title"),
    "difficulty": ("difficulty",),
    "tags": ("tags",),
    "platform": ("platform",),
    "time_limit": ("time_limit",),
    "memory_limit": ("memory_limit",),
}
"""Names of each key in other formats, the most specific first."""
EXAMPLE = {
    "id": "sum",
    "statement": "Print the sum of two integers.",
    "tests": [
        {"input": "1 2\n", "output": "3\n", "public": True},
        {"input": "2 2\n", "output": "4\n", "public": False},
    ],
    "references": ["print(sum(map(int, input().split())))"],
}
"""A row with what most rows need."""


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
    tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Allowed relative or absolute error of a number."""


class RowReference(_Strict):
    """A known-good solution in any language."""

    code: str
    """Its source."""
    language: LanguageName = "python"
    """Its language."""


class RowChecker(_Strict):
    """A checker that is a program of its own."""

    code: str
    """Its source. `testlib.h` is taken from `files`, from the folder that the environment variable
    TESTLIB names, or from the system.
    """
    language: LanguageName = "cpp"
    """Its language."""
    protocol: Literal["testlib", "kattis"] = "testlib"
    """How it is called and says its verdict. `testlib`: input, answer and expected output are its
    arguments, its exit code is one of testlib's. `kattis`: input, expected output and a folder for
    messages are its arguments, the answer is its standard input, and exit code 42 accepts, 43
    rejects.
    """
    files: dict[str, str] = {}
    """Names and texts of headers and of further sources, which are compiled too, or of Python
    modules.
    """
    interactive: bool = False
    """Whether it talks with the solution through standard input and output. With `testlib` its
    arguments are the input, a file to write, and the expected output.
    """
    points: float | None = Field(default=None, ge=LEAST_POINTS, le=MOST_POINTS)
    """Most points of a test, where it may give a part of them. A problem is solved by all."""


class JsonlRow(_Strict):
    """A problem: one line of the file."""

    statement: str
    """Statement for the model, Markdown or plain text."""
    tests: tuple[RowTest, ...] = ()
    """All tests must pass; there is at least one. Not allowed with `test`."""
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
    starters: dict[OtherLanguage, str] = {}
    """Frames of a function's solution in other languages, by the language: `{"cpp": "…"}`. Without
    one, it follows from the annotations of `starter_code`.
    """
    entry_point: str | None = None
    """Function or method of `Solution` to call; without one, the problem asks for a program."""
    preamble: PreambleName | None = None
    """Code that runs before a solution; by default leetcode for functions, none for programs."""
    rule: RuleName = "lcb"
    """How outputs are compared with the expected ones."""
    checker: str | RowChecker | None = None
    """Judges instead of the rule, in a sandbox. A text is Python source: `check(input, expected,
    answer)` returns True, or False or a sentence with the reason. For a program the three are
    texts; for a function they are the list of its arguments, the expected value and its result. An
    object is a program, in C++ or Python, that judges the outputs of programs.
    """
    references: tuple[str | RowReference, ...] = ()
    """Known-good solutions: a text is Python; an object has `code` and `language`."""
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
    languages: tuple[LanguageName, ...] = ()
    """Languages that solutions may be in, `python` or `cpp`; by default every one that can be
    judged.
    """
    time_limit: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """CPU seconds of a test."""
    memory_limit: int | None = Field(default=None, gt=0, le=MOST_MEBIBYTES)
    """MiB of memory of a test."""


_SHAPES: Mapping[int | str, type[BaseModel]] = {
    "str": JsonlRow,
    **{model.__name__: model for model in (RowChecker, RowReference)},
}
"""Words in the place of an error that say which of a key's shapes was tried, and their models."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a row."""
    return JsonlRow.model_json_schema() | {
        "anyOf": [{"required": [key]} for key in ("tests", "test")]
    }


def read_row(line: Line) -> JsonlRow:
    """Return the row on a line.

    Raises:
        DataError: it does not have the format.
    """
    try:
        row = JsonlRow.model_validate_json(line.text())
    except ValidationError as error:
        raw = line.json_object()  # has a better message for an invalid line than the model
        if not has_another_shape(raw):
            raise _data_error(line.where, error) from None
        row = _from_another_shape(raw, line.where)
    _check(row, line.where)
    return row


def _from_another_shape(raw: dict[str, Any], where: str) -> JsonlRow:
    try:
        return JsonlRow.model_validate_json(to_json(in_own_shape(raw, where)))
    except ValidationError as error:
        raise _data_error(where, error) from None


def _check(row: JsonlRow, where: str) -> None:
    """Check what the model's types cannot express."""
    if row.test is None and not row.tests:
        what = "empty" if "tests" in row.model_fields_set else "missing"
        raise DataError(where, "tests", f"{what}; give at least one test, or 'test', tests as code")
    if not row.statement.strip():
        raise DataError(where, "statement", "it is empty; say what a solution has to do")
    if row.id is not None and not all(part.strip() for part in row.id.split("/", 1)):
        raise DataError(where, "id", f"{row.id!r:.60} is not a name or <source>/<name>")
    _check_tests(row, where)
    for key in sorted({"preamble_code", "test_setup"} & row.model_fields_set):
        valid_python(getattr(row, key), key, where)
    if isinstance(row.checker, str):
        _check_checker(row.checker, where)
    if row.entry_point is None:
        return
    if isinstance(row.checker, RowChecker):
        raise DataError(where, "checker", "a program judges programs; for a function give Python")
    if not row.entry_point.isidentifier():
        raise DataError(where, "entry_point", f"{row.entry_point!r:.60} is not a Python name")
    for number, test in enumerate(row.tests if row.values == "json" else (), start=1):
        check_function_test(test.input, test.output or "null", where, f"tests, test {number}")


def _check_tests(row: JsonlRow, where: str) -> None:
    """Check that all tests say whether they are public or none, and that they have outputs."""
    is_said = [test.public is not None for test in row.tests]
    if any(is_said) and not all(is_said):
        number = is_said.index(False) + 1
        raise DataError(where, "tests", f"test {number} does not say 'public', as others do")
    for number, test in enumerate(row.tests, start=1):
        if test.output is None and test.raises is None and not isinstance(row.checker, RowChecker):
            raise DataError(where, "tests", f"test {number} has no 'output'")
        if test.output is not None and test.raises is not None:
            what = f"test {number} has 'output' and 'raises'; which one is meant?"
            raise DataError(where, "tests", what)


def _check_checker(code: str, where: str) -> None:
    """Check that a checker is Python and defines `check`, before a model costs money."""
    tree = valid_python(code, "checker", where)
    names = {
        getattr(node, field, None)
        for node in ast.walk(tree)
        if not isinstance(getattr(node, "ctx", None), ast.Load)
        for field in ("name", "asname", "id")
    }
    if "check" not in names:
        raise DataError(where, "checker", "defines no function 'check'")


def _data_error(where: str, error: ValidationError) -> DataError:
    """Return the first error, with the nearest key if a key is unknown."""
    first = _first_error(error)
    names = [str(part) for part in _keys(first["loc"])]
    if first["type"] != "extra_forbidden":
        return fault(where, _place_of(first["loc"]), first)
    known = _model_of(first["loc"])
    near = difflib.get_close_matches(names[-1], known.model_fields, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known.model_fields)}"
    return DataError(where, _place_of(first["loc"]), f"unknown key; {hint}")


def _place_of(location: Sequence[int | str]) -> str:
    """Return the place in a row in words: its keys, and the elements of lists counted from 1."""
    parts = [str(part + 1 if isinstance(part, int) else part) for part in _keys(location)]
    return ".".join(parts)


def _keys(location: Sequence[int | str]) -> list[int | str]:
    return [part for part in location if part not in _SHAPES]


def _first_error(error: ValidationError) -> ErrorDetails:
    """Return the first error; of a value with several shapes, the one that got furthest.

    A key that is missing is perhaps there with a typing error.
    """
    first, *others = error.errors(include_url=False)
    if first["type"] == "missing":
        *before, missing = first["loc"]
        for other in others:
            *place, given = other["loc"]
            near = difflib.get_close_matches(str(given), [str(missing)], n=1)
            if other["type"] == "extra_forbidden" and place == before and near:
                return other
    *place, shape = first["loc"]
    same = [each for each in others if [*each["loc"][: len(place)]] == place]
    return max([first, *same], key=lambda each: len(each["loc"])) if shape in _SHAPES else first


def _model_of(place: Sequence[int | str]) -> type[BaseModel]:
    """Return the model that a place in a row belongs to."""
    usual = RowTest if place[0] == "tests" and len(place) > 1 else JsonlRow
    return next((_SHAPES[part] for part in place if part in _SHAPES), usual)


def has_another_shape(row: dict[str, Any]) -> bool:
    """Return whether a row has another format, with tests that are code."""
    return "statement" not in row and any(_is_code(row.get(name)) for name in NAMES["test"])


def in_own_shape(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the row with the keys of `jsonl:PATH`.

    Raises:
        DataError: it has no statement, or no function's name can be found in it.
    """
    made = {key: _first_column(row, names) for key, names in NAMES.items()}
    made["test"] = next(row[name] for name in NAMES["test"] if _is_code(row.get(name)))
    prompt = row.get("prompt") or row.get("complete_prompt")
    reference = made.pop("reference")
    made["entry_point"] = _tested_name(made["entry_point"], made["test"], reference, where)
    if not isinstance(made["statement"], str) or not made["statement"].strip():
        named = ", ".join(NAMES["statement"])
        raise DataError(where, "statement", f"missing; or give one of {named}")
    if isinstance(prompt, str):
        made |= _of_prompt(prompt, made, reference)
    elif isinstance(reference, str):
        made["references"] = [reference]
    made["id"] = None if made["id"] is None else str(made["id"])
    if isinstance(made["id"], str):
        made["id"] = made["id"].replace("/", "-")
    if isinstance(made["tags"], str):
        made["tags"] = [made["tags"]]
    return {key: value for key, value in made.items() if value is not None}


def _first_column(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _is_code(value: Any) -> bool:
    """Return whether a value is tests that are code, and not something else of that name."""
    if isinstance(value, list) and value:
        texts = cast("list[object]", value)
        return all(isinstance(each, str) and "assert" in each for each in texts)
    return isinstance(value, str) and ("assert" in value or "def check(" in value)


def _tested_name(name: Any, test: Any, reference: Any, where: str) -> str:
    """Return the function's name: of `Solution().name` or, by default, the one the tests call."""
    if isinstance(name, str) and name.strip():
        return re.sub(r"\(.*\)$", "", name.strip()).rpartition(".")[2]
    text = test if isinstance(test, str) else "\n".join(test)
    defined = re.findall(r"^(?:def|class) (\w+)", str(reference or ""), re.MULTILINE)
    called = [each for each in defined if re.search(rf"\b{each}\(", text)]
    if not called:
        what = "missing; or give a reference that defines the function that the tests call"
        raise DataError(where, "entry_point", what)
    return called[-1]


def _of_prompt(prompt: str, made: dict[str, Any], reference: Any) -> dict[str, Any]:
    """Return what a prompt with code defines: starter code, code before it, reference."""
    tree = parse_or_none(prompt)
    if tree is None:
        return {"references": [reference]} if isinstance(reference, str) else {}
    body, name = tree.body, made["entry_point"]
    defines = [each for each in body if _defines(each, name)]
    before = ast.unparse(ast.Module([each for each in body if each not in defines], []))
    more: dict[str, Any] = {"preamble_code": before}
    if defines:
        more |= {"starter_code": made["starter_code"] or prompt}
        more |= {"test_setup": "\n".join(filter(None, (before, made["test_setup"])))}
    if isinstance(reference, str):
        whole = re.search(
            rf"^\s*(?:async )?(?:def|class) {re.escape(name)}\b", reference, re.MULTILINE
        )
        more["references"] = [reference if whole or not defines else prompt + reference]
    return more


def _defines(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
