"""Checkers of programs: LiveCodeBench's own list of problems that accept several answers.

Each function, here and in the other modules for programs, takes the test's input, the output in the
data, and what was printed, and returns whether the answer is right. It uses the data's output only
to know that a test has no answer. Time and memory are near linear in the sizes of the three,
whatever was printed, and no answer makes a function raise.
"""

from collections import Counter
from itertools import combinations

from harness.kinds.checkers.by_problem.layout import integer, integers, lines_of

_EDGE = 7
_FARTHEST = 100


def directed_cycle(given: str, _expected: str, answer: str) -> bool:
    """abc311_c: a cycle of at least two vertices, none twice, of a graph of one edge a vertex."""
    count, *targets = map(int, given.split())
    first, *rest = lines_of(answer, 2)
    length = integer(first)
    if length is None or not 1 < length <= count or len(rest) != 1:
        return False
    cycle = integers(rest[0], length)
    if cycle is None or min(cycle) < 1 or max(cycle) > count or len(set(cycle)) != length:
        return False
    following = [*cycle[1:], cycle[0]]
    return all(targets[a - 1] == b for a, b in zip(cycle, following, strict=True))


def letters_in_a_grid(given: str, expected: str, answer: str) -> bool:
    """abc326_d: A, B and C once in each row and column, with the first ones given; or No."""
    if answer.strip() == "No":
        return expected.strip() == "No"
    size, first_of_rows, first_of_columns = given.split()
    head, *rows = lines_of(answer, int(size) + 1)
    if head != "Yes" or len(rows) != int(size) or any(len(row) != int(size) for row in rows):
        return False
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    return _holds_letters(rows, first_of_rows) and _holds_letters(columns, first_of_columns)


def _holds_letters(lines: list[str], firsts: str) -> bool:
    letters = [line.replace(".", "") for line in lines]
    once_each = all(sorted(each) == ["A", "B", "C"] for each in letters)
    return once_each and "".join(each[0] for each in letters) == firsts


def fewest_potions(given: str, _expected: str, answer: str) -> bool:
    """abc333_e: potions to pick up such that no monster wins and least are held at once; or -1.

    The expected output is not asked: that of the third public test loses to a monster.
    """
    _, *numbers = map(int, given.split())
    events = list(zip(numbers[::2], numbers[1::2], strict=True))
    fewest = _most_held(events, _latest(events))
    if fewest is None:
        return integer(answer) == -1
    first, *rest = lines_of(answer, 2)
    if integer(first) != fewest or len(rest) != 1:
        return False
    actions = integers(rest[0], sum(kind == 1 for kind, _ in events))
    if actions is None or not {0, 1}.issuperset(actions):
        return False
    return _most_held(events, actions) == fewest


def _latest(events: list[tuple[int, int]]) -> list[int]:
    """The actions that pick each potion up as late as can be: none hold fewer at any time."""
    needed: Counter[int] = Counter()
    actions: list[int] = []
    for kind, potion in reversed(events):
        if kind == 1:
            actions.append(int(needed[potion] > 0))
            needed[potion] -= actions[-1]
        else:
            needed[potion] += 1
    return actions[::-1]


def _most_held(events: list[tuple[int, int]], actions: list[int]) -> int | None:
    """How many potions are held at once at the most; None where a monster wins."""
    picks = iter(actions)
    stock: Counter[int] = Counter()
    held = most = 0
    for kind, potion in events:
        change = next(picks) if kind == 1 else -1
        stock[potion] += change
        held += change
        most = max(most, held)
        if stock[potion] < 0:
            return None
    return most


def not_the_sum(given: str, _expected: str, answer: str) -> bool:
    """abc343_a: an integer from 0 to 9 that is not A + B."""
    number = integer(answer)
    return number in range(10) and number != sum(map(int, given.split()))


def three_cubes(given: str, expected: str, answer: str) -> bool:
    """abc343_e: cubes of edge 7 that overlap by volumes given; or No."""
    if answer.strip() == "No":
        return expected.strip() == "No"
    head, *rest = lines_of(answer, 2)
    corners = integers(rest[0], 9) if len(rest) == 1 else None
    if head != "Yes" or corners is None or max(map(abs, corners)) > _FARTHEST:
        return False
    cubes = [corners[:3], corners[3:6], corners[6:]]
    in_three = _shared(cubes)
    in_two = sum(_shared(list(pair)) for pair in combinations(cubes, 2)) - 3 * in_three
    in_one = 3 * _EDGE**3 - 2 * in_two - 3 * in_three
    return [in_one, in_two, in_three] == [int(volume) for volume in given.split()]


def _shared(cubes: list[list[int]]) -> int:
    """The volume that lies in all of some cubes."""
    volume = 1
    for starts in zip(*cubes, strict=True):
        volume *= max(0, min(starts) + _EDGE - max(starts))
    return volume


def sum_of_zero(given: str, expected: str, answer: str) -> bool:
    """abc362_c: a number from each range, together 0; or No."""
    if answer.strip() == "No":
        return expected.strip() == "No"
    count, *ends = map(int, given.split())
    head, *rest = lines_of(answer, 2)
    terms = integers(rest[0], count) if len(rest) == 1 else None
    if head != "Yes" or terms is None or sum(terms) != 0:
        return False
    ranges = zip(ends[::2], terms, ends[1::2], strict=True)
    return all(low <= term <= high for low, term, high in ranges)


def three_places(given: str, expected: str, answer: str) -> bool:
    """arc185_c: places i < j < k of three numbers that add up to X; or -1."""
    if integer(answer) == -1:
        return integer(expected) == -1
    count, total, *numbers = given.split()
    lines = lines_of(answer, 1)
    places = integers(lines[0], 3) if len(lines) == 1 else None
    if places is None or not 1 <= places[0] < places[1] < places[2] <= int(count):
        return False
    return sum(int(numbers[place - 1]) for place in places) == int(total)
