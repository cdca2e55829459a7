"""HumanEval and HumanEval+: a function's head and docstring, and its `check`.

Rows have `task_id`, `prompt`, `entry_point`, `canonical_solution` and `test`, as on the hub. The
examples of the docstring are public, the tests of `check` are hidden.
"""

import ast
import re
from collections.abc import Iterator
from functools import partial

from harness.errors import DataError
from harness.kinds.code_tests.evalplus import read_script
from harness.kinds.code_tests.names import Known
from harness.kinds.code_tests.units import TestCodeError, code_tests, read_units
from harness.problem import Problem, TestCase, TestSuite
from harness.python_source import UNREADABLE, parse_expression, read_literal
from harness.sources.files.content_hash import content_hash
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import references_of, text_column, valid_python
from harness.sources.signature import defined_names

_DOCTEST = re.compile(r"^[ \t]*>>> ?(.+)\n((?:(?![ \t]*>>>)[ \t]*\S.*(?:\n|$))+)", re.MULTILINE)
_THEN = re.compile(
    r"\s*(?:==?>?|=>|➞|➡|->|→|-->|#=>|#|(?:should |will |would )?returns?:?|must be|is|gives|:)\s*"
)
_LONGEST = 2_000
WRONG_EXAMPLES = frozenset({"HumanEval/47", "HumanEval/116", "HumanEval/130", "HumanEval/148"})
"""Problems whose docstring shows a value that their own reference does not return.

They are a wrong median, an order by another key, an item instead of a sequence, and a string
instead of a tuple of it.
"""

WRONG_TESTS = frozenset({"humanevalplus/32"})
"""Problems that no solution can pass: the test takes the function's number for a sequence."""

_COLUMNS = ("task_id", "prompt", "entry_point", "canonical_solution", "test")


def examples(text: str, entry_point: str) -> list[str]:
    """Return a function's examples in a text, as one assertion each, without repeats.

    Args:
        text: a docstring or statement.
        entry_point: name of the function.
    """
    examples = [*_doctests(text, entry_point)] or [*_calls(text, entry_point)]
    return list(dict.fromkeys(examples))


def _doctests(text: str, entry_point: str) -> Iterator[str]:
    for call, result in _DOCTEST.findall(text):
        value = _literal(result.strip())
        expression = _expression(call)
        if value and expression and re.search(rf"\b{re.escape(entry_point)}\(", call):
            yield f"assert {expression} == {value}"


def _calls(text: str, entry_point: str) -> Iterator[str]:
    for match in re.finditer(rf"\b{re.escape(entry_point)}\s*\(", text):
        rest = text[match.start() :][:_LONGEST]
        closed = _closed(rest)
        call = closed and _expression(closed)
        then = _THEN.match(rest, len(closed)) if call else None
        value = _literal_ahead(rest[then.end() :]) if then else ""
        if value and closed and _has_values(closed):
            yield f"assert {call} == {value}"


def _has_values(call: str) -> bool:
    """Return whether all arguments are literals."""
    parsed = parse_expression(call.strip())
    if not isinstance(parsed, ast.Call):
        return False
    arguments = [*parsed.args, *(each.value for each in parsed.keywords)]
    return all(_literal(ast.unparse(each)) for each in arguments)


def _closed(text: str) -> str:
    """Return the call at the start of a text, up to its closing bracket."""
    for place, letter in enumerate(text):
        if letter == ")" and _expression(text[: place + 1]):
            return text[: place + 1]
    return ""


def _literal_ahead(text: str) -> str:
    """Return the literal at the start of a text: the longest on its line."""
    line = text.split("\n", 1)[0]
    ends = {len(line), *(match.start() for match in re.finditer(r"\s+[#(]|[.,;]\s", line))}
    for end in sorted(ends, reverse=True):
        value = _literal(line[:end].strip().rstrip(".,;"))
        if value:
            return value
    return ""


def _expression(text: str) -> str:
    """Return an expression as normalised code; empty where the text is none."""
    try:
        return ast.unparse(parse_expression(text.strip()))
    except UNREADABLE:
        return ""


def _literal(text: str) -> str:
    try:
        read_literal(text)
    except (*UNREADABLE, TypeError):
        return ""
    return _expression(text)


def parse_row(line: Line, *, name: str) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is missing, or its test is no `check`.
    """
    row = line.json_object()
    values = {column: _text(row, column, line.where) for column in _COLUMNS}
    task, prompt, entry_point, solution, test = values.values()
    before, docstring = _read_prompt(prompt, entry_point, line.where)
    shown = [] if task in WRONG_EXAMPLES else examples(docstring, entry_point)
    try:
        public = read_units(shown) if shown else None
        hidden = read_script(test, entry_point)
        checker, public_tests, unknown = code_tests(
            *(public, hidden, entry_point, before),
            known=Known(
                defined=defined_names(prompt + solution), starter=prompt, statement=docstring
            ),
        )
    except TestCodeError as error:
        raise DataError(line.where, "test", str(error)) from None
    number = task.rpartition("/")[2]
    return Problem(
        id=f"{name}/{number}",
        source=name,
        title=entry_point,
        statement=docstring.strip() or f"Complete the function `{entry_point}`.",
        platform="humaneval",
        difficulty=None,
        difficulty_word="",
        starter_code=prompt,
        entry_point=entry_point,
        tests=TestSuite(public=public_tests, load_hidden=partial(tuple[TestCase, ...], unknown)),
        public_rule="statement",
        preamble=before,
        checker=checker,
        known_issues=("wrong_tests",) if f"{name}/{number}" in WRONG_TESTS else (),
        load_references=partial(references_of, prompt + solution),
        aliases=(task, entry_point),
        content_hash=content_hash(prompt, entry_point, test, checker.code),
    )


def _text(row: dict[str, object], column: str, where: str) -> str:
    if row.get(column) is None and "plus_input" in row:
        what = "missing: this is EvalPlus' own file of inputs; give its data set on the hub"
        raise DataError(where, column, f"{what}, whose rows have 'test'")
    return text_column(row, column, where)


def _read_prompt(prompt: str, entry_point: str, where: str) -> tuple[str, str]:
    """Return the code before the function, which tests and solutions use, and its docstring."""
    tree = valid_python(prompt, "prompt", where)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    function = next((each for each in functions if each.name == entry_point), None)
    if function is None:
        raise DataError(where, "entry_point", f"the prompt defines no function {entry_point!r:.60}")
    others = [each for each in tree.body if each is not function]
    return ast.unparse(ast.Module(others, [])), ast.get_docstring(function) or ""
