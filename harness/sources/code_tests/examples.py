"""Examples in a docstring as tests: doctests, and `name(arguments)` with its value."""

import ast
import re
import warnings
from collections.abc import Iterator

_DOCTEST = re.compile(r"^[ \t]*>>> ?(.+)\n((?:(?![ \t]*>>>)[ \t]*\S.*(?:\n|$))+)", re.MULTILINE)
_THEN = re.compile(
    r"\s*(?:==?>?|=>|➞|➡|->|→|-->|#=>|#|(?:should |will |would )?returns?:?|must be|is|gives|:)\s*"
)
_LONGEST = 2_000


def examples(text: str, entry_point: str) -> list[str]:
    """Return a function's examples in a text, as one assertion each, without repeats.

    Args:
        text: a docstring or statement.
        entry_point: name of the function.
    """
    found = [*_doctests(text, entry_point)] or [*_calls(text, entry_point)]
    return list(dict.fromkeys(found))


def _doctests(text: str, entry_point: str) -> Iterator[str]:
    for call, result in _DOCTEST.findall(text):
        value = _literal(result.strip())
        expression = _expression(call)
        if value and expression and re.search(rf"\b{re.escape(entry_point)}\(", call):
            yield f"assert {expression} == {value}"


def _calls(text: str, entry_point: str) -> Iterator[str]:
    for found in re.finditer(rf"\b{re.escape(entry_point)}\s*\(", text):
        rest = text[found.start() :][:_LONGEST]
        closed = _closed(rest)
        call = closed and _expression(closed)
        then = _THEN.match(rest, len(closed)) if call else None
        value = _literal_ahead(rest[then.end() :]) if then else ""
        if value and closed and _has_values(closed):
            yield f"assert {call} == {value}"


def _has_values(call: str) -> bool:
    """Return whether all arguments are literals."""
    parsed = ast.parse(call.strip(), mode="eval").body
    if not isinstance(parsed, ast.Call):
        return False
    arguments = [*parsed.args, *(each.value for each in parsed.keywords)]
    return all(_literal(ast.unparse(each)) for each in arguments)


def _closed(text: str) -> str:
    """Return the call at the start of a text, up to its closing bracket."""
    for place, letter in enumerate(text):
        if letter == ")" and _expression(text[: place + 1]):
            return text[: place + 1]
    return ""


def _literal_ahead(text: str) -> str:
    """Return the literal at the start of a text: the longest on its line."""
    line = text.split("\n", 1)[0]
    ends = {len(line), *(found.start() for found in re.finditer(r"\s+[#(]|[.,;]\s", line))}
    for end in sorted(ends, reverse=True):
        value = _literal(line[:end].strip().rstrip(".,;"))
        if value:
            return value
    return ""


def _expression(text: str) -> str:
    """Return an expression as normalised code; empty where the text is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.unparse(ast.parse(text.strip(), mode="eval"))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return ""


def _literal(text: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.literal_eval(text)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return ""
    return _expression(text)
