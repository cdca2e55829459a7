"""Decoding of a function's result from the sandbox's notation."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not data; only the name of its type is known."""

    name: str


def decode(result: bytes) -> Any:
    """Decode a function's result, see `harness.sandbox.inside.values`.

    Tuples and other sequences, linked lists and trees become lists; a cyclic linked list is
    Opaque.

    Raises:
        ValueError: the program wrote a malformed result itself.
    """
    try:
        return _value(json.loads(result))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"no result: {error}") from error


def _value(tagged: Any) -> Any:  # noqa: PLR0911 - one case a line
    match tagged:
        case list():
            return [_value(item) for item in tagged]
        case {"i": str(digits)}:
            return int(digits, 16)
        case {"d": list(pairs)}:
            return {_fixed(_value(key)): _value(value) for key, value in pairs}
        case {"s": list(items)}:
            return {_fixed(_value(item)) for item in items}
        case {"u": list(items)} | {"q": [str(), *items]} | {"l": list(items)} | {"t": list(items)}:
            return [_value(item) for item in items]
        case {"c": list()}:
            return Opaque("cycle")
        case {"o": str(name)}:
            return Opaque(name)
        case dict():
            raise ValueError("no result: an unknown tag")
        case _:
            return tagged


def _fixed(value: Any) -> Any:
    """Convert a value to a hashable one: lists were tuples before, sets were frozen."""
    if isinstance(value, list):
        return tuple(map(_fixed, value))
    return frozenset(value) if isinstance(value, set) else value
