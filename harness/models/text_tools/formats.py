"""The formats of calls in text: what opens each, and what reads it.

| opening | written by |
| --- | --- |
| a fence of JSON, of Python calls, or tagged with a tool's name | as our prompts ask; Gemma |
| `<tool_call>`, `<function_call>`, `<tools>` | Qwen, Hermes, Granite 3, Hunyuan, GLM |
| `<|tool_call|>`, `<tool_calls>`, `<TOOLCALL>`, `functools[` | Phi, Granite, Jamba, Nemotron |
| `<|python_tag|>`, `<|python_start|>`, `<|plugin|>` | Llama 3 and 4, InternLM |
| `<|tool_call_start|>`, `<function_calls>` | LFM2, OLMo 3 |
| `<|START_ACTION|>`, `<|tools_prefix|>` | Cohere Command A, Apertus |
| `<longcat_tool_call>`, `<tool_call:opensource>` | LongCat, Hunyuan 4: with a maker's mark |
| special tokens | `harness.models.text_tools.tokens` |
| tags of functions and parameters | `harness.models.text_tools.tags` |
| `Action:` and `Action Input:` | ReAct |
| a line that begins with JSON, or with a known tool's name | Llama, GLM 4, Functionary, others |

Thoughts, results that a model made up, and blocks of code are passed over. Thoughts that nothing
closes may end with calls between tags or tokens; in a fence these are a plan.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from harness.models.text_tools import fences, python_calls, tags, tokens
from harness.models.text_tools.arguments import without_fence
from harness.models.text_tools.calls import (
    MOST_CALLS,
    UNNAMED,
    Block,
    Known,
    ParsedCall,
    tool_name,
    with_text,
)
from harness.models.text_tools.repair import strict_value
from harness.models.text_tools.source import Ends, Source, closed_by

_RESULTS = {"<tool_result": "</tool_result>", "<tool_response>": "</tool_response>"}
_THOUGHTS = {
    **{
        f"<{tag}>": f"</{tag}>"
        for word in ("think", "thinking", "thought", "reasoning", "scratch_pad")
        for tag in (word, f"seed:{word}", f"mm:{word}", f"longcat_{word}", f"{word}:opensource")
    },
    "[THINK]": "[/THINK]",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
}
_NOBODYS = {**_THOUGHTS, **_RESULTS}
"""What stands between these is nobody's call."""

_WRAPPERS = (
    rf"<(?P<wrapper>(?:TOOLCALL|tools|{tags.MARK}(?:tool|function)_calls?{tags.SUFFIX}))>"
    r"|<\|(?P<token>tool_call|tool_call_start|tool_calls|python_tag|python_start|plugin"
    r"|action_start|START_ACTION|tools_prefix)\|>(?:\s*+<\|plugin\|>)?"
    r"|\bfunctools(?=\[)"
)
_CLOSING_TOKENS = (
    r"<\|/tool_call\|>|<\|tool_call_end\|>|<\|/?tool_calls\|>|<\|python_end\|>|<\|action_end\|>"
    r"|<\|END_ACTION\|>|<\|tools_suffix\|>"
    r"|<\|eom_id\|>|<\|eot_id\|>|<\|im_end\|>|(?=<\|(?:tool_call|python_tag|python_start)\|>)"
)
_TAG_END = r"</(?:{tag})>|(?=<(?:{tag})>)"
_BODY_FENCE = re.compile(r"\s*+```(?:json|python|tool_code)?[ \t]*+\r?\n?")
_NAME = re.compile(rf"([A-Za-z_][\w.-]{{0,100}})(?:\(\))?\s*+(?=\{{|```|{tags.KEY}|</|\Z)")
_LEFT = re.compile(
    r"(?:\s++|</?[\w:-]{1,40}>|<\|[\w/]{1,40}\|>)*+"  # white space, and closing tags and tokens
)
_ENDS_WITH_FENCE = closed_by(r"\s*```")
_PARAGRAPH_END = closed_by(r"\n[ \t]*(?=\r?\n)|(?=>>>)|\Z")
_REACT_END = closed_by(r"\n(?=(?:Observation|Thought|Action|Final Answer)\b[^\n]{0,20}:)|\Z")
_REACT = (
    r"^[ \t*]*Action:?\**[ \t]*(?P<action>[A-Za-z_][\w.-]{0,100})(?:\(\))?[ \t]*\r?\n"
    r"\s{0,5}\**Action Input:?\**:?[ \t]*"
)
MOST_BLOCKS = 4_096  # in one text; later ones stay text
_FIRST = r"[<\[`]|to=|functools\[|>>>"
"""What every opening begins with that does not begin a line; it makes the search fast."""

_KEYS = r"name|tool|tool_name|function|function_name|action|type|id|tool_calls"


