"""Parser of tool calls that models write in their text.

It reads fenced JSON blocks (tagged json or tool_call, or untagged), blocks tagged with the name of
a tool that takes one text (`sole_text`), calls between tags (`harness.models.text_tools.tag_calls`)
and between models' special tokens (`harness.models.text_tools.token_calls`), and an answer that is
only JSON. A block of another tag, such as python, is never a call, nor is a model's reasoning
before `</think>`.

Time is linear in the length of the text, whatever it holds: each block is a slice of its own, and
none is read twice but for one attempt to repair it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.models.protocol import ToolSpec
from harness.models.text_tools.json_calls import (
    MOST_CALLS,
    Block,
    Known,
    ParsedCall,
    calls_in_json,
)
from harness.models.text_tools.tag_calls import function, tagged
from harness.models.text_tools.token_calls import OPENING, between_tokens

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
