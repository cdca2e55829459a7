"""Calls written as Python: `write_solution(code="…")`, alone, in a list, or within `print`."""

import ast
import re
from typing import Any, cast

from harness.models.text_tools.arguments import End
from harness.models.text_tools.calls import (
    MOST_CALLS,
    Known,
    ParsedCall,
    properties_of,
    text_of,
    tool_name,
)
from harness.models.text_tools.quoted import between_quotes
from harness.models.text_tools.repair import likeliest
from harness.models.text_tools.source import Ends, Source
from harness.python_source import UNREADABLE, parse_expression_or_none, read_literal

LONGEST_CALL = 1 << 18

_NAME = re.compile(r"([A-Za-z_][\w.]{0,100}?)(?:\.call)?\s*+\(")
_TOKEN = re.compile(  # lazy: before 3.11.5 a possessive group that looks ahead is read wrong
    r'(?P<closed>"""(?:[^\\]|\\.)*?"""'
    r"|'''(?:[^\\]|\\.)*?'''"
    r"|(?!\"\"\"|''')(?:\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'))"
    r"|(?P<open>[\"'])|[()\[\]{}]|#[^\n]*+",
    re.DOTALL,
)
_BEGINS = re.compile(r"[\s\[]*+[A-Za-z_][\w.]{0,100}\s*+\(")
_BETWEEN = re.compile(r"[\s,;\])]*+")
_AS_WRITTEN = re.compile(r"(?<!\\)\\(?:\\\\)*+[^\\\"'\n]")
_ENDED = re.compile(r"[ \t\r]*+(?:\Z|\n[ \t\r]*+(?:\n|\Z)|\n(?=\w{1,100}\())")
_OPENS = re.compile(r"[\s\[]*+(?:print\s*+\(\s*+)?")


def only_calls(source: Source, at: int, ends: Ends) -> tuple[tuple[ParsedCall, ...], int]:
    """Return the calls that a body consists of, and where the text goes on; none if of others."""
    if _BEGINS.match(source.text, at) is None:
        return (), at
    calls, end = _calls_at(source, at, len(source.text))
    after = source.past(end, ends)
    if calls and (after > end or not source.text[end:].strip()):
        return calls, after
    quoted = source.first_read(at, ends, lambda text, end: _quoted(text, source.known, end))
    return ((quoted[0],), quoted[1].after) if quoted else ((), at)


def paragraph(source: Source, at: int) -> tuple[tuple[ParsedCall, ...], int]:
    """Return the calls that begin a line, and their end, if only a blank line follows them."""
    calls, end = _calls_at(source, at, len(source.text))
    if calls and _ENDED.match(source.text, end):
        return calls, end
    may_read = source.may_repair(len(source.text) - at)
    end = End.CUT_OFF if source.cut_off or not may_read else End.OPEN
    quoted = _quoted(source.text[at:], source.known, end)
    return ((quoted,), len(source.text)) if quoted else ((), at)


def _calls_at(source: Source, at: int, stop: int) -> tuple[tuple[ParsedCall, ...], int]:
    """Return the calls of known tools that begin at a place, and where they end."""
    calls: list[ParsedCall] = []
    end, text = at, source.text
    while len(calls) < MOST_CALLS:
        opening = _OPENS.match(text, at, stop)
        match = _NAME.match(text, at if opening is None else opening.end(), stop)
        name = "" if match is None else tool_name(match[1], source.known)
        if match is None or name not in source.known:
            break
        last = min(stop, match.end() + LONGEST_CALL)
        closing = _closing(text, match.end() - 1, last)
        if not source.may_repair((closing or last) - match.end()) or closing is None:
            break
        call = _call(name, text[match.end() - 1 : closing], source.known)
        if call is None:
            break
        calls.append(call)
        between = _BETWEEN.match(text, closing, stop)
        at = closing if between is None else between.end()
        end = closing + len(text[closing:at].rstrip())
    return tuple(calls), end


def _closing(text: str, at: int, stop: int) -> int | None:
    """Return the end of the bracket that opens at a place; None if it is not closed."""
    depth = 0
    for match in _TOKEN.finditer(text, at, stop):
        if match["open"]:
            return None
        if match["closed"]:
            continue
        if match[0][0] == "#":
            continue
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.end()
    return None


def _call(name: str, written: str, known: Known) -> ParsedCall | None:
    """Return the call of a tool with its written arguments; None unless they are literals."""
    node = parse_expression_or_none(f"f{written}")
    if not isinstance(node, ast.Call):
        return None
    tool, source = known[name], f"f{written}"
    keys = [*properties_of(tool)]
    values = [(key, value) for key, value in zip(keys, node.args, strict=False)]
    values += [(each.arg or "", each.value) for each in node.keywords]
    if len(node.args) > len(keys):
        return None
    try:
        arguments: dict[str, Any] = {
            key: read_literal(f"({ast.get_source_segment(source, value)})") for key, value in values
        }
    except (*UNREADABLE, TypeError):
        return None
    key = tool.sole_text
    for each, value in values:
        if each == key and isinstance(arguments[each], str):
            arguments[each] = _text(arguments[each], value, source)
    if len(arguments) == 1 and isinstance(arguments.get(""), dict):  # f(**{…})
        arguments = cast("dict[str, Any]", arguments[""])
    try:
        return ParsedCall(name, text_of(arguments))
    except (TypeError, ValueError):  # bytes, sets and other values that JSON lacks
        return None


def _text(value: str, node: ast.expr, source: str) -> str:
    r"""Return a text; code between triple quotes is often meant as it is written.

    A backslash that is not doubled says so: `print("a\n")` would be broken otherwise.
    """
    written = ast.get_source_segment(source, node) or ""
    if written[:3] not in {'"""', "'''"}:
        return value
    body = written[3:-3]
    return likeliest(body, value) if _AS_WRITTEN.search(body) else likeliest(value, body)


def _quoted(text: str, known: Known, end: End) -> ParsedCall | None:
    """Return the call whose text stands between the first quote and the last one."""
    if end is End.CUT_OFF:
        return None
    opening = _OPENS.match(text)
    match = _NAME.match(text, 0 if opening is None else opening.end())
    name = "" if match is None else tool_name(match[1], known)
    key = known[name].sole_text if name in known else None
    if match is None or key is None or not text.rstrip(" \t\r\n;]").endswith(")"):
        return None
    keyword = re.compile(rf"\s*+(?:{re.escape(key)}\s*+=)?").match(text, match.end())
    at = match.end() if keyword is None else keyword.end()
    arguments = between_quotes(text, key, at=at, closed=end is End.MARKED)
    return None if arguments is None else ParsedCall(name, text_of(arguments))
