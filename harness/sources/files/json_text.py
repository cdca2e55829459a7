"""Split JSON texts into the raw text of each element or member.

Some data sets hold integers of more digits than `int` accepts under the interpreter's limit
(4,300). That limit protects the process and must not be lifted globally, so a value that is only
passed on keeps its text. Nested values are scanned by Python's own scanner, in time linear in the
text, with every number left a string.
"""

import json
import re

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def elements(text: str) -> list[str]:
    """Return the raw text of each element of a JSON list.

    Raises:
        ValueError: the text is not one JSON list, or is nested too deeply.
    """
    parts: list[str] = []
    at = _open(text, "[", "a list")
    while at is not None:
        end = _value(text, at)[1]
        parts.append(text[at:end])
        at = _next(text, end, "]")
    return parts


def members(text: str) -> dict[str, str]:
    """Return the raw text of each member of a JSON object by key; the last counts.

    Raises:
        ValueError: the text is not one JSON object, or is nested too deeply.
    """
    keys: dict[str, str] = {}
    at = _open(text, "{", "an object")
    while at is not None:
        if text[at : at + 1] != '"':
            raise ValueError(f"not JSON: a key in quotes is wanted at character {at}")
        end = _value(text, at)[1]
        key = string(text[at:end])
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise ValueError(f"not JSON: a colon is wanted at character {colon}")
        at = _skip(text, colon + 1)
        end = _value(text, at)[1]
        keys[key] = text[at:end]
        at = _next(text, end, "}")
    return keys


def string(text: str) -> str:
    """Return the string of a raw JSON text.

    Raises:
        ValueError: it is not a string, or has half of a surrogate pair, which no text of a file or
            a program may have.
    """
    value, end = _value(text, _skip(text, 0))
    _finish(text, end)
    if not isinstance(value, str) or text[:1] != '"':  # the decoder returns numbers as strings
        raise ValueError(f"not a string but {text!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair at character {error.start}") from None
    return value


def one_line(text: str) -> str:
    """Replace line ends in a raw JSON text, where they are only white space."""
    return text.replace("\r", " ").replace("\n", " ")


def _value(text: str, at: int) -> tuple[object, int]:
    """Return the value at a position, numbers as text, and its end."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        what = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
        raise ValueError(f"not JSON: {what}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _open(text: str, bracket: str, what: str) -> int | None:
    """Return the position of the first item after the opening bracket; None if there is none."""
    at = _skip(text, 0)
    if text[at : at + 1] != bracket:
        raise ValueError(f"not {what}")
    at = _skip(text, at + 1)
    if text[at : at + 1] != {"[": "]", "{": "}"}[bracket]:
        return at
    return _finish(text, at + 1)


def _next(text: str, end: int, closing: str) -> int | None:
    """Return where the item after one that has ended starts; None if there is none."""
    at = _skip(text, end)
    mark = text[at : at + 1]
    if mark == closing:
        return _finish(text, at + 1)
    if mark != ",":
        raise ValueError(f"not JSON: a comma or {closing} is wanted at character {at}")
    return _skip(text, at + 1)


def _finish(text: str, at: int) -> None:
    at = _skip(text, at)
    if at != len(text):
        raise ValueError(f"not JSON: something follows its end at character {at}")


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()
