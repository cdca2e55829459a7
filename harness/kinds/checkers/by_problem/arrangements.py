"""Checkers of programs that arrange numbers, letters or pieces so that some conditions hold."""

from itertools import pairwise
from math import prod

from harness.kinds.checkers.by_problem.layout import (
    BILLION,
    integer,
    integers,
    is_minus_one,
    lines_of,
)

_LONGEST_FORMULA = 1000
_DIGITS = frozenset("123456789")
_QUINTILLION = 10**18
_STEPS = {"R": 1, "B": 2}  # the squared length of a piece's move
_Point = tuple[int, int]


def spiral(given: str, _expected: str, answer: str) -> bool:
    """abc335_d: T in the middle of a grid, and from 1 on, numbers each beside the one before."""
    size = int(given)
    rows = [line.split(None, size) for line in lines_of(answer, size)]
    if len(rows) != size or any(len(row) != size for row in rows):
        return False
    if rows[size // 2][size // 2] != "T":
        return False
    places: dict[int | None, _Point] = {}
    for at, row in enumerate(rows):
        for column, token in enumerate(row):
            if (at, column) != (size // 2, size // 2):
                places[integer(token)] = at, column
    if places.keys() != {*range(1, size * size)}:
        return False
    steps = pairwise(places[number] for number in range(1, size * size))
    return all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in steps)


def palindromic_formula(given: str, expected: str, answer: str) -> bool:
    """abc363_f: a palindrome of digits from 1 to 9 and * whose value is N; or -1."""
    if is_minus_one(answer):
        return is_minus_one(expected)
    formula = answer.strip()
    if len(formula) > _LONGEST_FORMULA or formula != formula[::-1]:
        return False
    factors = formula.split("*")
    if not all(factor and _DIGITS.issuperset(factor) for factor in factors):
        return False
    return prod(map(int, factors)) == int(given)


def segments_that_do_not_cross(given: str, expected: str, answer: str) -> bool:
    """abc373_g: match points with points so that no two segments meet; or -1."""
    if is_minus_one(answer):
        return is_minus_one(expected)
    count, *numbers = map(int, given.split())
    lines = lines_of(answer, 1)
    matched = integers(lines[0], count) if len(lines) == 1 else None
    if matched is None or {*matched} != {*range(1, count + 1)}:
        return False
    points = [*zip(numbers[::2], numbers[1::2], strict=True)]
    segments = [(points[at], points[count + other - 1]) for at, other in enumerate(matched)]
    return not any(
        _turn(a, b, c) != _turn(a, b, d) and _turn(c, d, a) != _turn(c, d, b)
        for at, (a, b) in enumerate(segments)
        for c, d in segments[:at]
    )


def _turn(a: _Point, b: _Point, c: _Point) -> bool:
    """To which side of a line a point is; never on it, since no three points are on one line."""
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


def ordered_rows_and_columns(given: str, _expected: str, answer: str) -> bool:
    """arc181_c: a grid of 0 and 1 whose rows and columns are in the orders that are given."""
    count, *orders = map(int, given.split())
    rows = lines_of(answer, count)
    if len(rows) != count or any(len(row) != count for row in rows):
        return False
    if not all({"0", "1"}.issuperset(row) for row in rows):
        return False
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    in_order = (rows, orders[:count]), (columns, orders[count:])
    return all(texts[a - 1] < texts[b - 1] for texts, order in in_order for a, b in pairwise(order))


def difference_of_cubes(given: str, expected: str, answer: str) -> bool:
    """abc397_d: positive x and y with x^3 - y^3 = N; or -1."""
    if is_minus_one(answer):
        return is_minus_one(expected)
    lines = lines_of(answer, 1)
    pair = integers(lines[0], 2) if len(lines) == 1 else None
    return pair is not None and min(pair) > 0 and pair[0] ** 3 - pair[1] ** 3 == int(given)


def cheapest_cover(given: str, _expected: str, answer: str) -> bool:
    """arc190_a: cover 1 to N with the fewest intervals or outsides of intervals; or -1."""
    size, count, *ends = map(int, given.split())
    intervals = [*zip(ends[::2], ends[1::2], strict=True)]
    fewest = _fewest(size, intervals)
    head, *rest = lines_of(answer, 2)
    if fewest is None:
        return is_minus_one(head) and not rest
    chosen = integers(rest[0], count) if len(rest) == 1 else None
    if integer(head) != fewest or chosen is None or not {0, 1, 2}.issuperset(chosen):
        return False
    if count - chosen.count(0) != fewest:
        return False
    covered: list[_Point] = []
    for kind, (left, right) in zip(chosen, intervals, strict=True):
        if kind == 1:
            covered.append((left, right))
        elif kind == 2:  # noqa: PLR2004 - the operation's name
            covered += [(1, left - 1), (right + 1, size)]
    return _covers(size, covered)


def _covers(size: int, intervals: list[_Point]) -> bool:
    done = 0
    for left, right in sorted(intervals):
        if left > done + 1:
            return False
        done = max(done, right)
    return done >= size


def _fewest(size: int, intervals: list[_Point]) -> int | None:
    """How many are needed: one that is all, two, or any three if no two will do."""
    if (1, size) in intervals:
        return 1
    lefts, rights = [left for left, _ in intervals], [right for _, right in intervals]
    by_left = sorted(intervals, key=lambda each: (each[0], -each[1]))
    nested = any(a[1] >= b[1] for a, b in pairwise(by_left))
    apart = min(rights) < max(lefts)
    start = max((right for left, right in intervals if left == 1), default=0)
    end = min((left for left, right in intervals if right == size), default=size + 1)
    if nested or apart or (start and end <= size and end <= start + 1):
        return 2
    return 3 if len(intervals) > 2 else None  # noqa: PLR2004


def order_of_a_power(given: str, _expected: str, answer: str) -> bool:
    """arc191_c: for each N a pair A, M such that N is the least n with M a divisor of A^n - 1."""
    count, *cases = map(int, given.split())
    lines = lines_of(answer, count)
    if len(lines) != count:
        return False
    for number, line in zip(cases, lines, strict=True):
        pair = integers(line, 2, _QUINTILLION)
        if pair is None or min(pair) < 1:
            return False
        base, modulus = pair
        one = 1 % modulus
        if pow(base, number, modulus) != one:
            return False
        if any(pow(base, number // prime, modulus) == one for prime in _primes_of(number)):
            return False
    return True


def _primes_of(number: int) -> list[int]:
    """The primes that divide a number of at most 10^9."""
    found: list[int] = []
    for prime in _PRIMES:
        if prime * prime > number:
            break
        if number % prime == 0:
            found.append(prime)
            while number % prime == 0:
                number //= prime
    return [*found, number] if number > 1 else found


def _small_primes(most: int) -> list[int]:
    sieve = bytearray([1]) * (most + 1)
    for number in range(2, int(most**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(sieve[number * number :: number]))
    return [number for number in range(2, most + 1) if sieve[number]]


_PRIMES = _small_primes(31_623)  # the root of 10^9


def closed_walk_of_pieces(given: str, expected: str, answer: str) -> bool:
    """arc195_c: for each case, pieces in a circle, each a move of its own from the next; or No."""
    count, *cases = map(int, given.split())
    total = count + sum(cases)
    printed, known = lines_of(answer, total), lines_of(expected, total)
    at = known_at = 0
    for red, blue in zip(cases[::2], cases[1::2], strict=True):
        head = printed[at] if at < len(printed) else ""
        at += 1
        possible = known[known_at] != "No"
        known_at += 1 + (red + blue if possible else 0)
        if head == "No":
            if possible:
                return False
            continue
        pieces = printed[at : at + red + blue]
        at += red + blue
        if head != "Yes" or not _is_closed(pieces, red, blue):
            return False
    return at == len(printed)


def _is_closed(lines: list[str], red: int, blue: int) -> bool:
    kinds: list[str] = []
    places: list[_Point] = []
    for line in lines:
        kind, _, rest = line.partition(" ")
        place = integers(rest, 2)
        if place is None or kind not in _STEPS or not 1 <= min(place) <= max(place) <= BILLION:
            return False
        kinds.append(kind)
        places.append((place[0], place[1]))
    if kinds.count("R") != red or kinds.count("B") != blue or len({*places}) != red + blue:
        return False
    moves = zip(kinds, places, [*places[1:], *places[:1]], strict=True)
    return all((a - c) ** 2 + (b - d) ** 2 == _STEPS[kind] for kind, (a, b), (c, d) in moves)
