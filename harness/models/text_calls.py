"""Tool calls read out of text: the ways in which models write them that have no other way.

Read are fenced JSON blocks (tagged json or tool_call, or bare), the tags `<tool_call>…</tool_call>`
and `<function=name>…</function>` (JSON within, or `<parameter=name>` tags), and an answer that is
JSON and nothing else. A block of another tag, such as python, is never a call, nor is what a model
thinks aloud before `</think>`.

What is nearly right is read as it was meant: several calls in a block, `parameters` for
`arguments`, real newlines within strings, a comma too many, a bracket too few at the end. A call
that breaks off keeps its broken arguments, so that whoever carries it out can say so.

Time is linear in the length of the text, whatever it holds: each block is a slice of its own, and
none is read twice but for one attempt to mend it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from harness.models.protocol import ToolSpec

LONGEST_TEXT = 1 << 20  # a longer one is not searched
MOST_CALLS = 128  # of one text; what stands after them stays text
UNNAMED = "unnamed"
JSON_TAGS = frozenset({"", "json", "jsonc", "json5", "tool_call", "tool_calls", "function_call"})
ARGUMENT_KEYS = ("arguments", "parameters")
BROKEN = "{"  # stands for arguments of which nothing was written

_OPENING = re.compile(
    r"```(?P<json>json|tool_calls?|function_call)[ \t]*(?=[\r\n{\[])"
    r"|^[ \t>]*(?P<marks>`{3,}|~{3,})(?P<tag>[^\n`]*)$"
    r"|<(?:tool_call|function_call)>"
    r"|<function=(?P<function>[\w.-]{1,100})>",
    re.MULTILINE,
)
_OPENING_TAG = re.compile(r"<(?:tool_call|function_call)>|<function=(?P<function>[\w.-]{1,100})>")
_CLOSING = re.compile(r"^[ \t>]*(`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE)
_CLOSING_JSON = re.compile(  # as in `{…}``` too, and any marks that begin a line: JSON has none
    r"^[ \t>]*+(?P<first>`{3,}+|~{3,}+)|(?<![`~])(?P<last>`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE
)
_TAG = re.compile(r"<(/?)(?:tool_call|function_call)>")
_FUNCTION = re.compile(r"<function=([\w.-]{1,100})>")
_FUNCTION_END = re.compile(r"<(/function>|function=|/tool_call>)")
_PARAMETER = re.compile(
    r"<parameter=([\w.-]{1,100})>(.*?)(</parameter>|(?=<parameter=)|\Z)", re.DOTALL
)
_BETWEEN = re.compile(r"[\s,;]*")
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*+[}\]])', re.DOTALL)
_NAME = re.compile(r'"name"\s*:\s*"([^"\\\n]{1,100})"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*')
_DECODER = json.JSONDecoder(strict=False)  # real newlines are allowed within strings


class WrittenCall(NamedTuple):
    """A call as it was written; `arguments` is JSON text, broken or not."""

    name: str
    arguments: str


class Reading(NamedTuple):
    """What a text came to: itself without its calls, and the calls in order."""

    text: str
    calls: tuple[WrittenCall, ...]


class _Block(NamedTuple):
    """A stretch of text that may hold calls: where it begins and ends, and what they came to."""

    start: int
    end: int
    calls: Sequence[WrittenCall]


def read_calls(text: str, tools: Sequence[ToolSpec], *, known_only: bool = False) -> Reading:
    """Read the calls out of a text.

    Args:
        text: what the model wrote.
        tools: what it may call. A name that is not among them makes a call too: it is for whoever
            carries calls out to say that there is no such tool.
        known_only: such a name makes none, for texts that need not hold any call.
    """
    if len(text) > LONGEST_TEXT:
        return Reading(text, ())
    known = {tool.name: tool for tool in tools}
    calls: list[WrittenCall] = []
    pieces: list[str] = []
    after = 0
    for block in _blocks(text, known, _OPENING, _after_thoughts(text)):
        if not block.calls or (known_only and any(c.name not in known for c in block.calls)):
            continue
        if len(calls) + len(block.calls) > MOST_CALLS:
            break
        calls += block.calls
        pieces.append(text[after : block.start])
        after = block.end
    pieces.append(text[after:])
    if calls:
        return Reading("\n".join(filter(None, (piece.strip() for piece in pieces))), tuple(calls))
    whole = text.strip()
    if whole[:1] in {"{", "["}:
        bare = _calls_in_json(whole, known)
        if bare and len(bare) <= MOST_CALLS and all(call.name in known for call in bare):
            return Reading("", tuple(bare))
    return Reading(text, ())


def _blocks(
    text: str, known: Mapping[str, ToolSpec], opening: re.Pattern[str], at: int = 0
) -> Iterator[_Block]:
    """The stretches of a text that may hold calls, from left to right, none over another."""
    while found := opening.search(text, at):
        match found.lastgroup:
            case "json" | "tag":
                block = _fenced(text, found, known)
            case "function":
                block = _function(text, found, known)
            case _:
                block = _tagged(text, found, known)
        yield block
        at = block.end


def _after_thoughts(text: str) -> int:
    """Where what a model thinks aloud ends; thoughts that were cut off end with the text."""
    end = text.find("</think>")
    if end >= 0:
        return end + len("</think>")
    return len(text) if text.lstrip().startswith("<think>") else 0


def _fenced(text: str, found: re.Match[str], known: Mapping[str, ToolSpec]) -> _Block:
    """A fenced block: up to a fence at least as long, or the end of the text."""
    marks, tag = found["marks"] or "```", found["json"] or _first_word(found["tag"] or "")
    if tag not in JSON_TAGS:
        ends = _CLOSING.finditer(text, found.end())
        end = next((end.end() for end in ends if end[1].startswith(marks)), len(text))
        return _Block(found.start(), end, ())
    stop, end = _end_of_json(text, found.end(), marks)
    region = text[found.end() : stop]
    if region.lstrip().startswith("<"):  # tags within a fence
        inner = [call for block in _blocks(region, known, _OPENING_TAG) for call in block.calls]
        return _Block(found.start(), end, inner)
    return _Block(found.start(), end, _calls_in_json(region, known))


def _end_of_json(text: str, at: int, marks: str) -> tuple[int, int]:
    """Where the inside of a JSON block ends, and where the block does."""
    for found in _CLOSING_JSON.finditer(text, at):
        run = found["first"] or found["last"]
        if not run.startswith(marks):
            continue
        if found["last"]:
            return found.start(), found.end()
        begins = found.end() - len(run)
        if len(run) >= 2 * len(marks):  # the next one opens at once
            return begins, begins + len(marks)
        opens = text[found.end() : found.end() + 1].isalpha()  # the next one, this was not closed
        return found.start(), found.start() if opens else found.end()
    return len(text), len(text)


def _first_word(info: str) -> str:
    return next(iter(info.split()), "").strip("{}.").lower()


def _tagged(text: str, found: re.Match[str], known: Mapping[str, ToolSpec]) -> _Block:
    """`<tool_call>…`: up to its end, the next that begins, or the end of the text."""
    start = found.end()
    next_tag = _TAG.search(text, start)
    stop = len(text) if next_tag is None else next_tag.start()
    end = next_tag.end() if next_tag is not None and next_tag[1] else stop
    body = _without_fence(text[start:stop].strip())
    if _FUNCTION.match(body):
        closed = next_tag is not None
        return _Block(found.start(), end, list(_functions(body, known, closed=closed)))
    if body[:1] not in {"{", "["}:  # somebody speaks of the tag
        return _Block(found.start(), start, ())
    calls = _calls_in_json(body, known) or [WrittenCall(_name(body) or UNNAMED, body)]
    return _Block(found.start(), end, calls)


def _without_fence(body: str) -> str:
    """What stands in a fence that is all there is."""
    if not body.startswith("```"):
        return body
    inside = body.partition("\n")[2]
    return inside.removesuffix("```").strip()


def _function(text: str, found: re.Match[str], known: Mapping[str, ToolSpec]) -> _Block:
    """`<function=name>…`, on its own."""
    end = _FUNCTION_END.search(text, found.end())
    stop = len(text) if end is None else end.start()
    past = end.end() if end is not None and end[1] == "/function>" else stop
    call = _parameters(found["function"], text[found.end() : stop], known, closed=end is not None)
    return _Block(found.start(), past, [call])


def _functions(body: str, known: Mapping[str, ToolSpec], *, closed: bool) -> Iterator[WrittenCall]:
    """The functions within a tag; only the last may lack its end."""
    starts = list(_FUNCTION.finditer(body))
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        inside, ended, _ = body[start.end() : after.start() if after else len(body)].partition(
            "</function>"
        )
        yield _parameters(start[1], inside, known, closed=bool(ended) or closed)


def _parameters(
    name: str, body: str, known: Mapping[str, ToolSpec], *, closed: bool
) -> WrittenCall:
    """A function's arguments: parameters in tags, whose text is their value, or JSON."""
    if "<parameter=" not in body:
        text = body.strip()
        values, _, whole = _decoded(text)
        sound = whole and len(values) == 1
        return WrittenCall(name, _text_of(values[0]) if sound else text or "{}")
    schema: dict[str, Any] = known[name].parameters.get("properties", {}) if name in known else {}
    arguments: dict[str, Any] = {}
    for found in _PARAMETER.finditer(body):
        if not found[3] and not closed and found.end() == len(body):
            return WrittenCall(name, body.strip())  # cut off, and no JSON: told as such
        value = found[2].removeprefix("\r").removeprefix("\n").removesuffix("\n")
        arguments[found[1]] = _typed(value, schema.get(found[1]))
    return WrittenCall(name, _text_of(arguments))


