"""Parsers of tool calls written as JSON or between tags, tolerant of common mistakes.

The parser of JSON accepts several calls in a row or in a list, `parameters` for `arguments`, real
newlines within strings, an extra comma, and a missing bracket at the end. A call that is cut off
keeps its broken arguments, so that the code that runs it can report them.

`<tool_call>…</tool_call>` holds JSON, functions, or a name and its arguments in GLM's format;
`<function=name>…</function>` holds JSON, or parameters in tags.

GLM's format is `<tool_call>name`, then for each argument `<arg_key>key</arg_key>` and
`<arg_value>value</arg_value>`, with newlines between them (GLM 4.5) or without (4.7). The vLLM
parser of the same format is `glm4_moe_tool_parser.py` in https://github.com/vllm-project/vllm.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


_TAG = re.compile(r"<(/?)(?:tool_call|function_call)>")
_FUNCTION = re.compile(r"<function=([\w.-]{1,100})>")
_FUNCTION_END = re.compile(r"<(/function>|function=|/tool_call>)")
_PARAMETER = re.compile(
    r"<parameter=([\w.-]{1,100})>(.*?)(</parameter>|(?=<parameter=)|\Z)", re.DOTALL
)
_PLAIN_NAME = re.compile(r"([\w.-]{1,100})\s*+(?=<arg_key>|\Z)")
_ARGUMENT = re.compile(
    r"<arg_key>([^<]{1,100})</arg_key>\s*+<arg_value>(.*?)(</arg_value>|(?=<arg_key>)|\Z)\s*+",
    re.DOTALL,
)


def tagged(text: str, found: re.Match[str], known: Known) -> Block:
    """Read `<tool_call>…`: up to its end, the next such tag, or the end of the text."""
    start = found.end()
    next_tag = _TAG.search(text, start)
    stop = len(text) if next_tag is None else next_tag.start()
    closed = next_tag is not None and bool(next_tag[1])
    end = next_tag.end() if next_tag is not None and closed else stop
    body = without_fence(text[start:stop].strip())
    if _FUNCTION.match(body):
        calls = list(_functions(body, known, closed=next_tag is not None))
        return Block(found.start(), end, calls)
    named = _PLAIN_NAME.match(body)
    if named is not None and (named.end() < len(body) or (closed and named[1] in known)):
        call = _arguments(named[1], body[named.end() :], known, closed=next_tag is not None)
        return Block(found.start(), end, [call])
    if body[:1] not in {"{", "["}:  # the text only mentions the tag
        return Block(found.start(), start, ())
    calls = calls_in_json(body, known) or [ParsedCall(name_in(body) or UNNAMED, body)]
    return Block(found.start(), end, calls)


def without_fence(body: str) -> str:
    """Return the content of a fence, if the text is one."""
    if not body.startswith("```"):
        return body
    inside = body.partition("\n")[2]
    return inside.removesuffix("```").strip()


def function(text: str, found: re.Match[str], known: Known) -> Block:
    """Read `<function=name>…` outside of other tags."""
    end = _FUNCTION_END.search(text, found.end())
    stop = len(text) if end is None else end.start()
    past = end.end() if end is not None and end[1] == "/function>" else stop
    call = _parameters(found["function"], text[found.end() : stop], known, closed=end is not None)
    return Block(found.start(), past, [call])


def _functions(body: str, known: Known, *, closed: bool) -> Iterator[ParsedCall]:
    """Yield the functions within a tag; only the last may lack its end."""
    starts = list(_FUNCTION.finditer(body))
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        inside, ended, _ = body[start.end() : after.start() if after else len(body)].partition(
            "</function>"
        )
        yield _parameters(start[1], inside, known, closed=bool(ended) or closed)


def _parameters(name: str, body: str, known: Known, *, closed: bool) -> ParsedCall:
    """Read a function's arguments: parameters in tags, whose text is their value, or JSON."""
    if "<parameter=" not in body:
        text = body.strip()
        values, _, whole = decoded(text)
        sound = whole and len(values) == 1
        return ParsedCall(name, text_of(values[0]) if sound else text or "{}")
    schemas = _schemas(name, known)
    arguments: dict[str, Any] = {}
    for found in _PARAMETER.finditer(body):
        if not found[3] and not closed and found.end() == len(body):
            return ParsedCall(name, body.strip())  # cut off, and no JSON: reported as broken
        value = found[2].removeprefix("\r").removeprefix("\n").removesuffix("\n")
        arguments[found[1]] = _typed(value, schemas.get(found[1]))
    return ParsedCall(name, text_of(arguments))


def _arguments(name: str, body: str, known: Known, *, closed: bool) -> ParsedCall:
    """Read GLM's pairs of key and value; any other text makes the arguments broken."""
    schemas = _schemas(name, known)
    arguments: dict[str, Any] = {}
    at = 0
    while found := _ARGUMENT.match(body, at):
        if not found[3] and not closed and found.end() == len(body):
            break
        arguments[found[1].strip()] = _typed(found[2], schemas.get(found[1].strip()))
        at = found.end()
    return ParsedCall(name, body if at < len(body) else text_of(arguments))


def _schemas(name: str, known: Known) -> Mapping[str, Any]:
    return known[name].parameters.get("properties", {}) if name in known else {}


def _typed(value: str, schema: object) -> Any:
    """Return a parameter's text, or its JSON value where the schema wants no string."""
    kind = cast("dict[str, Any]", schema).get("type") if isinstance(schema, dict) else "string"
    if kind == "string":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
