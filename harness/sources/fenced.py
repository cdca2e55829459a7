"""Code in fenced blocks of Markdown, by its language.

Rows are hostile: nothing raises, and time is linear in a text's length.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?P<word>[\w+]*)[^\n]*\n", re.MULTILINE)
_FENCE_END = re.compile(r"^[ \t]*```", re.MULTILINE)
WORDS = {
    "python": frozenset({"python", "python3", "py"}),
    "java": frozenset({"java"}),
    "c++": frozenset({"c++", "cpp", "cc", "cxx"}),
    "javascript": frozenset({"javascript", "js"}),
}
"""A language's name here, and the words that say it after a fence, in lower case."""


def code_of(text: str, language: str) -> str:
    """The first fenced block that says a language, or the first that says no other known one.

    Args:
        text: prose with code in it.
        language: one of `WORDS`.

    Returns:
        The code; nothing where there is none. A block whose end is missing ends with the text.
    """
    blocks = list(_blocks(text))
    words = WORDS[language]
    others = frozenset[str]().union(*WORDS.values()) - words
    said = (code for word, code in blocks if word in words)
    unsaid = (code for word, code in blocks if word not in others)
    return next(said, None) or next(unsaid, "")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while opening := _FENCE.search(text, position):
        closing = _FENCE_END.search(text, opening.end())
        end = closing.start() if closing else len(text)
        yield opening["word"].lower(), text[opening.end() : end]
        position = closing.end() if closing else len(text)
