"""Whether a text may be a whole C++ source: by its brackets and quotes, without a compiler."""

import re

LONGEST = 256_000  # characters
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_DECLARES = re.compile(r"\bmain\s*+\(|\b(?:class|struct)\s++Solution\b")
_NEXT = re.compile(r"//|/\*|R\"[^()\\\s\"]{0,16}\(|[\"'(){}\[\]\\]")
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*+{quote}") for quote in "\"'"}
_OPENING = {")": "(", "]": "[", "}": "{"}


def may_be_cpp(text: str) -> bool:
    """Return whether a text has a program or a solution's class, and all that it opens is closed.

    A backslash stands only in literals, in comments and at the end of a line.
    """
    if len(text) > LONGEST or _DECLARES.search(text) is None:
        return False
    opened: list[str] = []
    at: int | None = 0
    while at is not None and (match := _NEXT.search(text, at)) is not None:
        mark = match[0]
        if mark in _OPENING.values():
            opened.append(mark)
        elif mark in _OPENING and (not opened or opened.pop() != _OPENING[mark]):
            return False
        at = _after(text, mark, match)
    return at is not None and not opened


def from_include(text: str) -> str:
    """Return the text from the first line with `#include` to the last closing brace."""
    begin = _INCLUDE.search(text)
    return "" if begin is None else text[begin.start() : text.rfind("}") + 1]


def _after(text: str, mark: str, match: re.Match[str]) -> int | None:
    """Return where the text goes on after a mark; None where that is never closed."""
    at, end = match.end(), -1
    if mark == "//":
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if mark == "/*":
        closing = "*/"
    elif mark[0] == "R":
        closing = f'){mark[2:-1]}"'
    elif mark == "\\":
        return at if text[at : at + 1] in {"\n", "\r"} else None
    elif mark == '"' or (mark == "'" and not _is_separator(text, at)):
        quoted = _QUOTED[mark].match(text, at)
        return None if quoted is None else quoted.end()
    else:
        return at
    end = text.find(closing, at)
    return None if end < 0 else end + len(closing)


def _is_separator(text: str, after: int) -> bool:
    """Whether a quote stands between the digits of a number."""
    before = re.search(r"\b[0-9][0-9A-Fa-fxX']*\Z", text[max(0, after - 40) : after - 1])
    return before is not None and text[after : after + 1].isalnum()
