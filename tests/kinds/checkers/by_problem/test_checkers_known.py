"""The checkers of LiveCodeBench's problems, against every answer of small instances."""

import ast
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, permutations, product
from typing import Any

import pytest
import small_instances
from for_each import for_each
from small_instances import Instance, sampled, spaced

from harness.grading.rules.lcb import lcb_output
from harness.kinds.checkers.by_problem import (
    arrangements,
    checker_of,
    functions,
    graphs,
    programs,
    trees,
)
from harness.sources.problem_names import LIVECODEBENCH

Check = Callable[[str, str, str], bool]
MODULES = (programs, graphs, trees, arrangements)


def directed_cycles() -> Iterator[Instance]:
    for count in (2, 3, 4):
        names = range(1, count + 1)
        every = [walk for n in range(count + 2) for walk in product(range(count + 2), repeat=n)]
        tried = {f"{len(walk)}\n{spaced(walk)}" for walk in every}
        tried |= {f"{len(walk) + 1}\n{spaced(walk)}" for walk in every}
        graphs = [*product(names, repeat=count)]
        for targets in random.sample(graphs, min(len(graphs), 20)):
            if all(i != target for i, target in enumerate(targets, 1)):
                walks = {closed for start in names if (closed := _from(start, targets))}
                right = {f"{len(walk)}\n{spaced(walk)}" for walk in walks}
                yield Instance(f"{count}\n{spaced(targets)}\n", right, tried)


def _from(start: int, targets: Sequence[int]) -> tuple[int, ...]:
    walk = [start]
    while targets[walk[-1] - 1] not in walk:
        walk.append(targets[walk[-1] - 1])
    return tuple(walk) if targets[walk[-1] - 1] == start else ()


def grids() -> Iterator[Instance]:
    latin = {
        tuple("".join(row) for row in rows)
        for size in (3, 4)
        for rows in product(permutations("ABC" + "." * (size - 3)), repeat=size)
        if all(len(set(column)) == size for column in zip(*rows, strict=True))
    }
    near = {other for grid in latin if random.random() < 0.1 for other in _changed(grid)}
    everything = sorted(latin | near | set(product(map("".join, permutations("ABC")), repeat=3)))
    answers = {grid: "\n".join(("Yes", *grid)) for grid in everything}
    sides = {grid: _sides(grid) for grid in latin}
    asked = random.sample(sorted(set(sides.values())), 6)
    for rows, columns in [*asked, ("AAA", "BBB")]:
        right = {answers[grid] for grid in latin if sides[grid] == (rows, columns)}
        yield Instance(f"{len(rows)}\n{rows}\n{columns}\n", right, set(answers.values()), "No")


