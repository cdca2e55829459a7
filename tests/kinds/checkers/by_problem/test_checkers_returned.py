"""The checkers of functions, against every answer of small instances."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise, permutations, product
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.kinds.checkers.by_problem import checked_names, checker_of, choices
from harness.kinds.checkers.by_problem.functions import unordered
from harness.kinds.checkers.by_problem.tolerances import printed_within, returned_within
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.leetcode.dataset import load

Case = tuple[list[Any], Any, list[Any], list[Any]]
"""Arguments, the data's value, all right answers among those tried, and these."""


def texts(letters: str, size: int) -> list[str]:
    return ["".join(each) for each in product(letters, repeat=size)]


def lists(numbers: Iterable[int], size: int) -> list[list[int]]:
    return [[*each] for each in product(numbers, repeat=size)]


def solved(
    arguments: list[Any], tried: list[Any], is_right: Callable[[Any], bool]
) -> Iterator[Case]:
    right = [each for each in tried if is_right(each)]
    if right:
        yield arguments, random.choice(right), right, tried


def shortest(
    arguments: list[Any], tried: list[Any], is_right: Callable[[Any], bool]
) -> Iterator[Case]:
    right = [each for each in tried if is_right(each)]
    least = min(map(len, right))
    yield from solved(arguments, tried, lambda each: each in right and len(each) == least)


def far_indices() -> Iterator[Case]:
    for numbers in random.sample(lists(range(4), 4), 40):
        apart, difference = random.randint(0, 4), random.randint(0, 4)
        right = [
            [i, j]
            for i, j in product(range(4), repeat=2)
            if abs(i - j) >= apart and abs(numbers[i] - numbers[j]) >= difference
        ] or [[-1, -1]]
        tried = [*lists(range(-1, 6), 2), [0], [0, 1, 2]]
        yield [numbers, apart, difference], random.choice(right), right, tried


def word_groups() -> Iterator[Case]:
    words = ["a", "b", "c", "d"]
    tried = [[*each] for size in range(5) for each in permutations(words, size)] + [["a", "x"]]
    for groups in lists(range(2), 4):

        def is_right(each: list[str], groups: list[int] = groups) -> bool:
            kinds = [groups[words.index(word)] if word in words else 0 for word in each]
            return (
                each == sorted(each) and "x" not in each and all(a != b for a, b in pairwise(kinds))
            )

        most = max(len(each) for each in tried if is_right(each))
        yield from solved([words, groups], tried, lambda each: len(each) == most and is_right(each))  # noqa: B023


def triples() -> Iterator[Case]:
    for numbers in [sorted(random.choices(range(8), k=6)) for _ in range(12)]:
        tried = [[[*p[:3]], [*p[3:]]] for p in {*permutations(numbers)}]
        tried += [[[*numbers[:3]]], [[*numbers[:2]], [*numbers[2:]]], [[0, 0, 0], [0, 0, 1]]]

        def is_right(each: list[list[int]], numbers: list[int] = numbers) -> bool:
            return sorted([*chain(*each)]) == numbers and all(
                len(part) == 3 and max(part) - min(part) <= 3 for part in each
            )

        right = [each for each in tried if is_right(each)] or [[]]
        yield [numbers, 3], right[0], right, [*tried, []]


def graphs_of_grids() -> Iterator[Case]:
    for high, wide in ((1, 4), (2, 2), (2, 3), (1, 2)):
        names = random.sample(range(high * wide), high * wide)
        edges = [[names[a], names[b]] for a, b in _beside(high, wide)]
        tried = [
            [[*p[at : at + w]] for at in range(0, len(p), w)]
            for p in permutations(range(high * wide))
            for w in {1, wide, high, high * wide}
        ]
        wanted = sorted(map(sorted, edges))

        def is_right(each: list[list[int]], wanted: list[list[int]] = wanted) -> bool:
            flat = [*chain(*each)]
            adjacent_pairs = [
                sorted((flat[a], flat[b])) for a, b in _beside(len(each), len(each[0]))
            ]
            return sorted(adjacent_pairs) == wanted

        yield from solved([high * wide, edges], tried, is_right)


def _beside(high: int, wide: int) -> list[tuple[int, int]]:
    cells = [*product(range(high), range(wide))]
    return [
        (a[0] * wide + a[1], b[0] * wide + b[1])
        for a, b in product(cells, repeat=2)
        if (b[0] - a[0], b[1] - a[1]) in {(0, 1), (1, 0)}
    ]


