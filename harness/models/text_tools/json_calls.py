"""Parser of tool calls written as JSON, tolerant of common mistakes.

It accepts several calls in a row or in a list, `parameters` for `arguments`, real newlines within
strings, an extra comma, and a missing bracket at the end. A call that is cut off keeps its broken
arguments, so that the code that runs it can report them.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from harness.models.protocol import ToolSpec

MOST_CALLS = 128  # in one text; later ones stay text
UNNAMED = "unnamed"

Known = Mapping[str, ToolSpec]
"""The tools that may be called, by name."""


class ParsedCall(NamedTuple):
    """Call as it was written; `arguments` is JSON text, broken or not."""

    name: str
    arguments: str


class Block(NamedTuple):
    """Part of a text that may hold calls: start, end, and the calls in it."""

    start: int
    end: int
    calls: Sequence[ParsedCall]


ARGUMENT_KEYS = ("arguments", "parameters")
BROKEN = "{"  # stands for missing arguments

_BETWEEN = re.compile(r"[\s,;]*")
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*+[}\]])', re.DOTALL)
_NAME = re.compile(r'"name"\s*:\s*"([^"\\\n]{1,100})"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*')
_DECODER = json.JSONDecoder(strict=False)  # real newlines are allowed within strings


class Decoded(NamedTuple):
    """JSON values at the start of a text.

    Attributes:
        end: where they end.
        whole: whether none of them is broken.
    """

    values: list[Any]
    end: int
    whole: bool


def calls_in_json(region: str, known: Known) -> list[ParsedCall]:
    """Return the calls of a block of JSON; none where it is something else."""
    return calls_at_start(region, known)[0]


def calls_at_start(region: str, known: Known) -> tuple[list[ParsedCall], int]:
    """Return the calls in the JSON at the start of a text, and where it ends."""
    values, end, whole = decoded(region)
    calls = _calls_of(values, known)
    if whole or (values and not calls):
        return calls, end
    rest = _mended(region[end:])
    more, _, mended = decoded(rest)
    if mended and more:
        return calls + _calls_of(more, known), len(region)
    broken = _broken(rest, known)
    return [*calls, *([broken] if broken else ())], len(region)


def arguments_at_start(region: str) -> tuple[str, int]:
    """Return the arguments in the JSON at the start of a text, and where they end.

    Broken ones are all of the text, as it was written.
    """
    begin = len(region) - len(region.lstrip())
    for text in (region, _mended(region)):
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        return text_of(value), end if text is region else len(region)
    return region.strip() or BROKEN, len(region)


def decoded(region: str) -> Decoded:
    """Return the JSON values at the start of a text."""
    values: list[Any] = []
    at = 0
    while len(values) <= MOST_CALLS:
        between = _BETWEEN.match(region, at)
        at = at if between is None else between.end()
        if region[at : at + 1] not in {"{", "["}:
            break
        try:
            value, at = _DECODER.raw_decode(region, at)
        except (ValueError, RecursionError):
            return Decoded(values, at, whole=False)
        values.append(value)
    return Decoded(values, at, whole=True)


def _mended(text: str) -> str:
    """Remove commas before a closing bracket, except in strings."""
    return _STRING_OR_COMMA.sub(lambda found: found[1] or "", text)


def _broken(text: str, known: Known) -> ParsedCall | None:
    """Return a call whose end is missing or wrong; its arguments may still be complete."""
    name, begin = name_in(text), _ARGUMENTS.search(text)
    if name is None or (begin is None and name not in known):
        return None
    if begin is None:
        return ParsedCall(name, BROKEN)
    written = text[begin.end() :]
    try:
        value, _ = _DECODER.raw_decode(written)
    except (ValueError, RecursionError):
        return ParsedCall(name, written if written.strip() else BROKEN)
    return ParsedCall(name, text_of(value))


def name_in(text: str) -> str | None:
    """Return the first name in a text that is JSON, possibly broken."""
    found = _NAME.search(text)
    return found[1] if found else None


def _calls_of(values: Iterable[Any], known: Known) -> list[ParsedCall]:
    """Return the calls that some values describe; none when one of them is something else."""
    calls: list[ParsedCall] = []
    for value in values:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        found = [_call_of(item, known) for item in items]
        if None in found:
            return []
        calls += [call for call in found if call is not None]
    return calls


def _call_of(value: Any, known: Known) -> ParsedCall | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get("function"), dict):  # in the providers' format
        fields = cast("dict[str, Any]", fields["function"])
    name = fields.get("name")
    key = next((key for key in ARGUMENT_KEYS if key in fields), None)
    if not isinstance(name, str) or not name or (key is None and name not in known):
        return None
    arguments = None if key is None else fields[key]
    return ParsedCall(name, "{}" if arguments is None else text_of(arguments))


def text_of(arguments: Any) -> str:
    """Return arguments as JSON text; a string is returned unchanged."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
