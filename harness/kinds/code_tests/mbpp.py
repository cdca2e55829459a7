"""MBPP and MBPP+: a sentence as statement, and assertions about the function.

Rows have `task_id`, `text` or `prompt`, `code`, `test_list` and, depending on the release,
`test_setup_code`, `test_imports` and `challenge_test_list`; those of MBPP+ have `test`, a script.
The first assertion is public, since nothing else names the function; all others are hidden. The
challenge tests are left out, as MBPP's own protocol and its published scores do.
"""

import ast
from functools import partial
from typing import cast

from harness.errors import DataError
from harness.kinds.code_tests import units
from harness.kinds.code_tests.evalplus import read_script
from harness.kinds.code_tests.names import Known
from harness.problem import Problem, TestCase, TestSuite
from harness.sources.files.content_hash import content_hash
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import references_of, text_column, valid_python
from harness.sources.signature import defined_names

WRONG_TESTS = frozenset({"mbppplus/255"})
"""Problems that no solution can pass here: an answer has more than 20 million values."""


def parse_row(line: Line, *, name: str) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is missing or invalid.
    """
    row = line.json_object()
    where = line.where
    number, code = _number(row, where), text_column(row, "code", where).replace("\r\n", "\n")
    asked = text_column(row, "text" if "text" in row else "prompt", where)
    tests = _texts(row, "test_list", where)
    if not tests:
        raise DataError(where, "test_list", "it has no test")
    before = "\n".join(
        [str(row.get("test_setup_code") or ""), *_texts(row, "test_imports", where)]
    ).replace("\r\n", "\n")
    entry_point, head = _function(code, tests, where)
    try:
        hidden, issues = _hidden(row, tests[1:], entry_point)
        checker, known, unknown = units.code_tests(
            *(units.read_units(tests[:1]), hidden, entry_point, before),
            known=Known(defined=defined_names(code), statement=asked),
        )
    except units.TestCodeError as error:
        raise DataError(where, "test_list", str(error)) from None
    return Problem(
        id=f"{name}/{number}",
        source=name,
        title=entry_point,
        statement=asked.strip(),
        platform="mbpp",
        difficulty=None,
        difficulty_word="",
        starter_code=head,
        entry_point=entry_point,
        tests=TestSuite(public=known, load_hidden=partial(tuple[TestCase, ...], unknown)),
        public_rule="first",
        checker=checker,
        known_issues=("wrong_tests",) if f"{name}/{number}" in WRONG_TESTS else issues,
        load_references=partial(references_of, code),
        aliases=(f"Mbpp/{number}", f"mbpp/{number}"),
        content_hash=content_hash(asked, head, entry_point, code, checker.code, *tests),
    )


def _hidden(
    row: dict[str, object], tests: list[str], entry_point: str
) -> tuple[units.Units | None, tuple[str, ...]]:
    """Return the hidden tests and the known issues.

    The script of MBPP+ includes MBPP's tests. Three of these scripts assert nothing; MBPP's tests
    replace them.
    """
    script = row.get("test")
    if isinstance(script, str) and script.strip():
        if units.asserts(script):
            return read_script(script, entry_point), ()
        return units.read_units(tests) if tests else None, ("tests_incomplete",)
    return units.read_units(tests) if tests else None, ()


def _number(row: dict[str, object], where: str) -> str:
    match row.get("task_id"):
        case bool():
            raise DataError(where, "task_id", "no number")
        case int(number):
            return str(number)
        case str(name) if name.rpartition("/")[2].isdecimal():
            return name.rpartition("/")[2]
        case other:
            raise DataError(where, "task_id", f"no number: {other!r:.60}")


def _texts(row: dict[str, object], column: str, where: str) -> list[str]:
    value = row.get(column)
    if value is None:
        return []
    texts = cast("list[object]", value) if isinstance(value, list) else [None]
    if all(isinstance(each, str) for each in texts):
        return [str(each).replace("\r\n", "\n") for each in texts]
    raise DataError(where, column, f"no list of strings: {value!r:.60}")


def _function(code: str, tests: list[str], where: str) -> tuple[str, str]:
    """Return the function that the tests call, and its head with parameter names."""
    body = valid_python(code, "code", where).body
    called = units.called_names(tests)
    defined = [
        each
        for each in body
        if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name in called
    ]
    functions = [each for each in defined if isinstance(each, ast.FunctionDef)] or defined
    if not functions:
        raise DataError(where, "code", "it defines no function that the tests call")
    chosen = functions[-1]
    if isinstance(chosen, ast.ClassDef):
        return chosen.name, f"class {chosen.name}:\n"
    return chosen.name, f"def {chosen.name}({ast.unparse(chosen.args)}):\n"
