"""How the checkers of programs read a printed answer: lines, and the integers in them.

The rule `lcb` reads answers in the same way: the text and its lines are stripped, the number of
lines must be right, and a number may be written in any way that a decimal can: 3.0 is 3.
"""

from decimal import Decimal, InvalidOperation

BILLION = 10**9


def lines_of(text: str, most: int) -> list[str]:
    """Return the lines of a text, at least one; at most one line more than `most`."""
    return [line.strip() for line in text.strip().split("\n", most)]


def integers(line: str, count: int, largest: int = BILLION) -> list[int] | None:
    """Return the integers of a line that has `count` of them and nothing else."""
    tokens = line.split(None, count)
    numbers = [number for token in tokens if (number := integer(token, largest)) is not None]
    return numbers if len(numbers) == len(tokens) == count else None


def integer(token: str, largest: int = BILLION) -> int | None:
    """Return the integer that a text is; None for one that is further than `largest` from 0."""
    try:
        number = Decimal(token)
    except InvalidOperation:
        return None
    if not number.is_finite() or not -largest <= number <= largest:
        return None
    whole = int(number)
    return whole if whole == number else None


def says(word: str, answer: str) -> bool:
    """Return whether an answer is one word, such as No, and nothing else."""
    return answer.strip() == word


def is_minus_one(text: str) -> bool:
    """Return whether a text is the number -1."""
    return integer(text) == -1