def _typed(value: str, schema: object) -> Any:
    """A parameter's text, or what it stands for where the schema wants no text."""
    kind = cast("dict[str, Any]", schema).get("type") if isinstance(schema, dict) else "string"
    if kind == "string":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _calls_in_json(region: str, known: Mapping[str, ToolSpec]) -> list[WrittenCall]:
    """The calls of a block of JSON; none where it is something else."""
    values, stopped, whole = _decoded(region)
    calls = _calls_of(values, known)
    if whole or (values and not calls):
        return calls
    rest = _mended(region[stopped:])
    more, _, mended = _decoded(rest)
    if mended and more:
        return calls + _calls_of(more, known)
    broken = _broken(rest, known)
    return [*calls, broken] if broken else calls


def _decoded(region: str) -> tuple[list[Any], int, bool]:
    """The JSON values at the beginning, where they end, and whether none of them is broken."""
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
            return values, at, False
        values.append(value)
    return values, at, True


def _mended(text: str) -> str:
    """The text without commas before a closing bracket, those in strings excepted."""
    return _STRING_OR_COMMA.sub(lambda found: found[1] or "", text)


def _broken(text: str, known: Mapping[str, ToolSpec]) -> WrittenCall | None:
    """A call of which the end is missing or wrong; its arguments may be whole all the same."""
    name, begin = _name(text), _ARGUMENTS.search(text)
    if name is None or (begin is None and name not in known):
        return None
    if begin is None:
        return WrittenCall(name, BROKEN)
    written = text[begin.end() :]
    try:
        value, _ = _DECODER.raw_decode(written)
    except (ValueError, RecursionError):
        return WrittenCall(name, written if written.strip() else BROKEN)
    return WrittenCall(name, _text_of(value))


def _name(text: str) -> str | None:
    found = _NAME.search(text)
    return found[1] if found else None


def _calls_of(values: Iterable[Any], known: Mapping[str, ToolSpec]) -> list[WrittenCall]:
    """The calls that values are; none when one of them is something else."""
    calls: list[WrittenCall] = []
    for value in values:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        found = [_call_of(item, known) for item in items]
        if None in found:
            return []
        calls += [call for call in found if call is not None]
    return calls


def _call_of(value: Any, known: Mapping[str, ToolSpec]) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get("function"), dict):  # as a provider would send it
        fields = cast("dict[str, Any]", fields["function"])
    name = fields.get("name")
    key = next((key for key in ARGUMENT_KEYS if key in fields), None)
    if not isinstance(name, str) or not name or (key is None and name not in known):
        return None
    arguments = None if key is None else fields[key]
    return WrittenCall(name, "{}" if arguments is None else _text_of(arguments))


def _text_of(arguments: Any) -> str:
    """Arguments as JSON text; text is taken for such already."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
