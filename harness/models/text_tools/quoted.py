"""The text between quotes, where a call cannot be repaired as JSON.

A model that writes code into a string without escaping its quotes writes no JSON; but a tool with
one text argument leaves no doubt: its value stands between the first quote after the key and the
last one before the closing brackets. How it is unescaped, and whether three quotes belong to the
code, is decided by what is source code, Python or C++.
"""

import re
from collections.abc import Iterator
from typing import Any

from harness.models.text_tools.repair import is_source, strict_value, unescaped

MOST_FURTHER = 3  # arguments after the text

_OPENING = re.compile(r"\s*+(\"\"\"|'''|[\"'`])")
_CLOSERS = " \t\r\n}]),;"
_FURTHER = re.compile(
    r",\s*+\"(?P<key>\w{1,100})\"\s*+:\s*+(?P<value>\"[^\"\n\\]{0,1000}\"|[\w.-]{1,100})\s*+\Z"
)
_ESCAPED_END = re.compile(r"(?<!\\)\\(?:\\\\)*+[\"'`]\Z")
_LONGEST_FURTHER = 1_200


def between_quotes(
    text: str, key: str, *, at: int | None = None, closed: bool = True
) -> dict[str, Any] | None:
    """Return the arguments of a call whose text is between quotes.

    Args:
        text: the call up to its end.
        key: name of the argument.
        at: where its value begins; by default after the key.
        closed: whether a marker says that the call ends there. If not, the text must be source
            code, since it may have broken off.

    Returns:
        The argument and those after it; None if the text has no beginning or no end.
    """
    if at is None:
        named = re.search(rf"[\"'`]?\b{re.escape(key)}[\"'`]?\s*+[:=]", text)
        if named is None:
            return None
        at = named.end()
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    first: dict[str, Any] | None = None
    further: dict[str, Any] = {}
    rest = text
    for _ in range(MOST_FURTHER + 1):
        rest = rest.rstrip(_CLOSERS)
        bodies = _decoded(rest, opening)
        for body in bodies:
            if first is None and closed:
                first = {key: body, **further}
            if is_source(body):
                return {key: body, **further}
        after = _FURTHER.search(rest, max(opening.end(), len(rest) - _LONGEST_FURTHER))
        if after is None:
            break
        value = strict_value(after["value"])
        further[after["key"]] = after["value"] if value is None else value.value
        rest = rest[: after.start()]
        first = None
    return (_unclosed(text, opening, key) or first) if closed else None


def _unclosed(text: str, opening: re.Match[str], key: str) -> dict[str, Any] | None:
    """Return the argument where a marker ends the call before any quote does.

    Raw lines only: the model left JSON behind. They must be source code.
    """
    body = text[opening.end() :]
    return {key: body} if "\n" in body.strip() and is_source(body) else None


def _decoded(text: str, opening: re.Match[str]) -> Iterator[str]:
    """Yield what the text may be, the likeliest first."""
    triple = len(opening[1]) > 1
    for begin, end in _bounds(text, opening):
        body = text[begin:end]
        plain = unescaped(body)
        yield from (body, plain) if triple or "\n" in body else (plain, body)


def _bounds(text: str, opening: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield where the text may begin and end; its end may be a docstring's, too."""
    quote, begin, end = opening[1][0], opening.start(1), len(text)
    if not text.endswith(quote) or end <= opening.end() or _ESCAPED_END.search(text, begin):
        return
    longest = 3 if text.endswith(quote * 3) and end - 3 >= opening.end() else 1
    if len(opening[1]) > 1:
        pairs = ((3, 3), (3, 0), (1, 1)) if longest > 1 else ((3, 1), (1, 1), (3, 0))
    else:
        pairs = ((1, 1), (1, 3), (1, 0)) if longest > 1 else ((1, 1),)
    for before, after in pairs:
        if begin + before <= end - after:
            yield begin + before, end - after
