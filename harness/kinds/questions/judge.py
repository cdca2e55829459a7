"""Judge of answers to value questions: Python literals, parsed and never executed, compared by ==.

The rule is that of LiveCodeBench (https://github.com/LiveCodeBench/LiveCodeBench, the modules
`compute_test_output_prediction_metrics` and `compute_code_execution_metrics` of
`lcb_runner/evaluation`): True is 1, 6.0 is 6, -0.0 is 0, a list is not a tuple, NaN equals nothing.
The verdicts differ from upstream's in these cases:

- Upstream evaluates the answer as Python in the grader's process, or pastes it into a program. Here
it is read as a literal and never run. An expression is wrong, as upstream's own prompt forbids it:
`3 or True`, which passes every problem there, and `[0] * 5`, `2 + 3`, `sorted(x)`.
- For a test output the answer may be JSON too. `[true, null]` is right here, and an error there; so
is a string with JSON's escapes.
- For an execution, `6, 'text'` is a tuple; there it is a 6 and the assertion's message. Further
lines are run there, and are not part of a literal here.
- For an execution, upstream does not count an answer that repeats the call, and divides by fewer.
Here it is an answer like any other.
- An expected value that cannot be read is an error of the data (`checker_error`), not of the model.

It reads whatever Python's `repr` writes for built-in values: numbers with a sign, complex ones, inf
and nan, strings, bytes, True, False and None, lists, tuples, sets, dicts, `set()` and
`frozenset(…)`; besides these `float('inf')`, `math.inf`, and the same of nan. An operation, a
comparison, a comprehension, any other name or call is not a literal.
"""

import ast
import re
from collections.abc import Iterable, Mapping

from harness.errors import DataError
from harness.excerpts import shorten
from harness.grading.rules.difference import difference, first_difference
from harness.grading.rules.json_values import read_json
from harness.grading.verdict import Difference, Grade, TestResult, Verdict
from harness.problem import Kind, Problem
from harness.python_source import parse_expression
from harness.text import writable

LONGEST_LITERAL = 1 << 16
"""Characters. Building sets and dicts may take time quadratic in the size of the text."""

JSON_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}
"""Constants that JSON spells differently from Python, numbers aside."""

_NOT_FINITE = re.compile(r"\s*[+-]?(inf|infinity|nan)\s*", re.IGNORECASE)
_WHAT: dict[type[ast.expr], str] = {
    **dict.fromkeys((ast.BinOp, ast.BoolOp, ast.UnaryOp), "an operation"),
    ast.Compare: "a comparison",
    ast.Call: "a call",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a function",
    ast.IfExp: "a condition",
    ast.Starred: "a * before it",
    ast.Attribute: "an attribute",
}
LONGEST_SHOWN = 1_500


class NoLiteralError(ValueError):
    """The text is not a literal; the message says what it contains."""


def read_literal(text: str, constants: Mapping[str, object] | None = None) -> object:
    """Return the value of a text that is one literal.

    Args:
        text: Python source, comments allowed.
        constants: names with a value, in addition to Python's.

    Raises:
        NoLiteralError: it is not a literal, is nested too deeply, or has more than
            `LONGEST_LITERAL` characters.
    """
    if len(text) > LONGEST_LITERAL:
        raise NoLiteralError(f"longer than {LONGEST_LITERAL:,} characters")
    try:
        return _value(_parse(text.strip()), constants or {})
    except RecursionError:
        raise NoLiteralError("nested too deeply") from None


def _parse(text: str) -> ast.expr:
    try:
        return parse_expression(text)
    except SyntaxError as error:
        raise NoLiteralError(f"not Python: {error.msg}") from None
    except (ValueError, MemoryError) as error:
        raise NoLiteralError(f"not Python: {type(error).__name__}") from None


def _value(node: ast.expr, constants: Mapping[str, object]) -> object:  # noqa: C901, PLR0911 - one case a line
    match node:
        case ast.Constant(value=bool() | int() | float() | complex() | str() | bytes() | None):
            return node.value
        case ast.List(elts=items):
            return [_value(item, constants) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item, constants) for item in items)
        case ast.Set(elts=items):
            return _set(items, constants)
        case ast.Dict(keys=keys, values=values):
            return _dict(keys, values, constants)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _number(_value(operand, constants))
            return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            return _complex(_value(left, constants), sign, _value(right, constants))
        case ast.Name(id=name) if name in constants:
            return constants[name]
        case (
            ast.Name(id="inf" | "nan" as name)
            | ast.Attribute(value=ast.Name(id="math"), attr="inf" | "nan" as name)
        ):
            return float(name)  # a new nan each time: list equality treats the same object as equal
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments, constants)
        case ast.Name(id=name):
            raise NoLiteralError(f"has the name {name[:60]!r}")
        case _:
            raise NoLiteralError(f"has {_WHAT.get(type(node), type(node).__name__)}")


def _number(value: object) -> int | float | complex:
    if isinstance(value, bool) or not isinstance(value, int | float | complex):
        raise NoLiteralError("has the sign of what is not a number")
    return value


