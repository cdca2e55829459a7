"""Calls between tags: functions with parameters, pairs of keys and values, a tool's own tag.

| format | a call |
| --- | --- |
| Qwen3-Coder, Seed-OSS | `<function=name><parameter=key>value</parameter></function>` |
| Anthropic, MiniMax, DeepSeek | `<invoke name="…"><parameter name="…">…</parameter></invoke>` |
| MiniCPM | `<function name="…"><param name="…"><![CDATA[…]]></param></function>` |
| MiniMax M3 | `<invoke name="…"><key>…</key></invoke>`, with `]<]minimax[>[` before each tag |
| Llama 3.2 | `<function=name>{…}</function>` |
| GLM 4.5 to 4.7 | `name<arg_key>key</arg_key><arg_value>value</arg_value>` |
| a tool's own tag | `<write_solution><code>…</code></write_solution>` |

DeepSeek writes `｜DSML｜` before each tag's name, others `atem:` or `longcat_`; Hunyuan writes
`:opensource` after it.
"""

import re
from functools import lru_cache
from typing import Any, cast

from harness.models.protocol import ToolSpec
from harness.models.text_tools.arguments import read_object
from harness.models.text_tools.calls import (
    Block,
    Known,
    ParsedCall,
    properties_of,
    text_of,
    tool_name,
    with_text,
)
from harness.models.text_tools.repair import Unreadable, strict_value
from harness.models.text_tools.source import Region, Source, closed_by

# ruff: noqa: RUF001, RUF002 - DeepSeek's tags contain the full-width bar U+FF5C

MARK = r"(?:｜DSML｜|[A-Za-z]{1,20}[:_])?"
"""What a maker writes before the name of a tag."""
SUFFIX = r"(?::[A-Za-z]{1,20})?"
"""What a maker writes after it."""
KEY = rf"<{MARK}arg_key{SUFFIX}>"
_NAMESPACE = re.compile(r"\]<\][\w-]{1,30}\[>\[(?=</?\w)")
OPENING = (
    rf"<{MARK}(?:function=|(?:invoke|function)\s{{1,5}}name=)"
    rf"[\"']?(?P<function>[\w.:-]{{1,100}})[\"']?\s{{0,5}}>"
)
_FUNCTION = re.compile(OPENING)
_FUNCTION_END = rf"</{MARK}(?:function|invoke)>"
_PARAMETER = (
    rf"<{MARK}param(?:eter)?(?P<form>=|\s{{1,5}}name=)[\"']?(?P<key>[\w.-]{{1,100}})[\"']?"
    r"(?P<string>\s{1,5}string=[\"']?(?:true|false)[\"']?)?\s{0,5}>"
)
_PARAMETER_END = closed_by(
    rf"</{MARK}param(?:eter)?>"
    rf"(?=\s*+(?:<{MARK}param|</?{MARK}(?:function|invoke|tool_call)|\Z))"
)
_ANY_END = closed_by(
    rf"</{MARK}param(?:eter)?>"
    rf"|(?=<{MARK}param(?:eter)?[=\s]|</{MARK}(?:function|invoke|tool_calls?)>)"
)
_JSON_END = closed_by(rf"{_FUNCTION_END}|(?=<{MARK}(?:function=|invoke\s)|</{MARK}tool_calls?>)")
_END = re.compile(_FUNCTION_END)
_KEY = re.compile(rf"{KEY}([^<]{{1,100}})</{MARK}arg_key{SUFFIX}>\s*+<{MARK}arg_value{SUFFIX}>")
_CLOSED_VALUE = rf"</{MARK}arg_value{SUFFIX}>"
_VALUE_END = closed_by(rf"{_CLOSED_VALUE}(?=\s*+(?:{KEY}|</|\Z))")
_ANY_VALUE_END = closed_by(rf"{_CLOSED_VALUE}|(?={KEY}|</{MARK}tool_call{SUFFIX}>)")
_BEGINS_KEY = re.compile(KEY)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


def without_marks(text: str) -> str:
    """Return a text without the mark of a namespace that MiniMax writes before each tag."""
    return _NAMESPACE.sub("", text)


def function(source: Source, match: re.Match[str]) -> Block:
    """Read `<function=name>…` or `<invoke name="name">…`."""
    name = tool_name(match["function"], source.known)
    arguments, end = _arguments(source, name, match.end())
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def functions_at(source: Source, at: int) -> tuple[tuple[ParsedCall, ...], int]:
    """Return the functions that follow one another from a place on, and where they end."""
    calls: list[ParsedCall] = []
    end = at
    while (match := _FUNCTION.match(source.text, source.skip_blank(end))) is not None:
        block = function(source, match)
        calls += block.calls
        end = block.end
    return tuple(calls), end


