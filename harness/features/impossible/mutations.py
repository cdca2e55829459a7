"""Typed changes of an expected output: a number, an order, a letter, a truth value.

A change touches one or two tokens and keeps the rest of the text, so that the output looks as
before. Only exact tokens are changed: integers, words, `true` and `false`. Floats stay, since a
right answer may differ from them.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import NamedTuple

LONGEST = 800
"""Characters of an output that is changed: as much of it as a failed test shows."""
MOST_DIGITS = 30

TRUTHS = {
    pair[place]: pair[1 - place]
    for word in (("yes", "no"), ("true", "false"), ("possible", "impossible"))
    for pair in (word, tuple(map(str.capitalize, word)), tuple(map(str.upper, word)))
    for place in (0, 1)
}
"""Words for a truth value, and their opposites."""

_JSON = re.compile(
    r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[\[\]{}]'
)
_PRINTED = re.compile(r"\S+")
_INTEGER = re.compile(rf"-?\d{{1,{MOST_DIGITS}}}")
_WORD = re.compile(r"[A-Za-z]+")
_PLAIN = re.compile(r'"[A-Za-z0-9 ]*"')
_EXACT = (_INTEGER, _WORD, _PLAIN)
_SIDE_BY_SIDE = re.compile(r"[ \t]*,?[ \t]*")


class Mutant(NamedTuple):
    """A changed output, and what was changed: `number`, `order`, `letter` or `truth`."""

    mutation: str
    output: str


class _Token(NamedTuple):
    start: int
    end: int
    text: str


def mutants(output: str, random: Random, *, functional: bool) -> list[Mutant]:
    """Return all changes of an output, in random order, the kinds taking turns.

    Args:
        output: the expected output: JSON for a function, else the text that is printed.
        random: the order.
        functional: whether it is that of a function.
    """
    if len(output) > LONGEST:
        return []
    tokens = list(_json_tokens(output) if functional else _printed_tokens(output))
    changed = [*_single(output, tokens, random), *_orders(output, tokens)]
    random.shuffle(changed)
    by_kind: dict[str, list[Mutant]] = {}
    for each in dict.fromkeys(changed):
        by_kind.setdefault(each.mutation, []).append(each)
    most = max(map(len, by_kind.values()), default=0)
    return [rest[n] for n in range(most) for rest in by_kind.values() if n < len(rest)]


def _json_tokens(text: str) -> Iterator[_Token]:
    """Yield the scalars of a JSON value, without keys; nothing if it has objects."""
    if "{" in text and any(match[0] == "{" for match in _JSON.finditer(text)):
        return
    for match in _JSON.finditer(text):
        if match[0] not in {"[", "]", "null"}:
            yield _Token(match.start(), match.end(), match[0])


def _printed_tokens(text: str) -> Iterator[_Token]:
    for match in _PRINTED.finditer(text):
        yield _Token(match.start(), match.end(), match[0])


def _single(text: str, tokens: list[_Token], random: Random) -> Iterator[Mutant]:
    for token in tokens:
        for mutation, changed in _changes(token.text, random):
            yield Mutant(mutation, text[: token.start] + changed + text[token.end :])


def _changes(token: str, random: Random) -> Iterator[tuple[str, str]]:
    """Yield the changes of one token."""
    quoted = token.startswith('"') and token.endswith('"') and len(token) > 1
    inner = token[1:-1] if quoted else token
    mark = '"' if quoted else ""
    if inner in TRUTHS:
        yield "truth", mark + TRUTHS[inner] + mark
    elif _INTEGER.fullmatch(inner):
        step = 1 if inner.lstrip("-").strip("0") == "" else random.choice((1, -1))
        changed = str(int(inner) + step)
        if str(int(inner)) == inner:  # no leading zeros
            yield "number", mark + changed + mark
    elif _WORD.fullmatch(inner) or (quoted and _PLAIN.fullmatch(token)):
        letters = [place for place, each in enumerate(inner) if each.isalpha()]
        if letters:
            place = random.choice(letters)
            changed = inner[:place] + _neighbour(inner[place]) + inner[place + 1 :]
            yield "letter", mark + changed + mark


def _neighbour(letter: str) -> str:
    """Return the next letter of the alphabet in the same case; the one before z for z."""
    return chr(ord(letter) + (-1 if letter in "zZ" else 1))


def _orders(text: str, tokens: list[_Token]) -> Iterator[Mutant]:
    """Yield the texts with two neighbours exchanged: items of a list, or tokens of a line."""
    for first, second in pairwise(tokens):
        between = text[first.end : second.start]
        if first.text == second.text or not _SIDE_BY_SIDE.fullmatch(between):
            continue
        if not _are_alike(first.text, second.text):
            continue
        swapped = second.text + between + first.text
        yield Mutant("order", text[: first.start] + swapped + text[second.end :])


def _are_alike(first: str, second: str) -> bool:
    """Whether both are integers, or words, or strings."""
    return any(each.fullmatch(first) and each.fullmatch(second) for each in _EXACT)
