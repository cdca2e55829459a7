"""The fenced blocks of each language in a text that shows a solution in several."""

import re
from collections.abc import Iterator

from harness.languages.known import LANGUAGES

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?P<word>[\w+]*)[^\n]*\n", re.MULTILINE)
_FENCE_END = re.compile(r"^[ \t]*```", re.MULTILINE)
_KNOWN = {own.title.lower(): frozenset(own.fences) for own in LANGUAGES.values()}
WORDS = {
    "python": _KNOWN["python"],
    "java": frozenset({"java"}),
    "c++": _KNOWN["c++"],
    "javascript": frozenset({"javascript", "js"}),
}
"""Names of each language after a fence, in lower case."""


def code_of(text: str, language: str) -> str:
    """Return the first fenced block of a language, or of no other known one.

    Args:
        text: prose with code in it.
        language: a key of `WORDS`.

    Returns:
        The code; empty if there is none. An unclosed block ends with the text.
    """
    blocks = list(_blocks(text))
    words = WORDS[language]
    others = frozenset[str]().union(*WORDS.values()) - words
    codes = (code for word, code in blocks if word in words)
    unsaid = (code for word, code in blocks if word not in others)
    return next(codes, None) or next(unsaid, "")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while opening := _FENCE.search(text, position):
        closing = _FENCE_END.search(text, opening.end())
        end = closing.start() if closing else len(text)
        yield opening["word"].lower(), text[opening.end() : end]
        position = closing.end() if closing else len(text)
