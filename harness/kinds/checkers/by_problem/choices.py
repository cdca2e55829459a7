"""Checkers of LeetCode's functions that may return any of several answers.

Each function takes the arguments of the call, the value in the data, and what was returned. It uses
the data's value for what the statement asks to be greatest or least, and to know that there is no
answer.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from itertools import pairwise
from typing import Any

from harness.kinds.checkers.by_problem.values import are_integers, are_strings

Arguments = list[Any]


def two_far_indices(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """find-indices-with-index-and-value-difference: i and j far enough apart; or [-1, -1]."""
    numbers, apart, difference = arguments
    if answer == [-1, -1] or not are_integers(answer, 2):
        return answer == expected == [-1, -1]
    i, j = answer
    if not 0 <= min(i, j) <= max(i, j) < len(numbers):
        return False
    return abs(i - j) >= apart and abs(numbers[i] - numbers[j]) >= difference


def alternating_words(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """longest-unequal-adjacent-groups-subsequence-i: words in order, neighbours of other groups."""
    words, groups = arguments[-2:]
    place = {word: at for at, word in enumerate(words)}
    if not are_strings(answer) or len(answer) != len(expected) or not place.keys() >= {*answer}:
        return False
    places = [place[word] for word in answer]
    return all(a < b and groups[a] != groups[b] for a, b in pairwise(places))


def close_triples(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """divide-array-into-arrays-with-max-difference: triples that differ by at most k; or []."""
    numbers, most = arguments
    if answer == [] or expected == []:
        return answer == expected
    if not isinstance(answer, list) or not all(are_integers(each, 3) for each in answer):
        return False
    whole = Counter(number for triple in answer for number in triple)
    return whole == Counter(numbers) and all(max(each) - min(each) <= most for each in answer)


def grid_of_graph(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """construct-2d-grid-matching-graph-layout: neighbours in the grid are those in the graph.

    Some tests have a graph that is no grid; only the data's own value is right there.
    """
    if not _is_layout(arguments, expected):
        return bool(answer == expected)
    return _is_layout(arguments, answer)


def _is_layout(arguments: Arguments, grid: Any) -> bool:
    count, edges = arguments
    if not isinstance(grid, list) or not grid or not isinstance(grid[0], list):
        return False
    if not all(are_integers(row, len(grid[0])) for row in grid):
        return False
    if sorted(node for row in grid for node in row) != [*range(count)]:
        return False
    beside = [pair for row in grid for pair in pairwise(row)]
    beside += [pair for rows in pairwise(grid) for pair in zip(*rows, strict=True)]
    return len(beside) == len(edges) and {*map(frozenset, beside)} == {*map(frozenset, edges)}


def gray_code(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """gray-code: all numbers of n bits from 0, each one bit from the one before, in a circle."""
    size = 1 << arguments[0]
    if not are_integers(answer, size) or {*answer} != {*range(size)} or answer[0] != 0:
        return False
    return all((a ^ b).bit_count() == 1 for a, b in pairwise([*answer, 0]))


def alternating_parity(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """sort-array-by-parity-ii: even numbers at even places, odd ones at odd places."""
    numbers = arguments[0]
    if not are_integers(answer, len(numbers)) or Counter(answer) != Counter(numbers):
        return False
    return all(number % 2 == at % 2 for at, number in enumerate(answer))


def rises_and_falls(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """di-string-match: a permutation that rises at each I and falls at each D."""
    text = arguments[0]
    if not are_integers(answer, len(text) + 1) or {*answer} != {*range(len(text) + 1)}:
        return False
    return all(
        (a < b) == (word == "I") for word, (a, b) in zip(text, pairwise(answer), strict=True)
    )


def fair_swap(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """fair-candy-swap: a box of each that makes the totals equal."""
    first, second = arguments
    if not are_integers(answer, 2) or answer[0] not in first or answer[1] not in second:
        return False
    return sum(first) - sum(second) == 2 * (answer[0] - answer[1])


def distinct_differences(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """beautiful-arrangement-ii: a permutation of 1 to n, its differences of k different sizes."""
    count, kinds = arguments
    if not are_integers(answer, count) or {*answer} != {*range(1, count + 1)}:
        return False
    return len({abs(a - b) for a, b in pairwise(answer)}) == kinds


def no_equal_neighbours(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """reorganize-string: the same letters, no two neighbours equal; or an empty string."""
    if answer == "" or not isinstance(answer, str):
        return answer == expected == ""
    return Counter(answer) == Counter(arguments[0]) and all(a != b for a, b in pairwise(answer))


def chain_of_pairs(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """restore-the-array-from-adjacent-pairs: an array whose neighbours are the pairs."""
    pairs = arguments[0]
    if not are_integers(answer, len(pairs) + 1):
        return False
    return Counter(map(frozenset, pairwise(answer))) == Counter(map(frozenset, pairs))


def two_without_zeros(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """convert-integer-to-the-sum-of-two-no-zero-integers: two such integers that add up to n."""
    if not are_integers(answer, 2) or sum(answer) != arguments[0] or min(answer) < 1:
        return False
    return not any("0" in str(number) for number in answer)


def flowers(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """flower-planting-with-no-adjacent: four types, and other types at the ends of each path."""
    count, paths = arguments
    if not are_integers(answer, count) or not {1, 2, 3, 4} >= {*answer}:
        return False
    return all(answer[a - 1] != answer[b - 1] for a, b in paths)


def question_marks(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """replace-all-s-to-avoid-consecutive-repeating-characters: a small letter for each ?."""
    text = arguments[0]
    if not isinstance(answer, str) or len(answer) != len(text):
        return False
    letters = all(
        "a" <= b <= "z" if a == "?" else b == a for a, b in zip(text, answer, strict=True)
    )
    return letters and all(a != b for a, b in pairwise(answer))


def fewest_removed(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """minimum-remove-to-make-valid-parentheses: as long as the data's, balanced, and a part."""
    if not isinstance(answer, str) or len(answer) != len(expected):
        return False
    depth = 0
    for letter in answer:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    letters = [each for each in arguments[0] if each not in "()"]
    return (
        depth == 0
        and letters == [each for each in answer if each not in "()"]
        and (_is_within(answer, arguments[0]))
    )


def common_supersequence(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """shortest-common-supersequence: as long as the data's, both texts within it."""
    if not isinstance(answer, str) or len(answer) != len(expected):
        return False
    return all(_is_within(text, answer) for text in arguments)


def common_superstring(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """find-the-shortest-superstring: as long as the data's, all words in it."""
    if not isinstance(answer, str) or len(answer) != len(expected):
        return False
    return all(word in answer for word in arguments[0])


def arrows(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """maximum-points-in-an-archery-competition: all arrows shot, as many points as the data's."""
    count, other = arguments
    if not are_integers(answer, len(other)) or min(answer) < 0 or sum(answer) != count:
        return False
    return _points(answer, other) == _points(expected, other)


def _points(arrows: list[int], other: list[int]) -> int:
    return sum(at for at, (mine, his) in enumerate(zip(arrows, other, strict=True)) if mine > his)


def _is_within(part: str, text: str) -> bool:
    """Whether the letters of a text are in another one, in order."""
    letters = iter(text)
    return all(letter in letters for letter in part)