def _complex(left: object, sign: ast.operator, right: object) -> complex:
    """Return a complex number from its real part, sign and imaginary part."""
    real = isinstance(left, int | float) and not isinstance(left, bool)
    if not (real and isinstance(right, complex)):
        raise NoLiteralError("has an operation")
    assert isinstance(left, int | float)
    try:
        return left + right if isinstance(sign, ast.Add) else left - right
    except OverflowError:
        raise NoLiteralError("has a complex number that is too large") from None


def _call(name: str, arguments: list[ast.expr], constants: Mapping[str, object]) -> object:
    """Evaluate one of the few calls that some values need in their notation."""
    match name, arguments:
        case "set", []:
            return set[object]()
        case "frozenset", []:
            return frozenset[object]()
        case "frozenset", [ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)]:
            return frozenset(_set(items, constants))
        case "float", [ast.Constant(value=str(word))] if _NOT_FINITE.fullmatch(word):
            return float(word)
        case _:
            raise NoLiteralError(f"has a call of {name[:60]!r}")


def _set(items: Iterable[ast.expr], constants: Mapping[str, object]) -> set[object]:
    try:
        return {_value(item, constants) for item in items}
    except TypeError:
        raise NoLiteralError("has a set of what cannot be in one") from None


def _dict(
    keys: Iterable[ast.expr | None], values: Iterable[ast.expr], constants: Mapping[str, object]
) -> object:
    made: dict[object, object] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            raise NoLiteralError("has a ** in a dict")
        name, item = _value(key, constants), _value(value, constants)
        try:
            made[name] = item
        except TypeError:
            raise NoLiteralError("has a dict with a key that cannot be one") from None
    return made


def judge_answer(problem: Problem, answer: str) -> Grade:
    """Grade the answer to a problem that asks for a value.

    Raises:
        DataError: the problem's row cannot be read.
    """
    return grade_answer(problem.kind, answer, _expected(problem))


def check_answerable(problem: Problem) -> None:
    """Check that answers to a problem can be graded, before paying a model.

    Raises:
        DataError: the problem's row, or its expected value, cannot be read.
    """
    try:
        read_expected(problem.kind, _expected(problem))
    except NoLiteralError as error:
        raise DataError(
            problem.id, "output", f"the expected value is not a literal: {error}"
        ) from None


def _expected(problem: Problem) -> str:
    match problem.tests.all():
        case (test,):
            return test.output
        case tests:
            raise DataError(problem.id, None, f"one test is wanted, not {len(tests)}")


def grade_answer(kind: Kind, answer: str, expected: str) -> Grade:
    """Judge the answer to a value question: one hidden test, passed or not.

    Neither text can make it raise or take long.

    Args:
        kind: one of the two kinds of value questions.
        answer: the model's answer, without any text around it.
        expected: the expected value, as the problem's test has it.
    """
    if not answer.strip():
        return Grade(verdict=Verdict.NO_SOLUTION, hidden_total=1)
    try:
        wanted = read_expected(kind, expected)
    except NoLiteralError as error:
        return _grade(Verdict.CHECKER_ERROR, error=f"the expected value cannot be read: {error}")
    try:
        values = read_answer(kind, answer)
    except NoLiteralError as error:
        return _grade(Verdict.WRONG_ANSWER, answer, error=f"the answer is not a literal: {error}")
    if any(_equal(wanted, value) for value in values):
        return _grade(Verdict.ACCEPTED)
    answer, expected = answer.strip(), expected.strip()
    where = difference("", expected, answer, first_difference(expected, answer))
    return _grade(Verdict.WRONG_ANSWER, answer, difference=where)


def read_answer(kind: Kind, text: str) -> tuple[object, ...]:
    """Return the values of an answer: as Python, and for a test output as JSON.

    Raises:
        NoLiteralError: it is not a literal.
    """
    if kind is Kind.CODE_EXECUTION:
        return (read_literal(text),)
    try:
        python = read_literal(text, JSON_WORDS)
    except NoLiteralError as error:
        try:
            return (_read_json(text),)
        except NoLiteralError:
            raise error from None
    try:
        return python, _read_json(text)
    except NoLiteralError:
        return (python,)


def read_expected(kind: Kind, text: str) -> object:
    """Return the expected value: JSON for a test output, else a Python literal.

    Raises:
        NoLiteralError: it cannot be read.
    """
    return read_literal(text) if kind is Kind.CODE_EXECUTION else _read_json(text)


def _read_json(text: str) -> object:
    if len(text) > LONGEST_LITERAL:
        raise NoLiteralError(f"longer than {LONGEST_LITERAL:,} characters")
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        raise NoLiteralError("not JSON") from None


def _equal(wanted: object, answer: object) -> bool:
    try:
        return bool(wanted == answer)
    except RecursionError:
        return False


def _grade(
    verdict: Verdict, answer: str = "", error: str = "", difference: Difference | None = None
) -> Grade:
    result = TestResult(
        index=0,
        public=False,
        verdict=verdict,
        cpu_s=0,
        wall_s=0,
        difference=difference,
        got=writable(shorten(answer, LONGEST_SHOWN)),
        error=writable(shorten(error, LONGEST_SHOWN)),
    )
    return Grade(verdict=verdict, tests=(result,), hidden_total=1)
