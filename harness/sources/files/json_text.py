"""JSON texts taken apart without being understood: the raw text of each element or member.

Some data sets hold integers of more digits than `int` takes under the interpreter's own bound
(4,300). Such a bound is a process's protection and is not to be lifted for everybody; so a value
that only passes through is cut out of its text and handed on as it stands. Nested values are walked
by Python's own scanner, in time linear in the text, with every number left a string.
"""

import json
import re

MOST_OUTSIDE = 1 << 20
"""Bytes of a text of tests that are outside of its strings; there are about 40 a test."""
MOST_VALUES = 4 << 20
"""Values in a test's input or output."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def check_mostly_strings(text: bytes) -> None:
    """Refuse a text that a parser would make far more of than its size: `[{},{},{}...]`.

    A string takes about the memory of its text. What is outside of strings takes up to 24 times its
    own: 45 MB of empty objects, which compress to 58 KB, take 1.2 GB.

    Raises:
        ValueError: more than `MOST_OUTSIDE` bytes of it are outside of strings.
    """
    outside = len(text)
    if outside <= MOST_OUTSIDE:
        return
    end = outside = 0
    for found in _STRING.finditer(text):
        outside += found.start() - end
        end = found.end()
        if outside > MOST_OUTSIDE:
            break
    if outside + (len(text) - end) > MOST_OUTSIDE:
        raise ValueError(f"more than {MOST_OUTSIDE:,} bytes of it are outside of strings")


def has_too_many_values(text: str) -> bool:
    """Whether a parser may make more than `MOST_VALUES` values of a text."""
    return len(text) > MOST_VALUES and sum(map(text.count, ",[{")) > MOST_VALUES


def elements(text: str) -> list[str]:
    """The raw text of each element of a JSON list.

    Raises:
        ValueError: the text is not one JSON list, or is nested too deeply to be walked.
    """
    at = _open(text, "[", "a list")
    found: list[str] = []
    if text[at : at + 1] == "]":
        _finish(text, at + 1)
        return found
    while True:
        end = _end_of_value(text, at)
        found.append(text[at:end])
        at, more = _after_item(text, end, "]")
        if not more:
            return found


def members(text: str) -> dict[str, str]:
    """The raw text of each member of a JSON object, by its key; of equal keys the last counts.

    Raises:
        ValueError: the text is not one JSON object, or is nested too deeply to be walked.
    """
    at = _open(text, "{", "an object")
    found: dict[str, str] = {}
    if text[at : at + 1] == "}":
        _finish(text, at + 1)
        return found
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(f"not JSON: a key in quotes is wanted at character {at}")
        end = _end_of_value(text, at)
        key = string(text[at:end])
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise ValueError(f"not JSON: a colon is wanted at character {colon}")
        at = _skip(text, colon + 1)
        end = _end_of_value(text, at)
        found[key] = text[at:end]
        at, more = _after_item(text, end, "}")
        if not more:
            return found


def string(text: str) -> str:
    """The string that a raw text stands for.

    Raises:
        ValueError: it stands for something else, or has half of a surrogate pair, which no text of
            a file or a program may have.
    """
    value: object = _whole(text)
    if not isinstance(value, str) or text[:1] != '"':  # numbers are strings to the decoder
        raise ValueError(f"not a string but {text!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair at character {error.start}") from None
    return value


def one_line(text: str) -> str:
    """A raw text without line ends; in JSON they stand only where a space may."""
    return text.replace("\r", " ").replace("\n", " ")


def _whole(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(_complaint(error)) from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _open(text: str, bracket: str, what: str) -> int:
    """The position of the first thing after the opening bracket."""
    at = _skip(text, 0)
    if text[at : at + 1] != bracket:
        raise ValueError(f"not {what}")
    return _skip(text, at + 1)


def _after_item(text: str, end: int, closing: str) -> tuple[int, bool]:
    """Where the next item starts, and whether there is one."""
    at = _skip(text, end)
    mark = text[at : at + 1]
    if mark == closing:
        _finish(text, at + 1)
        return at, False
    if mark != ",":
        raise ValueError(f"not JSON: a comma or {closing} is wanted at character {at}")
    return _skip(text, at + 1), True


def _finish(text: str, at: int) -> None:
    at = _skip(text, at)
    if at != len(text):
        raise ValueError(f"not JSON: something follows its end at character {at}")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _end_of_value(text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except json.JSONDecodeError as error:
        raise ValueError(_complaint(error)) from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _complaint(error: json.JSONDecodeError) -> str:
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
