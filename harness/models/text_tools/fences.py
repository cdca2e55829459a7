"""Fenced blocks: of JSON, of a tool's text, and of code that may belong to a call beside it."""

import re
from collections.abc import Iterator

from harness.models.text_tools import python_calls
from harness.models.text_tools.arguments import End, read_object
from harness.models.text_tools.calls import (
    Block,
    ParsedCall,
    properties_of,
    text_of,
    tool_name,
    with_text,
)
from harness.models.text_tools.repair import Unreadable, fields_of, skip_comments
from harness.models.text_tools.source import Ends, Region, Source

JSON_TAGS = frozenset(
    {*("", "json", "jsonc", "json5", "tool_call", "tool_calls", "function_call", "tool_code")}
)
NO_CODE = JSON_TAGS - {""} | {"bash", "sh", "shell", "console", "output"}
"""Tags of blocks that are never the code of a call beside them."""

OPENING = (
    r"```(?P<json>json|tool_calls?|function_call|tool_code)[ \t]*(?=[\r\n{\[])"
    r"|^(?P<indent>[ \t>]*)(?P<marks>`{3,}|~{3,})(?P<tag>[^\n`]*)$"
)

_INNER = re.compile(r"\s*+(?P<marks>`{3,}+|~{3,}+)[ \t]*+\w[^\n`]*+$", re.MULTILINE)
"""The opening of a block at the beginning of another one."""
_CLOSING = re.compile(r"^[ \t>]*(`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE)
_CLOSING_JSON = re.compile(  # also `{…}```, and any fence at the start of a line: JSON has none
    r"^[ \t>]*+(?P<first>`{3,}+|~{3,}+)|(?<![`~])(?P<last>`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE
)


def fenced(source: Source, match: re.Match[str]) -> Block:
    """Read a fenced block: up to a fence at least as long, or the end of the text."""
    marks, tag = match["marks"] or "```", match["json"] or _first_word(match["tag"] or "")
    name = tool_name(tag, source.known)
    if tag not in JSON_TAGS and name in source.known:
        return _of_tool(source, match, name, marks)
    ends = _ends_of_json(marks) if tag in JSON_TAGS else _ends_of_text(marks)
    begin = source.skip_blank(match.end())
    if tag in JSON_TAGS and source.text[begin : begin + 2] in {"//", "/*"}:
        begin = skip_comments(source.text, begin)
    calls, end = _calls(source, begin, ends, tag)
    if calls:
        return Block(match.start(), end, calls)
    text, region = source.text_until(match.end(), _ends_of_text(marks), code=True)
    whole = tag not in NO_CODE and (region.closed or not source.cut_off)
    code = _lines(text, match["indent"]) if whole else None
    return Block(match.start(), max(region.after, end), (), code)


def _calls(source: Source, at: int, ends: Ends, tag: str) -> tuple[tuple[ParsedCall, ...], int]:
    """Return the calls in a block, and where the text goes on after it."""
    letter = source.text[at : at + 1]
    calls: tuple[ParsedCall, ...] = ()
    end = at
    if letter and letter in "{[":
        calls, end = source.json_calls(at, ends)
        region = source.regions(end, ends)[0]
        if calls and tag not in JSON_TAGS and not _all_of(source, calls, end, region):
            calls = ()
        elif calls and source.text[at:end].rstrip()[-1:] not in {"`", "~"}:
            end = region.after if region.closed else end
    if not calls and end == at:
        calls, end = python_calls.only_calls(source, at, ends)
    return calls, end


def _all_of(source: Source, calls: tuple[ParsedCall, ...], end: int, region: Region) -> bool:
    """Return whether calls are all that a block of code holds."""
    known = all(call.name in source.known for call in calls)
    return known and (end == region.after or not source.text[end : region.stop].strip())


def _of_tool(source: Source, match: re.Match[str], name: str, marks: str) -> Block:
    """Read a block that is tagged with a tool's name: its one text, or its arguments as JSON.

    The text may stand in a block of its own within it.
    """
    inner = _INNER.match(source.text, match.end())
    begin, inner_marks = (match.end(), marks) if inner is None else (inner.end(), inner["marks"])
    text, region = source.text_until(begin, _ends_of_text(inner_marks), code=True)
    text = _lines(text, match["indent"])
    tool = source.known[name]
    end = region.after if inner is None else source.past(region.after, _ends_of_text(marks))
    block = Block(match.start(), end)
    try:
        arguments = fields_of(read_object(text, None, End.CUT_OFF) if text.strip() else {})
    except Unreadable:
        arguments = None
    takes_these = arguments is not None and arguments.keys() <= properties_of(tool).keys()
    if takes_these and (text.strip() or tool.sole_text is None):
        return block._replace(calls=(ParsedCall(name, text_of(arguments)),))
    call = with_text(name, text, source.known)
    if call is None:
        return block
    if source.cut_off and not region.closed:
        call = ParsedCall(name, call.arguments[:-2])
    return block._replace(calls=(call,))


def _lines(text: str, indent: str | None) -> str:
    """Return a block's lines without the indentation of its fence."""
    text = text.removeprefix("\r").removeprefix("\n")
    return re.sub(rf"^{re.escape(indent)}", "", text, flags=re.MULTILINE) if indent else text


def _ends_of_text(marks: str) -> Ends:
    def ends(text: str, at: int, stop: int) -> Iterator[Region]:
        for match in _CLOSING.finditer(text, at, stop):
            if match[1].startswith(marks):
                yield Region(match.start(), match.end())

    return ends


def _ends_of_json(marks: str) -> Ends:
    """Return the ends of a block of JSON, which may also be the beginning of the next one."""

    def ends(text: str, at: int, stop: int) -> Iterator[Region]:
        for match in _CLOSING_JSON.finditer(text, at, stop):
            run = match["first"] or match["last"]
            begins = match.end() - len(run)
            if not run.startswith(marks):
                continue
            if match["last"]:
                yield Region(match.start(), match.end())
            elif len(run) >= 2 * len(marks):  # the next block opens at once
                yield Region(begins, begins + len(marks))
            elif text[match.end() : match.end() + 1].isalpha():  # unclosed: the next begins
                yield Region(match.start(), match.start())
            else:
                yield Region(match.start(), match.end())

    return ends


def _first_word(info: str) -> str:
    return next(iter(info.split()), "").strip("{}.").lower()
