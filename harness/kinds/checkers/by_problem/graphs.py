"""Checkers of programs that answer about a graph."""

from collections.abc import Sequence

from harness.kinds.checkers.by_problem.layout import integers, is_minus_one, lines_of, says

_XOR_MOST = 2**60 - 1
_LANE = 20  # bits of a counter
_BITS = 30  # of the largest number that a sequence of least sum can hold
_GUARD = sum(1 << (_LANE * bit + _LANE - 1) for bit in range(_BITS))
_ONES = sum(1 << (_LANE * bit) for bit in range(_BITS))
_SPREAD = [sum((number >> bit & 1) << (_LANE * bit) for bit in range(10)) for number in range(1024)]
"""Each number below 1,024 with its bits `_LANE` apart, so that sums count them."""


def reading_order(given: str, _expected: str, answer: str) -> bool:
    """abc315_e: the books that book 1 needs, and no others, each after those that it needs."""
    rows = [[int(word) for word in line.split()] for line in given.strip().split("\n")]
    needs = [[], *(row[1:] for row in rows[1:])]
    needed, waiting = {1}, [1]
    while waiting:
        for book in needs[waiting.pop()]:
            if book not in needed:
                needed.add(book)
                waiting.append(book)
    lines = lines_of(answer, 1)
    order = integers(lines[0], len(needed) - 1) if len(lines) == 1 else None
    if order is None:
        return False
    place = {book: at for at, book in enumerate(order)}
    if place.keys() != needed - {1}:
        return False
    return all(place[before] < at for book, at in place.items() for before in needs[book])


def xor_of_neighbours(given: str, expected: str, answer: str) -> bool:
    """abc366_g: a number from 1 to 2^60 - 1 a vertex; those around a vertex XOR to 0; or No."""
    if says("No", answer):
        return says("No", expected)
    count, _, *ends = map(int, given.split())
    head, *rest = lines_of(answer, 2)
    numbers = integers(rest[0], count, _XOR_MOST) if len(rest) == 1 else None
    if head != "Yes" or numbers is None or min(numbers) < 1:
        return False
    around = [0] * count
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        around[a - 1] ^= numbers[b - 1]
        around[b - 1] ^= numbers[a - 1]
    return not any(around)


def confused_villagers(given: str, expected: str, answer: str) -> bool:
    """arc188_c: a 0 or 1 a villager, such that no testimony contradicts another; or -1."""
    count, _, *testimonies = map(int, given.split())
    confused = answer.strip()
    if is_minus_one(confused):
        return is_minus_one(expected)
    if len(confused) != count or not {"0", "1"}.issuperset(confused):
        return False
    differ: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for a, b, said in zip(testimonies[::3], testimonies[1::3], testimonies[2::3], strict=True):
        unlike = said ^ (confused[a - 1] == "1")
        differ[a - 1].append((b - 1, unlike))
        differ[b - 1].append((a - 1, unlike))
    liar: list[int | None] = [None] * count
    for first in range(count):
        if liar[first] is not None:
            continue
        liar[first] = 0
        waiting = [first]
        while waiting:
            one = waiting.pop()
            for other, unlike in differ[one]:
                wanted = (liar[one] or 0) ^ unlike
                if liar[other] is None:
                    liar[other] = wanted
                    waiting.append(other)
                elif liar[other] != wanted:
                    return False
    return True


def least_xor_sequence(given: str, expected: str, answer: str) -> bool:
    """abc396_e: a sequence of least sum whose pairs have the XOR that is given; or -1.

    The sum is least if, in each connected part, each bit is set in at most half of the numbers:
    else flipping the bit in the whole part makes the sum smaller.
    """
    if is_minus_one(answer):
        return is_minus_one(expected)
    count, _, *rows = map(int, given.split())
    lines = lines_of(answer, 1)
    numbers = integers(lines[0], count, 2**_BITS - 1) if len(lines) == 1 else None
    if numbers is None or min(numbers) < 0:
        return False
    around: list[list[int]] = [[] for _ in range(count)]
    for x, y, xor in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        if numbers[x - 1] ^ numbers[y - 1] != xor:
            return False
        around[x - 1].append(y - 1)
        around[y - 1].append(x - 1)
    return all(_is_least([numbers[at] for at in part]) for part in _parts(around))


def _parts(around: Sequence[Sequence[int]]) -> list[list[int]]:
    """The connected parts of a graph."""
    seen = [False] * len(around)
    parts: list[list[int]] = []
    for first in range(len(around)):
        if not seen[first]:
            seen[first] = True
            part = [first]
            for one in part:
                for other in around[one]:
                    if not seen[other]:
                        seen[other] = True
                        part.append(other)
            parts.append(part)
    return parts


def _is_least(numbers: Sequence[int]) -> bool:
    """Whether each bit is set in at most half of the numbers, all bits counted at once."""
    half = len(numbers) // 2
    counts = sum(_SPREAD[number & 1023] for number in numbers)
    counts += sum(_SPREAD[number >> 10 & 1023] for number in numbers) << (10 * _LANE)
    counts += sum(_SPREAD[number >> 20] for number in numbers) << (20 * _LANE)
    return (_GUARD + half * _ONES - counts) & _GUARD == _GUARD
