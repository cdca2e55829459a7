"""Parser of tool calls that models write in their text.

It reads fenced JSON blocks (tagged json or tool_call, or untagged), blocks tagged with the name of
a tool that takes one text (`sole_text`), calls between tags (see `call_syntax`) and between models'
special tokens, and an answer that is only JSON. A block of another tag, such as python, is never a
call, nor is a model's reasoning before `</think>`.

Time is linear in the length of the text, whatever it holds: each block is a slice of its own, and
none is read twice but for one attempt to repair it.

Calls between special tokens that a server sends as text:

| model | a call |
| --- | --- |
| Mistral, until tokenizer v7 | `[TOOL_CALLS][{"name": …, "arguments": {…}}]` |
| Mistral, from v11 on | `[TOOL_CALLS]name[ARGS]{…}`, with `[CALL_ID]id` before `[ARGS]` or not |
| DeepSeek R1, V3 | `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, a fence of JSON, the end |
| DeepSeek V3.1 | `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` |
| Kimi K2 | `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` |

DeepSeek's and Kimi's calls stand between `<｜tool▁calls▁begin｜>` and `<｜tool▁calls▁end｜>`, or
`<|tool_calls_section_begin|>` and `<|tool_calls_section_end|>`. The parsers `mistral`,
`deepseek_v3`, `deepseek_v31` and `kimi_k2` of https://github.com/vllm-project/vllm, and those of
https://github.com/ggml-org/llama.cpp (`[ARGS]`), read these formats as well.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.models.protocol import ToolSpec
from harness.models.text_tools.call_syntax import (
    MOST_CALLS,
    Block,
    Known,
    ParsedCall,
    arguments_at_start,
    calls_at_start,
    calls_in_json,
    function,
    tagged,
    without_fence,
)

# ruff: noqa: RUF001, RUF002 - DeepSeek's tokens contain the full-width bar U+FF5C


MISTRAL = "[TOOL_CALLS]"

_SECTION_BEGIN = r"(?:<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)"
_SECTION_END = r"(?:<｜tool▁calls▁end｜>|<\|tool_calls_section_end\|>)"
_BEGIN = r"(?:<｜tool▁call▁begin｜>|<\|tool_call_begin\|>)"
_END = r"(?:<｜tool▁call▁end｜>|<\|tool_call_end\|>)"
OPENING = rf"{re.escape(MISTRAL)}|(?:{_SECTION_BEGIN}\s*+)?(?P<token>{_BEGIN})"

_CLOSINGTokenCalls = re.compile(rf"(?:{_END}\s*+)?{_SECTION_END}|{_END}|(?={_BEGIN})")
_SEPARATOR = re.compile(r"<｜tool▁sep｜>|<\|tool_call_argument_begin\|>")
_NAME = re.compile(r"\s*+(?:functions\.)?([\w.-]{1,100}?)(?::\d{1,9})?\s*+")
_MISTRAL_NAME = re.compile(
    r"\s*+([\w.-]{1,100}+)\s*+(?:\[CALL_ID\][\w-]{1,100}+\s*+)?(?:\[ARGS\]|(?=\{))"
)
_TYPE = "function"  # stands in the place of the name, which then follows the separator


def between_tokens(text: str, found: re.Match[str], known: Known) -> Block:
    """Read a call that begins at one of these tokens; none where the text only mentions it."""
    if found["token"] is None:
        return _mistral(text, found, known)
    start = found.end()
    closing = _CLOSINGTokenCalls.search(text, start)
    stop, end = (len(text),) * 2 if closing is None else closing.span()
    body = text[start:stop]
    separator = _SEPARATOR.search(body)
    if separator is None:
        return Block(found.start(), start, ())
    name, arguments = body[: separator.start()], body[separator.end() :]
    if name.strip() == _TYPE and not arguments.lstrip().startswith("{"):
        named = re.match(r"\s*+[\w.-]{1,100}+", arguments)
        cut = 0 if named is None else named.end()
        name, arguments = arguments[:cut], arguments[cut:]
    named = _NAME.fullmatch(name)
    if named is None:
        return Block(found.start(), start, ())
    written, _ = arguments_at_start(without_fence(arguments.strip()))
    return Block(found.start(), end, [ParsedCall(named[1], written)])


def _mistral(text: str, found: re.Match[str], known: Known) -> Block:
    """Read `[TOOL_CALLS]…`: up to the end of its JSON, or the next such token if broken."""
    start = found.end()
    stop = text.find(MISTRAL, start)
    region = text[start : stop if stop >= 0 else len(text)]
    named = _MISTRAL_NAME.match(region)
    if named is not None:
        written, end = arguments_at_start(region[named.end() :])
        calls = [ParsedCall(named[1], written)]
        return Block(found.start(), start + named.end() + end, calls)
    calls, end = calls_at_start(region, known)
    return Block(found.start(), start + end if calls else start, calls)


LONGEST_TEXT = 1 << 20  # a longer one is not searched
JSON_TAGS = frozenset({"", "json", "jsonc", "json5", "tool_call", "tool_calls", "function_call"})

_TAGS = r"<(?:tool_call|function_call)>|<function=(?P<function>[\w.-]{1,100})>"
_OPENING = re.compile(
    r"```(?P<json>json|tool_calls?|function_call)[ \t]*(?=[\r\n{\[])"
    r"|^[ \t>]*(?P<marks>`{3,}|~{3,})(?P<tag>[^\n`]*)$"
    rf"|{_TAGS}|(?P<tokens>{OPENING})",
    re.MULTILINE,
)
_OPENING_TAG = re.compile(_TAGS)
_CLOSING = re.compile(r"^[ \t>]*(`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE)
_CLOSING_JSON = re.compile(  # also `{…}```, and any fence at the start of a line: JSON has none
    r"^[ \t>]*+(?P<first>`{3,}+|~{3,}+)|(?<![`~])(?P<last>`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE
)


class Reading(NamedTuple):
    """Text without its calls, and the calls in order."""

    text: str
    calls: tuple[ParsedCall, ...]


def sole_text(tool: ToolSpec) -> str | None:
    """Return the name of a tool's only required argument, if that is a string; else None."""
    required: list[str] = tool.parameters.get("required", [])
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    if len(required) != 1 or properties.get(required[0], {}).get("type") != "string":
        return None
    return required[0]


