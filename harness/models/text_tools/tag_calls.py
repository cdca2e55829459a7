"""Parser of tool calls written between tags.

`<tool_call>…</tool_call>` holds JSON, functions, or a name and its arguments in GLM's format;
`<function=name>…</function>` holds JSON, or parameters in tags.

GLM's format is `<tool_call>name`, then for each argument `<arg_key>key</arg_key>` and
`<arg_value>value</arg_value>`, with newlines between them (GLM 4.5) or without (4.7). The vLLM
parser of the same format is `glm4_moe_tool_parser.py` in https://github.com/vllm-project/vllm.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from harness.models.text_tools.json_calls import (
    UNNAMED,
    Block,
    Known,
    ParsedCall,
    calls_in_json,
    decoded,
    name_in,
    text_of,
)

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