def _changed(grid: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for place, row in enumerate(grid):
        for column, letter in product(range(len(row)), ".ABCD"):
            yield (*grid[:place], row[:column] + letter + row[column + 1 :], *grid[place + 1 :])
        yield (*grid[:place], row + ".", *grid[place + 1 :])
        yield (*grid[:place], *grid[place + 1 :])


def _sides(grid: tuple[str, ...]) -> tuple[str, str]:
    columns = map("".join, zip(*grid, strict=True))
    rows, tops = ("".join(line.lstrip(".")[0] for line in lines) for lines in (grid, columns))
    return rows, tops


def adventures() -> Iterator[Instance]:
    for count in (1, 2, 3, 4, 5):
        every = [*product(product((1, 2), (1, 2)), repeat=count)]
        for events in random.sample(every, min(len(every), 64)):
            total = sum(kind == 1 for kind, _ in events)
            held = {
                actions: most
                for actions in product((0, 1), repeat=total)
                if (most := _play(events, actions)) is not None
            }
            least = min(held.values(), default=None)
            right = {f"{k}\n{spaced(actions)}" for actions, k in held.items() if k == least}
            tried = {
                f"{k}\n{spaced(actions)}"
                for k in range(-1, count + 2)
                for size in (total, total + 1)
                for actions in product((0, 1, 2) if count < 5 else (0, 1), repeat=size)
                if actions
            }
            yield Instance(f"{count}\n" + "\n".join(map(spaced, events)), right, tried, "-1")


def _play(events: Sequence[tuple[int, int]], actions: Sequence[int]) -> int | None:
    bag: list[int] = []
    sizes, waiting = [0], list(actions)
    for kind, potion in events:
        if kind == 1:
            bag += [potion] * waiting.pop(0)
        elif potion in bag:
            bag.remove(potion)
        else:
            return None
        sizes.append(len(bag))
    return max(sizes)


def sums() -> Iterator[Instance]:
    tried = {str(number) for number in range(-3, 25)} | {"1 2", "1\n2", "0.5"}
    for a, b in product(range(10), repeat=2):
        if a + b <= 9:
            right = {str(number) for number in range(10)} - {str(a + b)}
            yield Instance(f"{a} {b}\n", right, tried)


def cubes() -> Iterator[Instance]:
    for _ in range(40):
        base = [random.randint(-100, 94) for _ in range(3)]
        starts = [[*base], *([c + random.randint(0, 6) for c in base] for _ in range(2))]
        random.shuffle(starts)
        volumes = _volumes(starts)
        tried = {f"Yes\n{spaced(chain(*starts))}"}
        for _ in range(10):
            moved = [[c + random.randint(-1, 1) for c in start] for start in starts]
            tried.add(f"Yes\n{spaced(chain(*moved))}")
        right = {text for text in tried if _fits(text, volumes)}
        yield Instance(f"{spaced(volumes)}\n", right, tried, "No")
    apart = ["Yes\n0 0 0 7 0 0 0 7 0", "Yes\n100 0 0 0 100 0 0 0 -100"]
    beyond = ["Yes\n101 0 0 0 100 0 0 0 -100", "Yes\n0 0 0 7 0 0 0 7", "Yes\n0 0 0 7 0 0 0 7 0 0"]
    yield Instance("1029 0 0\n", set(apart), {*apart, *beyond}, "No")
    yield Instance("343 34 3\n", set(), {*apart, *beyond}, "No")


def _volumes(starts: Sequence[Sequence[int]]) -> list[int]:
    """Counted cell by cell."""
    cells = Counter(cell for start in starts for cell in product(*(range(c, c + 7) for c in start)))
    times = Counter(cells.values())
    return [times[1], times[2], times[3]]


def _fits(text: str, volumes: list[int]) -> bool:
    numbers = [int(number) for number in text.split()[1:]]
    near = all(-100 <= number <= 100 for number in numbers)
    return near and _volumes([numbers[:3], numbers[3:6], numbers[6:]]) == volumes


def ranges() -> Iterator[Instance]:
    bounds = [(low, high) for low, high in product(range(-2, 3), repeat=2) if low <= high]
    for count in (1, 2, 3):
        chosen = [*product(bounds, repeat=count)]
        terms = [*product(range(-3, 4), repeat=count)]
        tried = {f"Yes\n{spaced(each)}" for each in terms} | {f"Yes\n{spaced(terms[0])} 0"}
        for pairs in random.sample(chosen, min(len(chosen), 150)):
            allowed = product(*(range(low, high + 1) for low, high in pairs))
            right = {f"Yes\n{spaced(each)}" for each in allowed if sum(each) == 0}
            given = f"{count}\n" + "\n".join(map(spaced, pairs)) + "\n"
            yield Instance(given, right, tried, "No")


def triples() -> Iterator[Instance]:
    for count in (3, 4):
        tried = {spaced(each) for each in product(range(-1, count + 2), repeat=3)} | {"1 2", "0"}
        for numbers, total in product(product((1, 2, 3), repeat=count), (3, 5, 7)):
            places = combinations(range(count), 3)
            right = {
                spaced(place + 1 for place in each)
                for each in places
                if sum(numbers[place] for place in each) == total
            }
            yield Instance(f"{count} {total}\n{spaced(numbers)}", right, tried, "-1")


INSTANCES: dict[str, Callable[[], Iterator[Instance]]] = {
    "directed_cycle": directed_cycles,
    "letters_in_a_grid": grids,
    "fewest_potions": adventures,
    "not_the_sum": sums,
    "three_cubes": cubes,
    "sum_of_zero": ranges,
    "three_places": triples,
    **small_instances.INSTANCES,
}
WITH_LETTERS = frozenset({"letters_in_a_grid", "spiral", "closed_walk_of_pieces"})
"""Those whose lines hold letters among the numbers."""
DIGITS = frozenset({"ordered_rows_and_columns", "confused_villagers", "palindromic_formula"})
"""Those whose digits stand for themselves and make no number."""


@cache
def instances(name: str) -> tuple[list[Instance], list[Instance]]:
    """Return instances with a right answer, and those without one."""
    every = [*INSTANCES[name]()]
    return [each for each in every if each.right], [each for each in every if not each.right]


def check_of(name: str) -> Check:
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


@pytest.mark.parametrize(
    ("most", "wrong"),
    [(12, 600), pytest.param(1000, 10**6, marks=pytest.mark.thorough)],
    ids=["some", "all"],
)
@for_each("name", INSTANCES)
def test_every_right_answer_is_accepted_and_nothing_else(name: str, most: int, wrong: int) -> None:
    check, (with_one, without) = check_of(name), instances(name)
    assert len(with_one) > 5
    for given, right, tried, otherwise in sampled(with_one, most) + sampled(without, most // 2):
        known = {min(right), max(right)} if right else {otherwise}
        candidates = {*sampled(sorted(tried), wrong), *right, otherwise, "No", "-1", "Yes", ""}
        for expected in known:
            accepted_answers = {
                text for text in candidates if check(given, expected + "\n", text + "\n")
            }
            assert accepted_answers == (right or {otherwise}), (given, expected)


@for_each("name", INSTANCES)
def test_spaces_and_numbers_are_read_as_the_rule_lcb_reads_them(name: str) -> None:
    check = check_of(name)
    for given, right, _, otherwise in random.choices([*chain(*instances(name))], k=10):
        expected = min(right, default=otherwise)
        head, *rest = expected.split("\n")
        numbers = [f"{line.replace(' ', '.0 ')}e0" for line in rest]
        with_letters = name in WITH_LETTERS
        same = [
            f"\n \n{expected}\n\n\t",
            expected.replace("\n", " \r\n\t"),
            *([] if with_letters else [expected.replace(" ", "   \t")]),
            *([] if with_letters or name in DIGITS else ["\n".join((head, *numbers))]),
        ]
        other = [
            f"{expected}\n0",
            f"0\n{expected}",
            expected + " 0",
            expected + " x",
            expected.replace("Yes", "yes") if "Yes" in expected else expected + ".5",
            expected.replace("\n", "\n\n") if rest else expected + "\n.",
            expected.replace("\n", " ") if rest else f"{expected}\n{expected}",
            expected[:-1],
        ]
        for text in same:
            assert lcb_output(expected, text) is None
            assert check(given, expected, text), (given, text)
        for text in set(other) - right:
            assert not check(given, expected, text), (given, text)


LONG = 100_000
HOSTILE = [
    "",
    " ",
    "\0",
    "\udcff",
    "nan",
    "sNaN12",
    "-inf",
    "1e999999999999",
    "1e-999999999999",
    "9" * LONG,
    "-" + "9" * LONG,
    "0." + "0" * LONG + "1",
    "1 " * LONG,
    "1\n" * LONG,
    "nan " * LONG,
    "(" * LONG,
    "Yes\n" * LONG,
    "-9 -8 -7",
    "999 998 997",
    "½",
    "1/0",
]
GIVEN = {
    "directed_cycle": ("3\n2 3 1\n", "3\n1 2 3\n"),
    "letters_in_a_grid": ("3\nABC\nABC\n", "Yes\nABC\nBCA\nCAB\n"),
    "fewest_potions": ("2\n1 1\n2 1\n", "1\n1\n"),
    "not_the_sum": ("1 1\n", "9\n"),
    "three_cubes": ("1029 0 0\n", "Yes\n0 0 0 7 0 0 0 7 0\n"),
    "sum_of_zero": ("2\n-1 3\n-2 4\n", "Yes\n0 0\n"),
    "three_places": ("3 6\n1 2 3", "1 2 3"),
    "reading_order": ("3\n2 2 3\n0\n0\n", "2 3\n"),
    "xor_of_neighbours": ("3 3\n1 2\n1 3\n2 3\n", "Yes\n4 4 4\n"),
    "confused_villagers": ("3 1\n1 2 1", "010"),
    "least_xor_sequence": ("3 2\n1 3 4\n1 2 3", "0 3 4"),
    "farthest_leaves": ("4\n1 2\n3 4\n2 3\n", "4 1\n2 3\n"),
    "spiral": ("3\n", "1 2 3\n8 T 4\n7 6 5\n"),
    "palindromic_formula": ("363\n", "11*3*11\n"),
    "segments_that_do_not_cross": ("2\n0 0\n4 0\n1 3\n5 4\n", "1 2\n"),
    "ordered_rows_and_columns": ("3\n1 2 3\n2 1 3\n", "001\n101\n110\n"),
    "difference_of_cubes": ("397", "12 11"),
    "cheapest_cover": ("5 2\n1 3\n2 5", "2\n1 1"),
    "order_of_a_power": ("2\n3\n1", "2 7\n5 4"),
    "closed_walk_of_pieces": ("2\n4 0\n1 1", "Yes\nR 1 1\nR 1 2\nR 2 2\nR 2 1\nNo"),
}


@for_each("name", GIVEN)
def test_strange_answers_are_wrong(name: str) -> None:
    check = check_of(name)
    given, expected = GIVEN[name]
    head, *rest = expected.rstrip().split("\n")
    assert check(given, expected, expected)
    for text in HOSTILE:
        last = rest[-1] if rest else head
        for answer in (
            text,
            f"{head}\n{text}",
            f"{text}\n{last}",
            f"{expected}{text}x",
            f"{expected}\n{text}x",
            expected[:-4] + text,
        ):
            if lcb_output(expected, answer) is not None:
                assert check(given, expected, answer) is False, answer[:100]


class TestInAnyOrder:
    """Lists whose items are all there, whatever the order."""

    @for_each("expected", [[], [1], [0, 3, 7], [1, 1, 2], ["01", "10", "11"]])
    def test_any_order_is_right(self, expected: list[Any]) -> None:
        for answer in permutations(expected):
            assert functions.in_any_order([], expected, [*answer])

    @for_each("expected", [[0, 2], [0, 0, 2], [2]])
    def test_in_any_order_rejects_everything_but_permutations(self, expected: list[Any]) -> None:
        for size in range(5):
            for answer in product(range(4), repeat=size):
                right = sorted(answer) == expected
                assert functions.in_any_order([], expected, [*answer]) is right

    @for_each(
        "answer",
        [
            None,
            7,
            "01",
            {0, 1},
            {0: 1, 1: 0},
            [0, float("nan")],
            [0, [1]],
            [0, {}],
            [0, None],
            [0, "1"],
            [0, object()],
            [0, 10**LONG],
            [0] * LONG,
        ],
    )
    def test_in_any_order_rejects_strange_values(self, answer: Any) -> None:
        assert functions.in_any_order([], [0, 1], answer) is False
        assert functions.in_any_order([], [], answer) is False

    def test_numbers_are_equal_as_under_the_rule_lcb(self) -> None:
        assert functions.in_any_order([], [0, 1], [1.0, 0])
        assert functions.in_any_order([], [0, 1], [True, -0.0])


def test_all_that_take_many_answers_have_a_checker_but_one_that_takes_one() -> None:
    many = {name for name, reasons in LIVECODEBENCH.items() if "many_answers" in reasons}
    assert {name for name in many if checker_of("unlisted", name) is None} == {"abc327_b"}
    assert checker_of("abc311_d", "") is checker_of("abc350_c") is None


def test_a_checker_is_text_that_needs_the_standard_library_alone() -> None:
    for name in LIVECODEBENCH:
        if checker := checker_of(name):
            tree = ast.walk(ast.parse(checker.code))
            used = {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
            used = {name.partition(".")[0] for name in used}
            assert used <= sys.stdlib_module_names
            namespace: dict[str, Any] = {}
            exec(checker.code, namespace)
            assert callable(namespace["check"])