def gray_codes() -> Iterator[Case]:
    for bits in (1, 2, 3):
        size = 2**bits
        tried = [[*each] for each in permutations(range(size), size)][:8000] + lists(
            range(2), size
        )[:9]

        def is_right(each: list[int], size: int = size) -> bool:
            steps = [
                f"{a ^ b:b}".count("1") for a, b in zip(each, each[1:] + each[:1], strict=True)
            ]
            return {*each} == {*range(size)} and each[0] == 0 and {*steps} == {1}

        yield from solved([bits], tried, is_right)


def parities() -> Iterator[Case]:
    for numbers in ([4, 2, 5, 7], [1, 2, 2, 3], [2, 3]):
        tried = lists(range(8), len(numbers))

        def is_right(each: list[int], numbers: list[int] = numbers) -> bool:
            places = [number % 2 for number in each] == [0, 1] * (len(numbers) // 2)
            return sorted(each) == sorted(numbers) and places

        yield from solved([numbers], tried, is_right)


def falls() -> Iterator[Case]:
    for text in [word for size in (1, 2, 3, 4) for word in texts("ID", size)]:
        tried = lists(range(len(text) + 1), len(text) + 1)

        def is_right(each: list[int], text: str = text) -> bool:
            pattern = "".join("I" if a < b else "D" for a, b in pairwise(each))
            return len({*each}) == len(each) and pattern == text

        yield from solved([text], tried, is_right)


def candies() -> Iterator[Case]:
    for first, second in zip(lists(range(1, 5), 2), reversed(lists(range(1, 6), 2)), strict=False):

        def is_right(each: list[int], first: list[int] = first, second: list[int] = second) -> bool:
            if len(each) != 2 or each[0] not in first or each[1] not in second:
                return False
            return sum(first) - each[0] + each[1] == sum(second) - each[1] + each[0]

        yield from solved([first, second], [*lists(range(6), 2), [1], [1, 1, 1]], is_right)


def differences() -> Iterator[Case]:
    for count, kinds in ((2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)):

        def is_right(each: list[int], count: int = count, kinds: int = kinds) -> bool:
            sizes = {abs(a - b) for a, b in pairwise(each)}
            return sorted(each) == [*range(1, count + 1)] and len(sizes) == kinds

        yield from solved([count, kinds], lists(range(count + 2), count), is_right)


def rearranged() -> Iterator[Case]:
    for text in texts("ab", 3) + texts("abc", 4):
        tried = texts("abc", len(text)) + texts("ab", len(text) - 1)
        right = [t for t in tried if sorted(t) == sorted(text) and not _doubled(t)] or [""]
        yield [text], random.choice(right), right, [*tried, ""]


def _doubled(text: str) -> bool:
    return any(a == b for a, b in pairwise(text))


def chains() -> Iterator[Case]:
    for numbers in ([1, 2, 3, 4], [3, 1, 2], [5, 4]):
        pairs = random.sample(
            [random.sample(pair, 2) for pair in pairwise(numbers)], len(numbers) - 1
        )
        right = [numbers, numbers[::-1]]
        yield [pairs], random.choice(right), right, lists(range(1, 6), len(numbers))


def no_zeros() -> Iterator[Case]:
    for total in (2, 11, 19, 20, 101):
        tried = [[a, total - a] for a in range(-1, total + 2)] + [
            [1, 1],
            [total],
            [1, 1, total - 2],
        ]

        def is_right(each: list[int], total: int = total) -> bool:
            good = all(number > 0 and "0" not in str(number) for number in each)
            return len(each) == 2 and sum(each) == total and good

        yield from solved([total], tried, is_right)


def gardens() -> Iterator[Case]:
    for paths in ([], [[1, 2]], [[1, 2], [3, 2], [3, 1]]):

        def is_right(each: list[int], paths: list[list[int]] = paths) -> bool:
            return {*each} <= {1, 2, 3, 4} and all(each[a - 1] != each[b - 1] for a, b in paths)

        yield from solved([3, paths], lists(range(6), 3), is_right)


def marks() -> Iterator[Case]:
    for text in ("?a", "a?b", "??", "a?", "?"):
        tried = texts("abcA?", len(text)) + texts("ab", len(text) + 1)

        def is_right(each: str, text: str = text) -> bool:
            kept = len(each) == len(text) and all(
                a in ("?", b) for a, b in zip(text, each, strict=True)
            )
            return kept and not _doubled(each) and {*each} <= {*"abc"}

        yield from solved([text], tried, is_right)


def brackets() -> Iterator[Case]:
    for text in ("a(b)c)d", "))((", "(a(b(c)d)", "a)(", "(()"):
        tried = [
            *{_part(text, mask) for mask in product((0, 1), repeat=len(text))},
            ")(",
            "(b)",
            "()",
        ]

        def is_right(each: str, text: str = text) -> bool:
            inside = each.translate(str.maketrans("", "", "abcd"))
            while "()" in inside:
                inside = inside.replace("()", "")
            parts = {_part(text, mask) for mask in product((0, 1), repeat=len(text))}
            return not inside and each in parts

        right = [each for each in tried if is_right(each)]
        most = max(map(len, right))
        yield from solved([text], tried, lambda each: each in right and len(each) == most)  # noqa: B023


def _part(text: str, mask: tuple[int, ...]) -> str:
    return "".join(letter for letter, kept in zip(text, mask, strict=True) if kept)


def supersequences() -> Iterator[Case]:
    for first, second in [random.choices(texts("ab", 2) + texts("ab", 3), k=2) for _ in range(15)]:
        tried = [word for size in range(1, 7) for word in texts("ab", size)]

        def is_right(each: str, both: tuple[str, str] = (first, second)) -> bool:
            parts = {_part(each, mask) for mask in product((0, 1), repeat=len(each))}
            return parts >= {*both}

        yield from shortest([first, second], tried, is_right)


def superstrings() -> Iterator[Case]:
    for words in (["ab", "ba"], ["abb", "bba"], ["aab", "bb"], ["aa", "bb", "ab"]):
        tried = [word for size in range(1, 8) for word in texts("ab", size)]
        yield from shortest([words], tried, lambda each, words=words: all(w in each for w in words))


def archers() -> Iterator[Case]:
    for other in lists(range(3), 3):
        tried = lists(range(-1, 4), 3)

        def points(each: list[int], other: list[int] = other) -> int:
            if min(each) < 0 or sum(each) != 3:
                return -1
            return sum(at for at in range(3) if each[at] > other[at])

        most = max(map(points, tried))
        yield from solved([3, other], tried, lambda each: points(each) == most)  # noqa: B023


CHOICES: dict[str, Callable[[], Iterator[Case]]] = {
    "two_far_indices": far_indices,
    "alternating_words": word_groups,
    "close_triples": triples,
    "grid_of_graph": graphs_of_grids,
    "gray_code": gray_codes,
    "alternating_parity": parities,
    "rises_and_falls": falls,
    "fair_swap": candies,
    "distinct_differences": differences,
    "no_equal_neighbours": rearranged,
    "chain_of_pairs": chains,
    "two_without_zeros": no_zeros,
    "flowers": gardens,
    "question_marks": marks,
    "fewest_removed": brackets,
    "common_supersequence": supersequences,
    "common_superstring": superstrings,
    "arrows": archers,
}
SOME = 12  # tests of a problem
STRANGE: list[Any] = [
    None, 7, "x", {}, {1: 2}, [[]], [None], [[None]], [{}], [0, float("nan")], [True, False],
    [10**400, 1], "a" * 10**5, [0] * 10**5, [[0] * 300] * 300, [[[[[]]]]], ["a", 1], [-1], 1.5,
]  # fmt: skip


@for_each("name", CHOICES)
def test_every_right_answer_is_accepted_and_nothing_else(name: str) -> None:
    check = getattr(choices, name)
    seen = 0
    for arguments, expected, right, tried in CHOICES[name]():
        seen += 1
        accepted_answers = [each for each in tried if check(arguments, expected, each)]
        assert accepted_answers == [each for each in tried if each in right], (arguments, expected)
        for strange in STRANGE if seen == 1 else ():
            assert strange in right or check(arguments, expected, strange) is False
    assert seen >= 3


@for_each(
    ("levels", "same", "other"),
    [
        ((0,), [[[3, 4], [1, 2]], [[1.0, 2], [3, 4]]], [[[2, 1], [3, 4]], [[1, 2]], [1, 2, 3, 4]]),
        ((0, 1), [[[3, 4], [1, 2]], [[4, 3], [2, 1]]], [[[1, 3], [2, 4]], [[1, 2], [3, 4], []]]),
        ((1,), [[[1, 2], [3, 4]], [[2, 1], [4, 3]]], [[[3, 4], [1, 2]], [[1, 2, 2], [3, 4]]]),
    ],
)
def test_lists_are_in_any_order_at_some_levels(
    levels: tuple[int, ...], same: list[Any], other: list[Any]
) -> None:
    check = unordered(*levels)
    assert all(check([], [[1, 2], [3, 4]], answer) for answer in same)
    assert not any(check([], [[1, 2], [3, 4]], answer) for answer in [*other, *STRANGE])


@for_each("tolerance", [1e-5, 1e-6, 1e-8, 1e-9])
@for_each("value", [0.0, 0.5, 1.0, -3.25, 45037.0723, 6418410657.75])
def test_a_printed_number_is_right_within_the_tolerance(tolerance: float, value: float) -> None:
    check, error = printed_within(tolerance), tolerance * max(1, abs(value))
    for far in (0, 0.5, 0.999, -0.999, 1.001, -1.001, 3, 100):
        near = abs(far) < 1
        assert check("", f"{value!r}\n", f" {value + far * error:.20f}\n") is near, far
    for wrong in (
        "",
        "x",
        "nan",
        "inf",
        "1e999",
        "9" * 10**5,
        f"{value} 0",
        f"{value}\n0",
        "1 " * 10**5,
    ):
        assert check("", f"{value!r}", wrong) is False


def test_an_error_of_just_the_tolerance_is_right() -> None:
    assert printed_within(1e-5)("", "60", "60.0006")
    assert not printed_within(1e-5)("", "60", "60.00061")
    assert returned_within(1e-5)([], 1.0, 1.00001)


def test_words_that_must_be_exact_are() -> None:
    check = printed_within(1e-9, exactly=("-1",))
    assert check("", "-1\n", "-1")
    for expected, answer in (("-1", "-1.000"), ("-1", "-0.9999999999"), ("0.0", "-1"), ("-1", "0")):
        assert not check("", expected, answer)
    assert check("", "0.000000", "-0.0000000001")


def test_returned_numbers_are_right_within_an_absolute_error() -> None:
    check = returned_within(1e-5)
    assert check([], [1.5, [2, 10**9]], [1.500009, [1.99999, 10**9]])
    for wrong in (
        [1.5, [2, 10**9 + 1]],
        [1.5],
        [1.5, 2],
        [1.5, [2, "x"]],
        [1.6, [2, 10**9]],
        *STRANGE,
    ):
        assert check([], [1.5, [2, 10**9]], wrong) is False
    assert not check([], 0.5, float("nan"))
    assert not check([], 0.5, 10**400)


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["v0.3.1-test", "v0.2.0-test"])
def test_references_of_real_rows_pass_and_so_do_their_answers_in_another_order(
    version: str, test_data: Path, worker: Worker
) -> None:
    problems = load(str(test_data / f"leetcodedataset/LeetCodeDataset-{version}.jsonl.gz")).problems
    kinds: Counter[str] = Counter()
    for problem in problems:
        if problem.checker is not None:
            kind = problem.checker.code.rpartition("check = ")[2].strip()
            kinds[kind] += 1
            assert problem.known_issues == ()
            assert _grade(worker, problem, "").solved
            if kind == "unordered(0)":
                other = _grade(worker, problem, "{}[::-1]")
                assert (other.solved, other.solved_by_rule) == (True, False)
                assert not _grade(worker, problem, "{}[1:]").solved
            elif kind == "returned_within(1e-5)":
                assert _grade(worker, problem, "{} + 9e-6").solved
                assert not _grade(worker, problem, "{} + 2e-5").solved
    assert kinds["unordered(0)"] >= 3


def _grade(worker: Worker, problem: Problem, change: str) -> Any:
    code = problem.programs()[0]
    if change:
        name = problem.entry_point
        code += (
            f"\n\nclass Solution(Solution):\n    def {name}(self, *given):\n"
            f"        return {change.format(f'super().{name}(*given)')}\n"
        )
    task = Options(stop=Stop.NEVER).task(problem, code, problem.tests.all()[:SOME])
    return judge(worker, task)


def test_each_checker_is_made() -> None:
    for name in checked_names():
        checker = checker_of(name)
        assert checker is not None
        assert checker.beside_rule
        namespace: dict[str, Any] = {}
        exec(checker.code, namespace)
        assert callable(namespace["check"])