def read_calls(
    text: str, tools: Sequence[ToolSpec], *, known_only: bool = False, cut_off: bool = False
) -> Reading:
    """Read the calls in a text.

    Args:
        text: the model's text.
        tools: tools that the model may call. An unknown name makes a call too, so that the code
            that runs it can report that there is no such tool.
        known_only: whether unknown names make no call, for texts that need not hold any.
        cut_off: whether the text ended at the token limit, so that an unclosed block is broken.
    """
    if len(text) > LONGEST_TEXT:
        return Reading(text, ())
    known = {tool.name: tool for tool in tools}
    calls: list[ParsedCall] = []
    pieces: list[str] = []
    after = 0
    for block in _blocks(text, known, _OPENING, _after_thoughts(text), cut_off=cut_off):
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
        bare = calls_in_json(whole, known)
        if bare and len(bare) <= MOST_CALLS and all(call.name in known for call in bare):
            return Reading("", tuple(bare))
    return Reading(text, ())


def _blocks(
    text: str, known: Known, opening: re.Pattern[str], at: int = 0, *, cut_off: bool = False
) -> Iterator[Block]:
    """Yield the parts of a text that may hold calls, in order and without overlap."""
    while found := opening.search(text, at):
        match found.lastgroup:
            case "json" | "tag":
                block = _fenced(text, found, known, cut_off=cut_off)
            case "tokens":
                block = between_tokens(text, found, known)
            case "function":
                block = function(text, found, known)
            case _:
                block = tagged(text, found, known)
        yield block
        at = block.end


def _after_thoughts(text: str) -> int:
    """Return where the model's reasoning ends; cut-off reasoning ends with the text."""
    end = text.find("</think>")
    if end >= 0:
        return end + len("</think>")
    return len(text) if text.lstrip().startswith("<think>") else 0


def _fenced(text: str, found: re.Match[str], known: Known, *, cut_off: bool) -> Block:
    """Read a fenced block: up to a fence at least as long, or the end of the text."""
    marks, tag = found["marks"] or "```", found["json"] or _first_word(found["tag"] or "")
    if tag not in JSON_TAGS:
        ends = _CLOSING.finditer(text, found.end())
        end = next((end for end in ends if end[1].startswith(marks)), None)
        stop = len(text) if end is None else end.start()
        call = _text_call(text[found.end() : stop], tag, known, broken=cut_off and end is None)
        return Block(found.start(), stop if end is None else end.end(), call)
    stop, end = _end_of_json(text, found.end(), marks)
    region = text[found.end() : stop]
    if region.lstrip().startswith("<"):  # tags within a fence
        inner = [call for block in _blocks(region, known, _OPENING_TAG) for call in block.calls]
        return Block(found.start(), end, inner)
    return Block(found.start(), end, calls_in_json(region, known))


def _text_call(inside: str, tag: str, known: Known, *, broken: bool) -> Sequence[ParsedCall]:
    """Return the call of a block that is tagged with a tool's name and holds its one text."""
    argument = sole_text(known[tag]) if tag in known else None
    if argument is None:
        return ()
    arguments = json.dumps({argument: inside.removeprefix("\r").removeprefix("\n")})
    return (ParsedCall(tag, arguments[:-2] if broken else arguments),)


def _end_of_json(text: str, at: int, marks: str) -> tuple[int, int]:
    """Return the end of a JSON block's content, and of the block itself."""
    for found in _CLOSING_JSON.finditer(text, at):
        run = found["first"] or found["last"]
        if not run.startswith(marks):
            continue
        if found["last"]:
            return found.start(), found.end()
        begins = found.end() - len(run)
        if len(run) >= 2 * len(marks):  # the next block opens at once
            return begins, begins + len(marks)
        opens = text[found.end() : found.end() + 1].isalpha()  # unclosed: the next begins
        return found.start(), found.start() if opens else found.end()
    return len(text), len(text)


def _first_word(info: str) -> str:
    return next(iter(info.split()), "").strip("{}.").lower()
