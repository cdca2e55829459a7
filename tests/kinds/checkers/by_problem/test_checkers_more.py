"""The checkers of texts, lists, grids and trees, against every answer of small instances."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.kinds.checkers.by_problem import binary_trees, grids, sequences
from harness.sources.leetcode.dataset import load

Case = tuple[list[Any], list[Any], list[Any]]
"""Arguments, all right answers among those tried, and these; any right one is the data's."""

Nested = tuple[Any, int, Any] | None
STRANGE: list[Any] = [
    None, 7, "x", {}, {1: 2}, [[]], [None], [[None]], [{}], [0, float("nan")], [True, False],
    [10**400, 1], "a" * 10**5, [0] * 10**5, [[[[[]]]]], ["a", 1], [-1], 1.5, "1[", "]", "0[a]",
    [1, None, None, None, 2], "9" * 10**5, "99[" * 10**4,
]  # fmt: skip


def texts(letters: str, longest: int) -> list[str]:
    return ["".join(each) for n in range(longest + 1) for each in product(letters, repeat=n)]


def lists(numbers: range, *sizes: int) -> list[list[int]]:
    return [[*each] for size in sizes for each in product(numbers, repeat=size)]


def alphabets() -> Iterator[Case]:
    tried = [*texts("abc", 4), "abd", "d"]
    for words in [random.choices(texts("abc", 3)[1:], k=3) for _ in range(60)]:
        letters = {*"".join(words)}

        def sorts(each: str, words: list[str] = words, letters: set[str] = letters) -> bool:
            if sorted(each) != sorted(letters):
                return False
            return all(_before(a, b, each) for a, b in pairwise(words))

        yield [words], [each for each in tried if sorts(each)] or [""], tried


def _before(one: str, other: str, alphabet: str) -> bool:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return alphabet.index(a) < alphabet.index(b)
    return len(one) <= len(other)


def encodings() -> Iterator[Case]:
    for text in ("aaa", "aaaaa", "abababab", "abababababab", "aabaabaab", "aaaaaaaaaab", "ab"):
        wrong = [text + "a", text[1:], "a" * len(text), f"1[{text}]", f"01[{text}]", "a[2]", "2[]"]
        tried = [*{*_encodings(text), *wrong}]
        meant = [each for each in _encodings(text) if len(each) < len(text)] or [text]
        least = min(map(len, meant))
        yield [text], [each for each in meant if len(each) == least], tried


