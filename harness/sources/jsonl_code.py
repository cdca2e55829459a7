"""Tests of a `jsonl:PATH` row as code: given as code, or values that JSON cannot express.

HumanEval, MBPP, LeetCodeDataset and BigCodeBench have different names for the same columns. A row
counts as one of these if it has tests that are code and no `statement`; columns without a name
below are ignored.
"""

import ast
import difflib
import re
from collections.abc import Sequence
from typing import Any, Protocol, cast

from harness.errors import DataError
from harness.problem import Checker
from harness.python_source import parse_or_none
from harness.sources.code_tests.calls import HELPERS, Call, CallError, CallWriter, typed_calls
from harness.sources.code_tests.units import (
    TestCodeError,
    Units,
    called_names,
    code_tests,
    read_units,
)
from harness.sources.public_examples import FIRST, Split
from harness.sources.signature import defined_names


class ValueTest(Protocol):
    """Test given as values; see `harness.sources.jsonl.RowTest`."""

    @property
    def input(self) -> str: ...  # noqa: D102
    @property
    def output(self) -> str | None: ...  # noqa: D102
    @property
    def public(self) -> bool | None: ...  # noqa: D102
    @property
    def kwargs(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def raises(self) -> str | None: ...  # noqa: D102
    @property
    def argument(self) -> int | None: ...  # noqa: D102
    @property
    def tolerance(self) -> float | None: ...  # noqa: D102


class TestedRow(Protocol):
    """Row of a problem; see `harness.sources.jsonl.JsonlRow`."""

    @property
    def tests(self) -> Sequence[ValueTest]: ...  # noqa: D102
    @property
    def test(self) -> str | tuple[str, ...] | None: ...  # noqa: D102
    @property
    def public_test(self) -> str | tuple[str, ...] | None: ...  # noqa: D102
    @property
    def test_setup(self) -> str: ...  # noqa: D102
    @property
    def values(self) -> str: ...  # noqa: D102
    @property
    def entry_point(self) -> str | None: ...  # noqa: D102
    @property
    def starter_code(self) -> str: ...  # noqa: D102
    @property
    def references(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def rule(self) -> str: ...  # noqa: D102
    @property
    def checker(self) -> str | None: ...  # noqa: D102


def tests_as_code(row: TestedRow, where: str) -> tuple[Split, Checker] | None:
    """Return a row's tests and checker, if the tests are or must become code.

    Returns:
        None for a row whose tests are data.

    Raises:
        DataError: they do not have the format.
    """
    if row.test is not None:
        return _of_code(row, row.test, where)
    if row.public_test is not None:
        raise DataError(where, "public_test", "it needs 'test' as well")
    special = row.values == "python" or any(map(_is_special, row.tests))
    if row.entry_point is None:
        if special:
            what = "missing; values, kwargs, raises, argument and tolerance need a function's name"
            raise DataError(where, "entry_point", what)
        return None
    is_class = _defined(row).get(row.entry_point, False)
    plain = row.rule == "lcb" and row.checker is None
    typed = typed_calls(row.starter_code, row.entry_point) if plain else None
    if not (special or is_class or typed):
        return None
    if not plain:
        field = "checker" if row.checker is not None else "rule"
        what = "cannot judge tests in Python's values, of a class, or with keys of their own"
        raise DataError(where, field, what)
    if typed is None or row.values == "python":
        typed = CallWriter(row.entry_point, python=row.values == "python", is_class=is_class)
    return _of_values(row, row.entry_point, typed, where)


def _defined(row: TestedRow) -> dict[str, bool]:
    code = (row.starter_code, *row.references[:1])
    return {name: kind for text in code for name, kind in defined_names(text).items()}


def _is_special(test: ValueTest) -> bool:
    return bool(test.kwargs) or not (test.raises is test.argument is test.tolerance is None)


def _of_values(
    row: TestedRow, entry_point: str, calls: CallWriter, where: str
) -> tuple[Split, Checker] | None:
    if not row.tests:
        return None
    code: list[str] = []
    for number, test in enumerate(row.tests, 1):
        call = Call(
            test.input, test.output, test.kwargs, test.raises, test.argument, test.tolerance
        )
        try:
            code.append(calls.code(call))
        except CallError as error:
            raise DataError(where, f"tests, test {number}, {error.field}", str(error)) from None
    said = [test.public for test in row.tests]
    if all(each is None for each in said):
        first = _first(len(code))
        said = [number < first for number in range(len(code))]
    chosen = [
        [text for text, public in zip(code, said, strict=True) if public is bool(k)] for k in (1, 0)
    ]
    before = f"{HELPERS}\n{row.test_setup}"
    public, hidden = (read_units(texts) if texts else None for texts in chosen)
    checker, known, unknown = code_tests(public, hidden, entry_point, before)
    rule = "first" if all(test.public is None for test in row.tests) else "source"
    return Split(known, unknown, rule), checker


def _of_code(row: TestedRow, test: str | tuple[str, ...], where: str) -> tuple[Split, Checker]:
    if row.tests:
        raise DataError(where, "test", "give 'test' or 'tests', not both")
    if row.checker is not None or row.rule != "lcb":
        field = "checker" if row.checker is not None else "rule"
        raise DataError(where, field, "cannot judge tests that are code: they judge themselves")
    entry_point = _entry_point(row, test, where)
    hidden = _units(test, where, "test")
    if row.public_test is None:
        first = _first(len(hidden.tests))
        found = code_tests(None, hidden, entry_point, row.test_setup, first)
        return Split(found[1], found[2], "first"), found[0]
    public = _units(row.public_test, where, "public_test")
    checker, known, unknown = code_tests(public, hidden, entry_point, row.test_setup)
    return Split(known, unknown, "source"), checker


def _units(code: str | tuple[str, ...], where: str, field: str) -> Units:
    try:
        return read_units(code)
    except TestCodeError as error:
        raise DataError(where, field, str(error)) from None


def _first(number: int) -> int:
    return min(FIRST, max(1, number // 2))


def _entry_point(row: TestedRow, test: str | tuple[str, ...], where: str) -> str:
    """Return the function's name, which the tests must use, or `candidate` for it."""
    name = row.entry_point
    if name is None:
        raise DataError(where, "entry_point", "tests that are code need the function's name")
    defined = _defined(row)
    if defined and name not in defined:
        near = difflib.get_close_matches(name, defined, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        what = f"neither starter_code nor the first reference defines {name!r:.60}{hint}"
        raise DataError(where, "entry_point", what)
    texts = [test] if isinstance(test, str) else list(test)
    used = called_names(texts)
    is_check = any("def check(" in text for text in texts)
    named = re.compile(rf"\b{re.escape(name)}\b")
    if not is_check and used and not any(map(named.search, texts)):
        near = difflib.get_close_matches(name, used, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(where, "entry_point", f"the tests do not use {name!r:.60}{hint}")
    return name


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
