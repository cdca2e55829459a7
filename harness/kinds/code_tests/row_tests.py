"""Tests of a user's row that are code, or that become code where data cannot express them."""

import difflib
import re
from collections.abc import Sequence

from harness.errors import DataError
from harness.judged_by import Checker
from harness.kinds.code_tests import units
from harness.kinds.code_tests.calls import HELPERS, CallError, CallWriter, typed_calls
from harness.kinds.code_tests.evalplus import read_script
from harness.kinds.code_tests.names import Known
from harness.languages import PYTHON
from harness.sources.jsonl import preamble_of, references_of
from harness.sources.jsonl_row import JsonlRow, RowTest
from harness.sources.public_split import Split, first_public
from harness.sources.signature import defined_names


def tests_as_code(row: JsonlRow, where: str) -> tuple[Split, Checker] | None:
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
    needs_code = row.values == "python" or any(map(_is_call, row.tests))
    special = needs_code or any(test.tolerance is not None for test in row.tests)
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
    if not (needs_code or is_class or typed or row.test_setup):
        return None
    if typed is None or row.values == "python":
        typed = CallWriter(row.entry_point, python=row.values == "python", is_class=is_class)
    return _of_values(row, row.entry_point, typed, where)


def _defined(row: JsonlRow) -> dict[str, bool]:
    python = [each.code for each in references_of(row) if each.language == PYTHON]
    code = (row.starter_code, *python[:1])
    return {name: kind for text in code for name, kind in defined_names(text).items()}


def _is_call(test: RowTest) -> bool:
    """Return whether a test says more of its call than positional arguments and a result."""
    return bool(test.kwargs) or not (test.raises is test.argument is None)


def _of_values(
    row: JsonlRow, entry_point: str, calls: CallWriter, where: str
) -> tuple[Split, Checker] | None:
    if not row.tests:
        return None
    code: list[str] = []
    for number, test in enumerate(row.tests, 1):
        try:
            code.append(calls.code(test))
        except CallError as error:
            raise DataError(where, f"tests, test {number}, {error.field}", str(error)) from None
    marks = [test.public for test in row.tests]
    if all(each is None for each in marks):
        first = first_public(len(code))
        marks = [number < first for number in range(len(code))]
    chosen = [
        [text for text, public in zip(code, marks, strict=True) if public is bool(k)]
        for k in (1, 0)
    ]
    before = f"{HELPERS}\n{row.test_setup}"
    public, hidden = (_units(texts, where, "tests") if texts else None for texts in chosen)
    checker, known, unknown = units.code_tests(
        *(public, hidden, entry_point, before), known=_known(row)
    )
    rule = "first" if all(test.public is None for test in row.tests) else "source"
    return Split(known, unknown, rule), checker


def _of_code(row: JsonlRow, test: str | tuple[str, ...], where: str) -> tuple[Split, Checker]:
    if row.tests:
        raise DataError(where, "test", "give 'test' or 'tests', not both")
    if row.checker is not None or row.rule != "lcb":
        field = "checker" if row.checker is not None else "rule"
        raise DataError(where, field, "cannot judge tests that are code: they judge themselves")
    entry_point = _entry_point(row, test, where)
    hidden = _units(test, where, "test")
    public = None if row.public_test is None else _units(row.public_test, where, "public_test")
    checker, known, unknown = units.code_tests(
        *(public, hidden, entry_point, row.test_setup, first_public(len(hidden.tests))),
        known=_known(row, preamble_of(row)),
    )
    return Split(known, unknown, "source" if public else "first"), checker


def _known(row: JsonlRow, preamble: str = "") -> Known:
    return Known(
        defined=_defined(row),
        preamble=preamble,
        starter=row.starter_code,
        statement=row.statement,
    )


def _units(code: str | Sequence[str], where: str, field: str) -> units.Units:
    try:
        return read_script(code) if isinstance(code, str) else units.read_units(code)
    except units.TestCodeError as error:
        raise DataError(where, field, str(error)) from None


def _entry_point(row: JsonlRow, test: str | tuple[str, ...], where: str) -> str:
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
    used = units.called_names(texts)
    is_check = any("def check(" in text for text in texts)
    named = re.compile(rf"\b{re.escape(name)}\b")
    if not is_check and used and not any(map(named.search, texts)):
        near = difflib.get_close_matches(name, used, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(where, "entry_point", f"the tests do not use {name!r:.60}{hint}")
    return name
