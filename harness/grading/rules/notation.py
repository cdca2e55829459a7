"""Reading expected values and results: JSON, and the tags of `harness.sandbox.inside.values`."""

# This module handles values of unknown type.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import json
from typing import Any

SHORT_INTEGER = 4_000  # digits that `int` accepts under the interpreter's own limit


def read_json(text: str) -> Any:
    """Read a JSON value, including integers of any length.

    Raises:
        ValueError, RecursionError: the text is not one JSON value, or is nested too deeply.
    """
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """Read an integer by halves: `int` has a limit, and takes quadratic time."""
    if len(digits) < SHORT_INTEGER:
        return int(digits)
    if digits.startswith("-"):
        return -_integer(digits[1:])
    half = len(digits) // 2
    return _integer(digits[:-half]) * 10**half + _integer(digits[-half:])


class Other:
    """Result that no JSON value equals: a set, a generator, or something that is not data."""

    def __init__(self, tagged: Any) -> None:
        self.tagged = tagged


def unfold(tagged: Any, *, tuples: bool) -> Any:
    """Return the value under one tag of the sandbox's notation; its items stay tagged.

    Args:
        tagged: tagged value; a linked list or tree becomes the list of its values.
        tuples: whether a tuple counts as a list. No other sequence or iterable does.

    Raises:
        ValueError: a solution wrote the result itself.
    """
    match tagged:
        case {"i": str(digits)}:
            return int(digits, 16)
        case {"u": list(values)} if tuples:
            return values
        case {"l": list(values)} | {"t": list(values)}:
            return values
        case {"d": list(pairs)} if _are_fields(pairs):
            return dict(pairs)
        case dict():
            return Other(tagged)
        case _:
            return tagged


def _are_fields(pairs: list[Any]) -> bool:
    """Return whether these are the items of a mapping from distinct strings, as in JSON."""
    keys: set[str] = set()
    for pair in pairs:
        match pair:
            case [str(key), _]:
                keys.add(key)
            case _:
                return False
    return len(keys) == len(pairs)


def describe_expected(wanted: Any) -> str:
    """Return an expected value as text for a person."""
    return _describe_integer(wanted) if type(wanted) is int else json.dumps(wanted)


def _describe_integer(number: int) -> str:
    return str(number) if number.bit_length() < SHORT_INTEGER else hex(number)


def describe_value(tagged: Any) -> str:  # noqa: PLR0911 - one case a line
    """Return a result as text for a person, much as Python writes it.

    Raises:
        ValueError, TypeError, RecursionError: a solution wrote the result itself.
    """
    match tagged:
        case {"i": str(digits)}:
            return _describe_integer(int(digits, 16))
        case {"l": values} | {"t": values}:
            return describe_value(values)
        case {"c": [int(back), *values]}:
            return f"{describe_value(values)}, and back to node {back + 1}"
        case {"u": list(values)}:
            comma = "," * (len(values) == 1)
            return "(" + ", ".join(map(describe_value, values)) + comma + ")"
        case {"q": [str(name), *values]}:
            return f"{name}({describe_value(values)})"
        case {"s": list(values)}:
            return "{" + ", ".join(map(describe_value, values)) + "}"
        case {"d": list(pairs)}:
            items = (f"{describe_value(k)}: {describe_value(v)}" for k, v in pairs)
            return "{" + ", ".join(items) + "}"
        case {"o": str(name)}:
            return f"<{name} object>"
        case list():
            return "[" + ", ".join(map(describe_value, tagged)) + "]"
        case _:
            return json.dumps(tagged)
