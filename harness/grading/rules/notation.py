"""Reading expected values and results: JSON, and the tags of `harness.sandbox.inside.values`."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import json
from typing import Any

SHORT_INTEGER = 4_000  # digits that `int` takes under the interpreter's own bound


def read_json(text: str) -> Any:
    """A JSON value, integers of any length among them.

    Raises:
        ValueError, RecursionError: the text is not one JSON value, or is nested too deeply.
    """
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """An integer, by halves: `int` is bounded, and quadratic in its digits."""
    if len(digits) < SHORT_INTEGER:
        return int(digits)
    if digits.startswith("-"):
        return -_integer(digits[1:])
    half = len(digits) // 2
    return _integer(digits[:-half]) * 10**half + _integer(digits[-half:])


class Other:
    """A result that no JSON value equals: a set, a generator, or something that is not data."""

    def __init__(self, tagged: Any) -> None:
        self.tagged = tagged


def unfold(tagged: Any, *, tuples: bool) -> Any:
    """The value under one tag of the sandbox's notation; its items stay folded.

    Args:
        tagged: a linked list or tree is the list of its values.
        tuples: whether a tuple is taken for a list. No other sequence or iterable is.

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
    """Whether these are the items of a mapping from distinct strings, as of a JSON object."""
    keys: set[str] = set()
    for pair in pairs:
        match pair:
            case [str(key), _]:
                keys.add(key)
            case _:
                return False
    return len(keys) == len(pairs)


def describe_expected(wanted: Any) -> str:
    """An expected value for a person to read."""
    return _describe_integer(wanted) if type(wanted) is int else json.dumps(wanted)


def _describe_integer(number: int) -> str:
    return str(number) if number.bit_length() < SHORT_INTEGER else hex(number)


def describe_value(tagged: Any) -> str:  # noqa: PLR0911 - one case a line
    """A result for a person to read, much as Python writes it.

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