def _arguments(source: Source, name: str, at: int) -> tuple[str, int]:
    """Read a function's arguments: parameters in tags, or JSON; and where the function ends."""
    begin = source.skip_blank(at)
    if source.text[begin : begin + 1] == "{":
        return source.arguments(name, begin, _JSON_END)
    tool = source.known.get(name)
    arguments: dict[str, Any] = {}
    end = at
    named = _parameters(tuple(properties_of(tool)))
    while (match := named.match(source.text, source.skip_blank(end))) is not None:
        key = match["key"] or match["own"]
        text, region = _parameter(source, match, code=is_text(tool, key))
        if not region.closed:  # broken off, and no JSON: reported as broken
            return source.text[at:].strip(), region.after
        arguments[key] = typed(text, properties_of(tool).get(key))
        end = region.after
    blank = source.skip_blank(end)
    closing = _END.match(source.text, blank)
    if closing is not None:
        return text_of(arguments), closing.end()
    if arguments or source.text[blank : blank + 1] in {"<", ""}:
        return text_of(arguments), end
    region = source.regions(at, _JSON_END)[0]
    return source.text[at : region.stop].strip(), region.after


def _parameter(source: Source, match: re.Match[str], *, code: bool) -> tuple[str, Region]:
    """Return a parameter's text and its region, which is open where the text breaks off."""
    if match["own"]:
        ends = closed_by(rf"</{re.escape(match['own'])}>(?=\s*+<)")
        return source.text_until(match.end(), ends, code=code)
    text, region = source.text_until(match.end(), _PARAMETER_END, code=code)
    if not region.closed:
        text, region = source.text_until(match.end(), _ANY_END, code=code)
    plain = _without_cdata(text)
    return _without_newlines(plain) if match["form"] == "=" else plain, region


@lru_cache(maxsize=64)
def _parameters(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a parameter's opening tag, which may be an argument's own."""
    own = "|".join(map(re.escape, keys)) or r"(?!)"
    return re.compile(rf"{_PARAMETER}|<(?P<own>{own})>")


def _without_cdata(text: str) -> str:
    bare = text.strip()
    if not (bare.startswith(_CDATA) and bare.endswith(_CDATA_END)):
        return text
    inner = bare[len(_CDATA) : -len(_CDATA_END)]
    return inner.replace(f"]]{_CDATA_END}{_CDATA}>", _CDATA_END)


def pairs_at(source: Source, name: str, at: int) -> tuple[str, int]:
    """Read GLM's pairs of key and value; one that breaks off makes the arguments broken."""
    tool = source.known.get(name)
    arguments: dict[str, Any] = {}
    end = at
    while (match := _KEY.match(source.text, source.skip_blank(end))) is not None:
        key = match[1].strip()
        text, region = source.text_until(match.end(), _VALUE_END, code=is_text(tool, key))
        if not region.closed:
            text, region = source.text_until(match.end(), _ANY_VALUE_END, code=is_text(tool, key))
        if not region.closed:
            return source.text[at:].strip(), len(source.text)
        arguments[key] = typed(text, properties_of(tool).get(key))
        end = region.after
    if is_key_at(source, source.skip_blank(end)):
        return source.text[at:].strip(), len(source.text)
    return text_of(arguments), end


def is_key_at(source: Source, at: int) -> bool:
    """Return whether a key of GLM's pairs begins there."""
    return _BEGINS_KEY.match(source.text, at) is not None


def own_tag(names: str) -> str:
    """Return the pattern of the opening tags of tools, given that of their names."""
    return rf"<(?P<own>{names})(?P<closed>\s?/)?>"


def of_own_tag(source: Source, match: re.Match[str]) -> Block:
    """Read `<write_solution>…</write_solution>`; none where the text only mentions the tag."""
    name = match["own"]
    tool = source.known[name]
    if match["closed"]:
        return Block(match.start(), match.end(), (ParsedCall(name, "{}"),))
    text, region = source.text_until(
        match.end(), closed_by(rf"</{re.escape(name)}>"), code=tool.sole_text is not None
    )
    if not region.closed:
        return Block(match.start(), match.end())
    call = _own_call(name, text, source.known)
    return Block(match.start(), region.after, () if call is None else (call,))


def _own_call(name: str, text: str, known: Known) -> ParsedCall | None:
    tool = known[name]
    arguments = {
        key: typed(_without_newlines(value), schema)
        for key, schema in properties_of(tool).items()
        if (value := _element(text, key)) is not None
    }
    if arguments or not text.strip():
        return ParsedCall(name, text_of(arguments))
    if text.lstrip().startswith("{"):
        try:
            return ParsedCall(name, text_of(read_object(text, tool)))
        except Unreadable:
            return None
    return with_text(name, _without_newlines(text), known)


def _element(text: str, key: str) -> str | None:
    opening, closing = f"<{key}>", f"</{key}>"
    begin, end = text.find(opening), text.rfind(closing)
    return text[begin + len(opening) : end] if 0 <= begin < end else None


def _without_newlines(text: str) -> str:
    if text[:1] not in {"\r", "\n"}:
        return text
    return text.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")


def is_text(tool: ToolSpec | None, key: str) -> bool:
    """Return whether an argument is the one text that a tool takes."""
    return tool is not None and tool.sole_text == key


def typed(value: str, schema: object) -> Any:
    """Return a parameter's text, or its JSON value where the schema wants no string."""
    kind = cast("dict[str, Any]", schema).get("type") if isinstance(schema, dict) else "string"
    if kind == "string":
        return value
    strict = strict_value(value.strip())
    return value if strict is None or strict.end != len(value.strip()) else strict.value