class Format(NamedTuple):
    """A format: its name, the pattern that opens a call, and the function that reads it."""

    name: str
    opening: str
    read: Callable[[Source, re.Match[str]], Block]


def _passed_over(source: Source, match: re.Match[str]) -> Block:
    """Pass over thoughts; unclosed ones at the beginning of a text reach to its end."""
    closing = _NOBODYS[match[0]]
    end = source.text.find(closing, match.end()) if match[0] not in source.unclosed else -1
    if end >= 0:
        return Block(match.start(), end + len(closing))
    source.unclosed.add(match[0])
    if source.text[: match.start()].strip():
        return Block(match.start(), match.end())
    inside = "" if source.cut_off or match[0] in _RESULTS else source.text[match.end() :]
    begin, calls = _final_calls(Source(inside, source.known), _MARKED)
    return Block(match.end() + begin if calls else match.start(), len(source.text), calls)


def final_calls(text: str, known: Known) -> tuple[ParsedCall, ...]:
    """Return the whole calls of known tools that thoughts end with.

    There are none if anything follows the last one: then the model only thought of them.
    """
    return _final_calls(Source(text, known), None)[1]


def _final_calls(
    source: Source, formats: tuple[Format, ...] | None
) -> tuple[int, tuple[ParsedCall, ...]]:
    """Return the calls at the end, and where they begin."""
    begin = end = 0
    calls: tuple[ParsedCall, ...] = ()
    for block in islice(blocks(source, formats), MOST_BLOCKS):
        if not block.calls:
            continue
        if not calls or _LEFT.fullmatch(source.text, end, block.start) is None:
            begin, calls = block.start, ()
        calls += block.calls
        end = block.end
    if _LEFT.fullmatch(source.text, end) and all(is_whole(call, source.known) for call in calls):
        return begin, calls[:MOST_CALLS]
    return len(source.text), ()


def _fence(source: Source, match: re.Match[str]) -> Block:
    """Read a fence, which may also hold calls between tags."""
    block = fences.fenced(source, match)
    begin = source.skip_blank(match.end())
    if block.calls or source.text[begin : begin + 1] != "<":
        return block
    inner = Source(source.text[begin : block.end], source.known)
    return block._replace(calls=tuple(call for each in blocks(inner, _TAGS) for call in each.calls))


def _wrapped(source: Source, match: re.Match[str]) -> Block:
    """Read what stands between a tag or token and its end; none where it is only mentioned."""
    tag = match["wrapper"]
    ends = closed_by(_TAG_END.format(tag=re.escape(tag)) if tag else _CLOSING_TOKENS)
    at = source.skip_blank(match.end())
    fence = _BODY_FENCE.match(source.text, at)
    begin = at if fence is None else source.skip_blank(fence.end())
    letter = source.text[begin : begin + 1]
    calls: tuple[ParsedCall, ...] = ()
    end = begin
    if letter == "<":
        calls, end = tags.functions_at(source, begin)
    elif letter and letter in "{[":
        calls, end = source.json_calls(begin, ends)
    if not calls:
        calls, end = _named(source, begin, ends)
    if not calls:
        calls, end = python_calls.only_calls(source, begin, ends)
    if not calls and letter == "{" and tag in {"tool_call", "function_call"}:
        region = source.regions(begin, ends)[0]
        calls, end = (ParsedCall(UNNAMED, source.text[begin : region.stop].strip()),), region.after
    if not calls:
        return Block(match.start(), match.end())
    if fence is not None:
        end = source.past(end, _ENDS_WITH_FENCE)
    return Block(match.start(), source.past(end, ends), calls)


def _named(source: Source, at: int, ends: Ends) -> tuple[tuple[ParsedCall, ...], int]:
    """Read a name with its arguments after it: JSON, a fence of JSON, or GLM's pairs."""
    match = _NAME.match(source.text, at)
    if match is None:
        return (), at
    name = tool_name(match[1], source.known)
    follows = source.text[match.end() : match.end() + 5]
    if tags.is_key_at(source, match.end()):
        arguments, end = tags.pairs_at(source, name, match.end())
    elif name in source.known and not follows.startswith(("{", "```")):
        if source.known[name].sole_text and not follows:
            return (), at
        arguments, end = "{}", match.end()
    elif name in source.known:
        arguments, end = source.arguments(name, match.end(), ends)
    else:
        return (), at
    return (ParsedCall(name, arguments),), end


