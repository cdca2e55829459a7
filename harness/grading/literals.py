"""Reader of Python literals from untrusted text: parsed, never executed.

It reads whatever Python's `repr` writes for built-in values: numbers with a sign, complex ones, inf
and nan, strings, bytes, True, False and None, lists, tuples, sets, dicts, `set()` and
`frozenset(…)`; besides these `float('inf')`, `math.inf`, and the same of nan. An operation, a
comparison, a comprehension, any other name or call is no literal.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from harness.python_source import parse_expression

LONGEST_LITERAL = 1 << 16
"""Characters. Building sets and dicts may take time quadratic in the size of the text."""

JSON_WORDS: Mapping[str, object] = MappingProxyType({"true": True, "false": False, "null": None})
"""Constants that JSON spells differently from Python, numbers aside."""

_NOT_FINITE = re.compile(r"\s*[+-]?(inf|infinity|nan)\s*", re.IGNORECASE)
_WHAT: dict[type[ast.expr], str] = {
    ast.BinOp: "an operation",
    ast.BoolOp: "an operation",
    ast.UnaryOp: "an operation",
    ast.Compare: "a comparison",
    ast.Call: "a call",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a function",
    ast.IfExp: "a condition",
    ast.Starred: "a * before it",
    ast.Attribute: "an attribute",
}


class NoLiteralError(ValueError):
    """The text is not a literal; the message says what it contains."""


def read_literal(text: str, words: Mapping[str, object] = MappingProxyType({})) -> object:
    """Return the value of a text that is one literal.

    Args:
        text: Python source, comments allowed.
        words: names with a value, in addition to Python's.

    Raises:
        NoLiteralError: it is no literal, is nested too deeply, or has more than `LONGEST_LITERAL`
            characters.
    """
    if len(text) > LONGEST_LITERAL:
        raise NoLiteralError(f"longer than {LONGEST_LITERAL:,} characters")
    try:
        return _value(_parse(text.strip()), words)
    except RecursionError:
        raise NoLiteralError("nested too deeply") from None


def _parse(text: str) -> ast.expr:
    try:
        return parse_expression(text)
    except SyntaxError as error:
        raise NoLiteralError(f"not Python: {error.msg}") from None
    except (ValueError, MemoryError) as error:
        raise NoLiteralError(f"not Python: {type(error).__name__}") from None


def _value(node: ast.expr, words: Mapping[str, object]) -> object:  # noqa: C901, PLR0911 - one case a line
    match node:
        case ast.Constant(value=bool() | int() | float() | complex() | str() | bytes() | None):
            return node.value
        case ast.List(elts=items):
            return [_value(item, words) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item, words) for item in items)
        case ast.Set(elts=items):
            return _set(items, words)
        case ast.Dict(keys=keys, values=values):
            return _dict(keys, values, words)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _number(_value(operand, words))
            return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            return _complex(_value(left, words), sign, _value(right, words))
        case ast.Name(id=name) if name in words:
            return words[name]
        case (
            ast.Name(id="inf" | "nan" as name)
            | ast.Attribute(value=ast.Name(id="math"), attr="inf" | "nan" as name)
        ):
            return float(name)  # a new nan each time: list equality treats the same object as equal
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments, words)
        case ast.Name(id=name):
            raise NoLiteralError(f"has the name {name[:60]!r}")
        case _:
            raise NoLiteralError(f"has {_WHAT.get(type(node), type(node).__name__)}")


def _number(value: object) -> int | float | complex:
    if isinstance(value, bool) or not isinstance(value, int | float | complex):
        raise NoLiteralError("has the sign of what is no number")
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


def _call(name: str, arguments: list[ast.expr], words: Mapping[str, object]) -> object:
    """Evaluate one of the few calls that some values need in their notation."""
    match name, arguments:
        case "set", []:
            return set[object]()
        case "frozenset", []:
            return frozenset[object]()
        case "frozenset", [ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)]:
            return frozenset(_set(items, words))
        case "float", [ast.Constant(value=str(word))] if _NOT_FINITE.fullmatch(word):
            return float(word)
        case _:
            raise NoLiteralError(f"has a call of {name[:60]!r}")


def _set(items: Iterable[ast.expr], words: Mapping[str, object]) -> set[object]:
    try:
        return {_value(item, words) for item in items}
    except TypeError:
        raise NoLiteralError("has a set of what cannot be in one") from None


def _dict(
    keys: Iterable[ast.expr | None], values: Iterable[ast.expr], words: Mapping[str, object]
) -> object:
    made: dict[object, object] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            raise NoLiteralError("has a ** in a dict")
        name, said = _value(key, words), _value(value, words)
        try:
            made[name] = said
        except TypeError:
            raise NoLiteralError("has a dict with a key that cannot be one") from None
    return made
