"""The changes between two programs, as lines."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from harness.text import printable

MOST_LINES = 1_000
"""Most lines of each program that is compared."""


LONGEST_COMPARED = 60_000


CONTEXT = 3


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference.

    Attributes:
        kind: `same`, `added`, `removed`, or `gap` for omitted lines.
        number: line number in the newer program; None if it is not in it.
    """

    kind: str
    number: int | None
    text: str


def difference(old: str, new: str) -> tuple[DiffLine, ...] | None:
    """Return the changes between two programs, with a few lines of context.

    Returns:
        The lines; None if the programs are too long to compare, empty if they are the same.
    """
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return None
    before, after = printable(old).split("\n"), printable(new).split("\n")
    if max(len(before), len(after)) > MOST_LINES:
        return None
    return tuple(_lines(before, after))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, before, after)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            yield DiffLine("gap", None, "⋯")
        for word, old_from, old_to, new_from, new_to in group:
            if word == "equal":
                for at in range(new_from, new_to):
                    yield DiffLine("same", at + 1, after[at])
                continue
            for at in range(old_from, old_to):
                yield DiffLine("removed", None, before[at])
            for at in range(new_from, new_to):
                yield DiffLine("added", at + 1, after[at])
