"""Fenced blocks of Markdown texts: CommonMark's rules, and two that models need.

In addition, a fence may open in the first line of a list item (`1. ```python`), and at the end of
a line of text (`Assistant: ```python`) if it is the line's only fence and only a tag follows.

Texts are not trusted: nothing raises, and time is linear in a text's length.
"""

import re
import textwrap
from typing import NamedTuple

WRAPPERS = frozenset({"markdown", "md"})
UNTAGGED = frozenset({"", "code", "text", "plaintext", "plain", "solution"})
"""Tags that do not say in which language a block is."""
SHORTEST_FENCE = 3
DEEPEST_CLOSING = 3  # columns, beyond those of the opening fence
_LIST_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?=```|~~~)")
_AFTER_WORDS = re.compile(r"(`{3,})[ \t]*((?:[A-Za-z{][\w.+#{}-]{0,20})?)[ \t]*")


class FencedBlock(NamedTuple):
    """The text between two fences, without their indentation.

    Attributes:
        tag: the first word after the opening fence, in lower case.
        text: the text.
        closed: whether there is a closing fence.
    """

    tag: str
    text: str
    closed: bool


def fenced_blocks(
    text: str, *, untagged_after_words: bool = True, closed_anywhere: bool = False
) -> list[FencedBlock]:
    """Return the non-empty fenced blocks; a fence is closed by one at least as long.

    A closing fence is indented by at most three columns more than the opening one: another one
    stands in the block, as in a docstring.

    A fence tagged as Markdown opens no block: the answer is inside it. Lines end as in CommonMark,
    not at every character at which `str.splitlines` splits. Time is linear in the length of the
    text.

    Args:
        text: Markdown.
        untagged_after_words: whether an untagged fence may open at the end of a line of text.
        closed_anywhere: whether a closing fence may be indented by any number of columns.
    """
    if "```" not in text and "~~~" not in text:
        return []
    most = len(text) if closed_anywhere else DEEPEST_CLOSING
    blocks: list[FencedBlock] = []
    opening: _Fence | None = None
    inside: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        fence = _fence(line)
        if opening is None or (opening.after_words and fence and fence.tag):
            fence = fence or _fence_in_list_item(line) or _fence_after_words(line)
            if fence and (
                fence.tag in WRAPPERS or (fence.after_words and not untagged_after_words)
            ):
                fence = None
            opening, inside = fence, []
        elif (
            fence
            and not fence.tag
            and fence.marks.startswith(opening.marks)
            and _columns(fence.indent) <= _columns(opening.indent) + most
        ):
            blocks.append(_block(opening, inside, closed=True))
            opening = None
        else:
            inside.append(line)
    if opening is not None:
        blocks.append(_block(opening, inside, closed=False))
    return [block for block in blocks if block.text.strip()]


class _Fence(NamedTuple):
    """A fence.

    Attributes:
        after_words: whether it is uncertain: untagged after text. A tagged fence on its own line
            takes precedence.
    """

    indent: str
    marks: str
    tag: str
    after_words: bool = False


def _fence(line: str) -> _Fence | None:
    """Return the fence in a line, if any. Linear, unlike a pattern with repeats."""
    bare = line.lstrip(" \t>")
    mark = bare[:1]
    if not mark or mark not in "`~":
        return None
    info = bare.lstrip(mark)
    count = len(bare) - len(info)
    if count < SHORTEST_FENCE or mark in info:
        return None
    tag = (info.split() or [""])[0].strip("{}.").lower()
    return _Fence(line[: len(line) - len(bare)], mark * count, tag)


def _columns(indent: str) -> int:
    """Return the columns of a fence's indentation, behind the marks of a quotation."""
    _, quoted, after = indent.rpartition(">")
    return len((after.removeprefix(" ") if quoted else after).expandtabs(4))


def _fence_in_list_item(line: str) -> _Fence | None:
    bare = line.lstrip(" \t>")
    marker = _LIST_ITEM.match(bare)
    if marker is None:
        return None
    fence = _fence(bare[marker.end() :])
    indent = line[: len(line) - len(bare)] + " " * marker.end()
    return fence and fence._replace(indent=indent)


def _fence_after_words(line: str) -> _Fence | None:
    start = line.find("```")
    match = _AFTER_WORDS.fullmatch(line, start) if start > 0 else None
    if match is None:
        return None
    tag = match[2].strip("{}.").lower()
    return _Fence("", match[1], tag, after_words=not tag)


def _block(fence: _Fence, lines: list[str], *, closed: bool) -> FencedBlock:
    text = "\n".join(_unindented(line, fence.indent) for line in lines).strip("\n")
    if text[:1] in {" ", "\t"}:
        text = textwrap.dedent(text)
    return FencedBlock(tag=fence.tag, text=text, closed=closed)


def _unindented(line: str, indent: str) -> str:
    """Remove a fence's indentation; a blank line of a quotation may be a bare `>`."""
    return line.removeprefix(indent if line.startswith(indent) else indent.rstrip())
