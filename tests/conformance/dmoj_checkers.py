"""DMOJ 4.1: its checkers of outputs, beside the comparison rules.

Outputs made at random are compared by both. What is checked:

- of whole numbers and words, `tokens` accepts what `standard` accepts, and nothing else where the
  lines are the same;
- `tokens` accepts the floats that `floats` accepts with 6 digits, away from the tolerance's border;
- `equality` accepts what `rstripped` accepts, once white space at the start of lines and around the
  output is gone.
"""

import random
from collections import Counter

from dmoj.checkers import floats, rstripped, standard

from harness.grading.rules import RULES

SEED, PAIRS = 11, 20_000
WORDS = ["1", "2", "12", "01", "-1", "abc", "ABC", "yes", "Yes", "nan"]
# fmt: off
FLOATS = [
    "0.5", "0.50", "0.5000001", "0.500002", "1e3", "1000.0", "1000.0001", "1000.01", "-0.0", "0.0",
    "1e-9", "2.5", "x",
]
# fmt: on
SPACES = (" ", "  ", "\t", "\n", " \n", "\r\n", "\n\n", "\n \n")


def main() -> None:
    made = random.Random(SEED)
    counts: Counter[str] = Counter()
    for _ in range(PAIRS):
        words(made, counts)
        numbers(made, counts)
        lines(made, counts)
    print(*(f"{count} {name}" for name, count in sorted(counts.items())), sep="\n")
    assert all(counts[f"{name}: accepted"] > PAIRS / 10 for name in ("words", "floats", "lines"))
    assert all(counts[f"{name}: rejected"] > PAIRS / 10 for name in ("words", "floats", "lines"))
    print("dmoj: all holds")


def words(made: random.Random, counts: Counter[str]) -> None:
    expected, printed = pair(made, WORDS)
    ours = RULES["tokens"].output(expected, printed) is None
    theirs = standard.check(printed.encode(), expected.encode())
    if shape(expected) == shape(printed):
        assert ours == theirs, (expected, printed, ours, theirs)
        counts[f"words: {'accepted' if ours else 'rejected'}"] += 1
    else:
        assert not theirs, (expected, printed)
        counts["words: other lines"] += 1


def numbers(made: random.Random, counts: Counter[str]) -> None:
    expected, printed = pair(made, FLOATS)
    ours = RULES["tokens"].output(expected, printed) is None
    theirs = floats.check(stripped(printed), stripped(expected), precision=6)
    if shape(expected) == shape(printed):
        assert ours == theirs, (expected, printed, ours, theirs)
        counts[f"floats: {'accepted' if ours else 'rejected'}"] += 1


def lines(made: random.Random, counts: Counter[str]) -> None:
    expected, printed = pair(made, WORDS)
    ours = RULES["equality"].output(expected, printed) is None
    theirs = bool(rstripped.check(stripped(printed), stripped(expected)))
    assert ours == theirs, (expected, printed, ours, theirs)
    counts[f"lines: {'accepted' if ours else 'rejected'}"] += 1


def pair(made: random.Random, among: list[str]) -> tuple[str, str]:
    """Return an expected output, and one that is equal, nearly so, or not at all."""
    expected = "".join(
        made.choice(among) + made.choice(SPACES) for _ in range(1 + made.randrange(4))
    )
    kind = made.random()
    if kind < 0.4:
        return expected, expected.replace(" ", made.choice((" ", "  ", "\t"))) + made.choice(SPACES)
    if kind < 0.5:
        return expected, made.choice((" ", "\n")).join(expected.split())
    pieces = expected.split(" ")
    at = made.randrange(len(pieces))
    pieces[at] = made.choice(among) + ("\n" if pieces[at].endswith("\n") else "")
    return expected, " ".join(pieces)


def shape(text: str) -> list[int]:
    """Return the number of words of each line that has some."""
    return [count for line in text.split("\n") if (count := len(line.split()))]


def stripped(text: str) -> bytes:
    """Return a text without white space around it and around its lines."""
    return "\n".join(line.strip() for line in text.strip().split("\n")).encode()


if __name__ == "__main__":
    main()
