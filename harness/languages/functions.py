"""Functions that solutions in a compiled language define: types, and which values they hold."""

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from harness.excerpts import shorten

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

Scalar = Literal["int", "long", "double", "string", "bool", "char"]
BITS = {"int": 31, "long": 63}
MOST_DEPTH = 8
_MOST_SHOWN = 60  # characters of a value in a message


class NoFunctionError(Exception):
    """A function has no form in a language; the message says why."""


class ValueType(NamedTuple):
    """Type of an argument or result.

    Attributes:
        scalar: type of a value without items: `int` has 32 bits, `long` 64.
        depth: number of lists around it.
    """

    scalar: Scalar
    depth: int = 0


class Function(NamedTuple):
    """A function that a solution defines.

    Attributes:
        name: its name.
        parameters: name and type of each parameter.
        result: type of its result; None if it changes its first argument in place.
        owner: name of the class whose method it is; empty for a function that stands alone.
    """

    name: str
    parameters: tuple[tuple[str, ValueType], ...]
    result: ValueType | None
    owner: str = "Solution"

    def fault(self, given: str, expected: str, *, compared: bool) -> str:
        """Return why no solution with these types passes a test; empty if one may.

        Args:
            given: the arguments, one JSON value per line.
            expected: the expected result as JSON.
            compared: whether a rule compares results with it.
        """
        try:
            values = [json.loads(line) for line in given.split("\n") if line.strip()]
            wanted = json.loads(expected) if compared else None
        except (ValueError, RecursionError):
            return "its input or output is not JSON"
        if len(values) != len(self.parameters):
            return f"it has {len(values)} arguments, and {self.name} takes {len(self.parameters)}"
        for value, (name, kind) in zip(values, self.parameters, strict=True):
            if not _holds(kind, value, kind.depth):
                shown = shorten(json.dumps(_unheld(kind, value, kind.depth)), _MOST_SHOWN)
                return f"argument {name}: {shown} is not of the type that the starter code says"
        result = self.result or self.parameters[0][1]
        if compared and not _may_equal(result, wanted, result.depth):
            shown = shorten(json.dumps(wanted), _MOST_SHOWN)
            return f"the expected result {shown} is not of the type that the starter code says"
        return ""


def _holds(  # noqa: PLR0911 - one case a line
    kind: ValueType, value: Any, depth: int
) -> bool:
    """Return whether a type, below some of its lists, holds a value exactly."""
    if depth:
        if type(value) is not list:
            return False
        if depth == 1 and kind.scalar in BITS:
            return not value or (set(map(type, value)) == {int} and _have_bits(kind, value))
        return all(_holds(kind, item, depth - 1) for item in value)
    match kind.scalar:
        case "int" | "long":
            return type(value) is int and _have_bits(kind, [value])
        case "double":
            return type(value) in {int, float} and _is_finite(value)
        case "bool":
            return type(value) is bool
        case "string":
            return type(value) is str
        case "char":
            return type(value) is str and len(value) == 1 and value.isascii()


def _unheld(kind: ValueType, value: Any, depth: int) -> Any:
    """Return the first part of a value that a type does not hold; the whole for another shape."""
    while depth and type(value) is list:
        depth -= 1
        value = next(item for item in value if not _holds(kind, item, depth))
    return value


def _may_equal(kind: ValueType, value: Any, depth: int) -> bool:
    """Return whether a value of a type may equal an expected one; numbers compare as in Python."""
    if depth:
        return type(value) is list and all(_may_equal(kind, item, depth - 1) for item in value)
    if isinstance(value, bool | int | float):
        if kind.scalar == "bool":
            return value in {0, 1}
        if kind.scalar == "double":
            return True
        whole = _is_finite(value) and value == int(value)
        return kind.scalar in BITS and whole and _have_bits(kind, [int(value)])
    single = len(value) == 1 if isinstance(value, str) else False
    return isinstance(value, str) and (
        kind.scalar == "string" or (kind.scalar == "char" and single)
    )


def _have_bits(kind: ValueType, values: Sequence[int]) -> bool:
    end = 1 << BITS[kind.scalar]
    return -end <= min(values) and max(values) < end


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False