def _react(source: Source, match: re.Match[str]) -> Block:
    """Read an action and its input, which may be the text of a tool as it is."""
    name = tool_name(match["action"], source.known)
    text, region = source.text_until(match.end(), _REACT_END, code=False)
    plain = without_fence(text).strip()
    if not plain.startswith("{") and (call := with_text(name, plain, source.known)):
        cut = source.cut_off and region.after == len(source.text)
        call = ParsedCall(name, call.arguments[:-2]) if cut else call
        return Block(match.start(), region.after, (call,))
    if not plain:
        return Block(match.start(), region.after, (ParsedCall(name, "{}"),))
    arguments, end = source.arguments(name, match.end(), _REACT_END)
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def _named_line(source: Source, match: re.Match[str]) -> Block:
    """Read a line that is a tool's name, with JSON in the next one."""
    name = match["line"]
    arguments, end = source.arguments(name, match.end(), _PARAGRAPH_END)
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def _json_line(source: Source, match: re.Match[str]) -> Block:
    """Read JSON that begins a line, if it is a call of a known tool and nothing else follows."""
    calls, end = source.json_calls(match.end(), _PARAGRAPH_END)
    first = not source.text[: match.start()].strip()
    sound = all(call.name in source.known and (first or is_sound(call)) for call in calls)
    if not sound or source.text[end:].partition("\n")[0].strip("; \t\r}]"):
        return Block(match.start(), match.end())
    return Block(match.start(), end if calls else match.end(), calls)


def _python_line(source: Source, match: re.Match[str]) -> Block:
    """Read Python calls that stand alone: a paragraph, or lines after a colon."""
    before = source.text[: match.start()].rstrip(" \t")
    if before and not before.endswith(("\n\n", "\n\r\n", ":\n")):
        return Block(match.start(), match.end())
    calls, end = python_calls.paragraph(source, match.end())
    return Block(match.start(), end if calls else match.end(), calls)


def is_sound(call: ParsedCall) -> bool:
    """Return whether a call's arguments are JSON."""
    value = strict_value(call.arguments)
    return value is not None and value.end == len(call.arguments)


def is_whole(call: ParsedCall, known: Known) -> bool:
    """Return whether a call of a known tool has all the arguments that the tool requires."""
    value = strict_value(call.arguments) if call.name in known else None
    fields = None if value is None or value.end != len(call.arguments) else value.fields
    return fields is not None and {*known[call.name].parameters.get("required", [])} <= {*fields}


_TAGS = (
    Format("wrapped", _WRAPPERS, _wrapped),
    Format("function", tags.OPENING, tags.function),
)
_MARKED = (
    Format("gemma", tokens.GEMMA, tokens.gemma),
    *_TAGS,
    Format("mistral", tokens.MISTRAL, tokens.mistral),
    Format("deepseek", tokens.DEEPSEEK, tokens.deepseek),
    Format("harmony", tokens.HARMONY, tokens.harmony),
    Format("kimi", tokens.KIMI, tokens.kimi),
)
"""Formats of calls between tags or special tokens."""
_FORMATS = (
    Format("passed_over", "|".join(map(re.escape, _NOBODYS)), _passed_over),
    Format("fence", fences.OPENING, _fence),
    *_MARKED,
    Format("react", _REACT, _react),
)


@lru_cache(maxsize=64)
def _of_tools(names: tuple[str, ...]) -> tuple[Format, ...]:
    """Return the formats, with those that are opened by the name of a known tool."""
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
    keys = rf"[\"'](?:{_KEYS}|{any_name})[\"']"
    return (
        *_FORMATS,
        Format("own_tag", tags.own_tag(any_name), tags.of_own_tag),
        Format(
            "name_line",
            rf"(?:^[ \t]*|>>>)(?P<line>{any_name})[ \t]*\r?\n(?=\s{{0,5}}\{{)",
            _named_line,
        ),
        Format("json_line", rf"^[ \t]*(?=\[?\s{{0,20}}\{{\s{{0,20}}{keys}\s{{0,5}}:)", _json_line),
        Format("python_line", rf"^[ \t]*(?=\[?(?:{any_name})(?:\.call)?\()", _python_line),
    )


@lru_cache(maxsize=64)
def _opening(formats: tuple[Format, ...]) -> re.Pattern[str]:
    """Return the pattern of all openings; the matched format's group has its name."""
    openings = (f"(?P<{each.name}_>{each.opening})" for each in formats)
    return re.compile(rf"(?=^|{_FIRST})(?:{'|'.join(openings)})", re.MULTILINE)


def blocks(source: Source, formats: tuple[Format, ...] | None = None) -> Iterator[Block]:
    """Yield the parts of a text that may hold calls, in order and without overlap."""
    formats = formats or _of_tools(tuple(source.known))
    opening, at = _opening(formats), 0
    while (match := opening.search(source.text, at)) is not None:
        found = next(each for each in formats if match[f"{each.name}_"] is not None)
        block = found.read(source, match)
        yield block
        at = max(block.end, match.end() if match.end() > at else at + 1)
