"""Reader of the literals in a data set's Python source: parsed, never executed.

It reads numbers with a sign, strings, booleans and None (also as JSON spells them), inf and nan,
lists, tuples (as lists), dicts with string keys, sequences repeated or added, and LeetCode's nodes,
`list_node([…])` and `tree_node([…])`.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from harness import python_source
from harness.problem import Codec

MAX_CHARACTERS = 2**21
"""Longest source that is parsed at once. The longest assertion known has 42,000."""

MAX_ITEMS = 2**22
"""Most items and characters that repetitions and sums of literals may make."""

_MAX_INTEGER_BITS = 2**13  # accepted by any JSON writer
_NAMES = {
    "true": True,
    "false": False,
    "null": None,
    "inf": float("inf"),
    "Infinity": float("inf"),
    "nan": float("nan"),
    "NaN": float("nan"),
}
_NODES = {"list_node": Codec.LINKED_LIST, "tree_node": Codec.TREE}


class UnreadableError(ValueError):
    """Python that is not in the subset; the message names the element but not its place."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Linked list or tree, as the list of its values."""

    codec: Codec
    values: list[object]


class Call(NamedTuple):
    """Arguments of a call."""

    positional: tuple[object, ...]
    named: dict[str, object]


def read_call(arguments: str) -> Call:
    """Parse the arguments between a call's parentheses.

    Raises:
        UnreadableError: they are not literals, or too long.
    """
    match parse(f"f({arguments})").body:
        case [ast.Expr(ast.Call(func=ast.Name("f")) as call)]:
            pass
        case _:
            raise UnreadableError("not the arguments of a call")
    return call_of(call, ItemBudget())


def parse(source: str) -> ast.Module:
    """Return the syntax tree of some source.

    Raises:
        UnreadableError: it is not Python, or too long.
    """
    if len(source) > MAX_CHARACTERS:
        raise UnreadableError(f"longer than {MAX_CHARACTERS} characters")
    try:
        return python_source.parse(source)
    except python_source.UNREADABLE as error:
        what = error.msg if isinstance(error, SyntaxError) else "too large or nested too deeply"
        raise UnreadableError(f"not Python: {what}") from None


class ItemBudget:
    """Remaining items that repetitions and sums may make."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS

    def spend(self, size: int) -> None:
        """Count some items; raises UnreadableError when there are too many."""
        self._left -= size
        if self._left < 0:
            raise UnreadableError(f"makes more than {MAX_ITEMS} items")


def call_of(call: ast.Call, budget: ItemBudget) -> Call:
    """Return the arguments of a call.

    Raises:
        UnreadableError: they are not literals, or too large.
    """
    positional = tuple(value_of(argument, budget) for argument in call.args)
    named: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise UnreadableError("has ** arguments")
        if keyword.arg in named:
            raise UnreadableError(f"gives {keyword.arg!r} twice")
        named[keyword.arg] = value_of(keyword.value, budget)
    return Call(positional, named)


def value_of(node: ast.expr, budget: ItemBudget) -> object:
    """Return the value of a literal.

    Raises:
        UnreadableError: it is not in the subset, would be too large or is nested too deeply.
    """
    try:
        return _value(node, budget)
    except RecursionError:
        raise UnreadableError("nested too deeply") from None


def _value(node: ast.expr, budget: ItemBudget) -> object:  # noqa: C901, PLR0911 - one case a line
    match node:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, budget) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, budget)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(operand, budget)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Attribute(value=ast.Name("math"), attr="inf" | "nan" as name):
            return _NAMES[name]
        case ast.Call(func=ast.Name("float"), args=[ast.Constant(value=str(word))], keywords=[]):
            return _float(word)
        case ast.Call(func=ast.Name(name), args=[values], keywords=[]) if name in _NODES:
            return _node(_NODES[name], _value(values, budget))
        case ast.Dict(keys=keys, values=values):
            return _dict(keys, values, budget)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _repeat(_value(left, budget), _value(right, budget), budget)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _add(_value(left, budget), _value(right, budget), budget)
        case _:
            raise UnreadableError(f"has a {_kind(node)}, which is not a literal")


def _kind(node: ast.expr) -> str:
    return f"name {node.id[:60]!r}" if isinstance(node, ast.Name) else type(node).__name__


def _constant(value: object) -> object:
    if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        raise UnreadableError("has an integer that is too long")
    if isinstance(value, str | int | float | None):
        return value
    raise UnreadableError(f"has a literal of type {type(value).__name__}")


def _number(node: ast.expr, budget: ItemBudget) -> int | float:
    value = _value(node, budget)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError("has the sign of what is not a number")
    return value


def _float(word: str) -> float:
    name = word.strip().lower()
    if name.lstrip("+-") not in {"inf", "infinity", "nan"}:
        raise UnreadableError(f"has float({word[:60]!r})")
    return float(name)


def _node(codec: Codec, values: object) -> Nodes:
    match values:
        case None:
            return Nodes(codec, [])
        case list():
            return Nodes(codec, cast("list[object]", values))
        case _:
            raise UnreadableError(f"has a {codec.replace('_', ' ')} of what is not a list")


def _dict(
    keys: Sequence[ast.expr | None], values: Sequence[ast.expr], budget: ItemBudget
) -> object:
    made: dict[str, object] = {}
    for key, value in zip(keys, values, strict=True):
        name = None if key is None else _value(key, budget)
        if not isinstance(name, str):
            raise UnreadableError("has a dict whose keys are not all strings")
        made[name] = _value(value, budget)
    return made


def _repeat(left: object, right: object, budget: ItemBudget) -> object:
    sequence, times = (right, left) if isinstance(left, int) else (left, right)
    if type(times) is not int:
        raise UnreadableError("multiplies by what is not a whole number")
    budget.spend(_size(sequence) * max(1, times))
    if isinstance(sequence, str):
        return sequence * times
    if isinstance(sequence, list):
        return cast("list[object]", sequence) * times
    raise UnreadableError("multiplies what is neither a string nor a list")


def _add(left: object, right: object, budget: ItemBudget) -> object:
    budget.spend(_size(left) + _size(right))
    match left, right:
        case (str(), str()):
            return left + right
        case (list(), list()):
            return cast("list[object]", left) + cast("list[object]", right)
        case _:
            raise UnreadableError("adds what are not two strings or two lists")


def _size(value: object) -> int:
    """Return the number of items and characters, including those inside."""
    match value:
        case str():
            return len(value) + 1
        case list():
            return 1 + sum(map(_size, cast("list[object]", value)))
        case dict():
            return 1 + sum(map(_size, cast("dict[str, object]", value).values()))
        case Nodes():
            return _size(value.values)
        case _:
            return 1
