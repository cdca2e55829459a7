"""Checkers of LeetCode's functions of grids that may return any of several answers.

They take what those of `choices` take.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from itertools import pairwise
from typing import Any

from harness.kinds.checkers.by_problem.values import are_integers, is_grid

Arguments = list[Any]


def highest_peaks(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """map-of-highest-peak: water is 0, neighbours differ by 1 at most, as high as the data's."""
    water = arguments[0]
    if not is_grid(answer, water) or min(map(min, answer)) < 0:
        return False
    if any(answer[a][b] for a, row in enumerate(water) for b, wet in enumerate(row) if wet):
        return False
    lines = [*answer, *map(list, zip(*answer, strict=True))]
    steps = (abs(a - b) for line in lines for a, b in pairwise(line))
    return max(steps, default=0) <= 1 and max(map(max, answer)) == max(map(max, expected))


def same_order_in_lines(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """minimize-maximum-value-in-a-grid: each row and column ordered as before, as low as possible.

    All numbers of the grid are different.
    """
    grid = arguments[0]
    if not is_grid(answer, grid) or min(map(min, answer)) < 1:
        return False
    if max(map(max, answer)) != max(map(max, expected)):
        return False
    before = [*grid, *map(list, zip(*grid, strict=True))]
    after = [*answer, *map(list, zip(*answer, strict=True))]
    return all(
        a < b
        for old, new in zip(before, after, strict=True)
        for (_, a), (_, b) in pairwise(sorted(zip(old, new, strict=True)))
    )


def good_subset(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """find-a-good-subset-of-the-matrix: ordered rows, no column more than half ones; or []."""
    grid = arguments[0]
    if answer == [] or expected == []:
        return bool(answer == expected)
    if not isinstance(answer, list) or not are_integers(answer, len(answer)):
        return False
    if answer != sorted({*answer}) or not 0 <= answer[0] <= answer[-1] < len(grid):
        return False
    columns = zip(*(grid[row] for row in answer), strict=True)
    return all(2 * sum(column) <= len(answer) for column in columns)