@cache
def _encodings(text: str) -> frozenset[str]:
    """All encodings of a text that are no longer than it, and itself."""
    candidates = {text}
    for size in range(1, len(text) // 2 + 1):
        times = len(text) // size
        if text == text[:size] * times:
            candidates |= {f"{times}[{each}]" for each in _encodings(text[:size])}
    for cut in range(1, len(text)):
        candidates |= {a + b for a in _encodings(text[:cut]) for b in _encodings(text[cut:])}
    return frozenset(each for each in candidates if len(each) <= len(text))


def zero_sums() -> Iterator[Case]:
    tried = lists(range(-2, 3), 0, 1, 2, 3, 4)
    for numbers in random.sample(lists(range(-2, 3), 3, 4, 5), 60):
        reached, waiting = {(*numbers,)}, [(*numbers,)]
        while waiting:
            here = waiting.pop()
            for a in range(len(here)):
                for b in range(a + 1, len(here) + 1):
                    if sum(here[a:b]) == 0 and (after := here[:a] + here[b:]) not in reached:
                        reached.add(after)
                        waiting.append(after)
        ends = [
            [*each]
            for each in reached
            if all(sum(each[a:b]) for a in range(len(each)) for b in range(a + 1, len(each) + 1))
        ]
        empty = [None] if [] in ends else []  # an empty linked list is null
        yield [numbers], [*ends, *empty], [*tried, *ends, *empty]


def stacks() -> Iterator[Case]:
    tried = [[*each] for n in range(9) for each in product(("Push", "Pop"), repeat=n)]
    for target in ([1, 2], [2], [1, 3], [2, 3], [3], [1], [2, 4]):
        yield [target, 4], [each for each in tried if _ends_at(each, target, 4)], tried


def _ends_at(operations: list[str], target: list[int], most: int) -> bool:
    stack, stream = list[int](), iter(range(1, most + 1))
    for word in operations:
        if stack == target:
            return False
        try:
            stack.append(next(stream)) if word == "Push" else stack.pop()
        except (IndexError, StopIteration):
            return False
    return stack == target


def floods() -> Iterator[Case]:
    some_rain = [rains for rains in lists(range(3), 2, 3, 4, 5) if any(rains)]
    for rains in random.sample(some_rain, 80):  # if it never rains, any lake may be named
        tried = [*lists(range(-1, 4), len(rains)), [], [1]]
        right = [each for each in tried if _stays_dry(rains, each)]
        yield [rains], right or [[]], tried


def _stays_dry(rains: list[int], answer: list[int]) -> bool:
    if len(answer) != len(rains):
        return False
    for day, lake in enumerate(rains):
        if (answer[day] == -1) != (lake > 0) or answer[day] == 0:
            return False
        last = max((d for d in range(day) if lake and rains[d] == lake), default=None)
        if last is not None and lake not in answer[last:day]:
            return False
    return True


def originals() -> Iterator[Case]:
    for hidden in random.sample(lists(range(1, 6), 2, 3), 40):
        apart = random.randint(1, 3)
        numbers = [each + apart * sign for each in hidden for sign in (-1, 1)]
        random.shuffle(numbers)
        tried = lists(range(-1, 9), len(hidden))

        def is_right(each: list[int], numbers: list[int] = numbers) -> bool:
            return any(
                sorted([n - k for n in each] + [n + k for n in each]) == sorted(numbers)
                for k in range(1, 12)
            )

        yield [numbers], [each for each in tried if is_right(each)], tried


def squares(numbers: range) -> list[list[list[int]]]:
    return [[[*each[:2]], [*each[2:]]] for each in product(numbers, repeat=4)]


NEIGHBOURS = [((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1))]


def peaks() -> Iterator[Case]:
    tried = [*squares(range(-1, 4)), [[0, 1]], [[0], [1]]]
    for water in squares(range(2)):
        if any(map(any, water)):
            right = [each for each in tried if _is_map(each, water)]
            top = max(max(map(max, each)) for each in right)
            yield [water], [each for each in right if max(map(max, each)) == top], tried


def _is_map(each: list[list[int]], water: list[list[int]]) -> bool:
    if len(each) != 2 or any(len(row) != 2 for row in each) or min(map(min, each)) < 0:
        return False
    dry = all(not (water[a][b] and each[a][b]) for a in (0, 1) for b in (0, 1))
    return dry and all(abs(each[a][b] - each[c][d]) <= 1 for (a, b), (c, d) in NEIGHBOURS)


def orders() -> Iterator[Case]:
    tried = [[[*each[:3]], [*each[3:]]] for each in product(range(5), repeat=6)]
    lines = [(at, at + step) for at, step in ((0, 1), (0, 2), (1, 1), (3, 1), (3, 2), (4, 1))]
    lines += [(at, at + 3) for at in range(3)]
    for flat in ([1, 2, 5, 3, 6, 4], *random.sample([*permutations(range(1, 7))], 3)):

        def is_right(each: list[list[int]], flat: Sequence[int] = flat) -> bool:
            new = [*each[0], *each[1]]
            return min(new) >= 1 and all(
                (flat[a] < flat[b]) == (new[a] < new[b]) and new[a] != new[b] for a, b in lines
            )

        right = [each for each in tried if is_right(each)]
        least = min((max(map(max, each)) for each in right), default=0)
        if right:
            least_ones = [each for each in right if max(map(max, each)) == least]
            yield [[[*flat[:3]], [*flat[3:]]]], least_ones, [*tried, [[1, 2]], [[1], [2]]]


def subsets() -> Iterator[Case]:
    tried = [[], *lists(range(-1, 4), 1, 2, 3)]
    for grid in random.sample([*product(product(range(2), repeat=2), repeat=3)], 40):
        right = [
            each
            for each in tried
            if each
            and all(row in range(3) for row in each)
            and each == sorted({*each})
            and all(sum(grid[row][c] for row in each) <= len(each) // 2 for c in (0, 1))
        ]
        yield [[[*row] for row in grid]], right or [[]], tried


@cache
def shapes(size: int) -> list[Nested]:
    """All trees of so many nodes, each 0."""
    if not size:
        return [None]
    return [
        (left, 0, right)
        for n in range(size)
        for left in shapes(n)
        for right in shapes(size - 1 - n)
    ]


def filled(tree: Nested, values: Iterator[int]) -> Nested:
    """A tree with these values in order."""
    if tree is None:
        return None
    left = filled(tree[0], values)
    return (left, next(values), filled(tree[2], values))


def trees(values: list[int]) -> list[Nested]:
    return [
        filled(shape, iter(each))
        for shape in shapes(len(values))
        for each in {*permutations(values)}
    ]


def levels(tree: Nested) -> list[int | None]:
    values, waiting = list[int | None](), [tree]
    for each in waiting:
        values.append(None if each is None else each[1])
        waiting += [] if each is None else [each[0], each[2]]
    while values and values[-1] is None:
        values.pop()
    return values


def in_order(tree: Nested) -> list[int]:
    return [] if tree is None else [*in_order(tree[0]), tree[1], *in_order(tree[2])]


def before_order(tree: Nested) -> list[int]:
    return [] if tree is None else [tree[1], *before_order(tree[0]), *before_order(tree[2])]


def after_order(tree: Nested) -> list[int]:
    return [] if tree is None else [*after_order(tree[0]), *after_order(tree[2]), tree[1]]


def height(tree: Nested) -> int:
    return 0 if tree is None else 1 + max(height(tree[0]), height(tree[2]))


def is_balanced(tree: Nested) -> bool:
    if tree is None:
        return True
    level = abs(height(tree[0]) - height(tree[2])) <= 1
    return level and is_balanced(tree[0]) and is_balanced(tree[2])


def insertions() -> Iterator[Case]:
    every = [*trees([1, 2, 3]), *trees([1, 2, 3, 4]), *trees([1, 2, 4])]
    for value in (1, 2, 3, 4):
        for old in trees([each for each in (1, 2, 3, 4) if each != value]):
            if in_order(old) == sorted(in_order(old)):
                right = [levels(each) for each in every if in_order(each) == [1, 2, 3, 4]]
                yield [levels(old), value], right, [*map(levels, every)]
    yield [[], 5], [[5]], [[5], [], [5, 5], [None, 5]]


def of_two_orders() -> Iterator[Case]:
    for size in (1, 2, 3, 4):
        every = trees([*range(1, size + 1)])
        for tree in random.sample(every, min(len(every), 12)):
            orders = [before_order(tree), after_order(tree)]
            right = [e for e in every if [before_order(e), after_order(e)] == orders]
            yield orders, [*map(levels, right)], [*map(levels, every)]


def balances() -> Iterator[Case]:
    every = [*trees([1, 2, 3, 4]), *trees([1, 2, 3]), *trees([1, 2, 3, 5])]
    for tree in trees([1, 2, 3, 4]):
        if in_order(tree) == [1, 2, 3, 4]:
            right = [e for e in every if in_order(e) == [1, 2, 3, 4] and is_balanced(e)]
            yield [levels(tree)], [*map(levels, right)], [*map(levels, every)]


CASES: dict[Callable[..., bool], Callable[[], Iterator[Case]]] = {
    sequences.order_of_letters: alphabets,
    sequences.short_encoding: encodings,
    sequences.without_zero_sums: zero_sums,
    sequences.stack_operations: stacks,
    sequences.dried_lakes: floods,
    sequences.lower_and_higher: originals,
    grids.highest_peaks: peaks,
    grids.same_order_in_lines: orders,
    grids.good_subset: subsets,
    binary_trees.with_one_more: insertions,
    binary_trees.with_both_orders: of_two_orders,
    binary_trees.balanced: balances,
}


@for_each("check", CASES)
def test_every_right_answer_is_accepted_and_nothing_else(check: Callable[..., bool]) -> None:
    several = 0
    for arguments, right, tried in CASES[check]():
        expected = random.choice(right)
        several += len(right) > 1
        for each in tried:
            assert check(arguments, expected, each) is (each in right), (arguments, expected, each)
        for each in right:
            assert check(arguments, expected, each), (arguments, expected, each)
        for strange in STRANGE if several == 1 else ():
            assert strange in right or check(arguments, expected, strange) is False, strange
    assert several >= 1


@pytest.mark.thorough
def test_no_real_row_is_left_without_a_checker_or_a_reason(test_data: Path) -> None:
    path = test_data / "leetcodedataset/LeetCodeDataset-v0.2.0-train.jsonl.gz"
    rows = load(str(path)).problems
    assert len(rows) == 1890
    assert [row.id for row in rows if row.known_issues] == []
