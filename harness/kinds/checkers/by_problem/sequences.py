"""Checkers of LeetCode's functions that may return any of several texts or lists.

They take what those of `choices` take.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from itertools import accumulate, pairwise
from typing import Any

from harness.kinds.checkers.by_problem.values import are_integers, are_strings

Arguments = list[Any]


def order_of_letters(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """alien-dictionary: all letters once, in an order that sorts the words; or an empty string."""
    words = arguments[0]
    if answer == "" or not isinstance(answer, str) or not _sorts(words, expected):
        return bool(answer == expected)
    return _sorts(words, answer)


def _sorts(words: list[str], alphabet: str) -> bool:
    place = {letter: at for at, letter in enumerate(alphabet)}
    if len(place) != len(alphabet) or place.keys() != {*"".join(words)}:
        return False
    keys = [[place[letter] for letter in word] for word in words]
    return all(a <= b for a, b in pairwise(keys))


def short_encoding(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """encode-string-with-shortest-length: as long as the data's, and means the text.

    A text that no encoding makes shorter stays as it is.
    """
    text = arguments[0]
    if not isinstance(answer, str) or len(answer) != len(expected):
        return False
    return answer == text or (len(answer) < len(text) and _decoded(answer, len(text)) == text)


def _decoded(text: str, longest: int) -> str | None:
    """The text that an encoding such as 2[a3[b]] means; None where it is none, or too long."""
    whole: list[tuple[str, int]] = []
    here = digits = ""
    for letter in text:
        if letter in "0123456789":
            digits += letter
        elif letter == "[":
            if not digits or digits[0] == "0" or len(digits) > len(str(longest)):
                return None
            whole.append((here, int(digits)))
            here = digits = ""
        elif digits:
            return None
        elif letter == "]":
            if not whole or not here:
                return None
            before, times = whole.pop()
            if len(before) + len(here) * times > longest:
                return None
            here = before + here * times
        else:
            here += letter
    return None if whole or digits else here


def without_zero_sums(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """remove-zero-sum-consecutive-nodes-from-linked-list: what was removed, and none left, is zero.

    Nodes between two that stay can be removed exactly when they add up to zero: then each node that
    stays has the same sum before it as in the whole list.
    """
    numbers = arguments[0] or []
    if answer is None:
        answer = []
    if not isinstance(answer, list) or not are_integers(answer, len(answer)):
        return False
    sums = [0, *accumulate(answer)]
    if len({*sums}) != len(sums) or sums[-1] != sum(numbers):
        return False
    before = kept = 0
    for number in numbers:
        if kept < len(answer) and number == answer[kept] and before == sums[kept]:
            kept += 1
        before += number
    return kept == len(answer)


def stack_operations(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """build-an-array-with-stack-operations: the target on the stack, for the first time at the end.

    `Push` takes the next number of 1 to n.
    """
    target, most = arguments
    if not are_strings(answer) or not {*answer} <= {"Push", "Pop"}:
        return False
    stack: list[int] = []
    following = 1
    for word in answer:
        if (
            stack == target
            or (word == "Pop" and not stack)
            or (word == "Push" and following > most)
        ):
            return False
        if word == "Pop":
            stack.pop()
        else:
            stack.append(following)
            following += 1
    return stack == target


def dried_lakes(arguments: Arguments, expected: Any, answer: Any) -> bool:
    """avoid-flood-in-the-city: -1 on days of rain, else a lake to dry, and no flood; or []."""
    rains = arguments[0]
    if answer == [] or expected == []:
        return bool(answer == expected)
    if not are_integers(answer, len(rains)):
        return False
    full: set[int] = set()
    for lake, dried in zip(rains, answer, strict=True):
        if lake == 0:
            full.discard(dried)
        if (lake in full or dried != -1) if lake else dried < 1:
            return False
        full |= {lake} - {0}
    return True


def lower_and_higher(arguments: Arguments, _expected: Any, answer: Any) -> bool:
    """recover-the-original-array: its numbers less some k, and with it more, are those given."""
    numbers = arguments[0]
    if not are_integers(answer, len(numbers) // 2):
        return False
    apart = min(answer) - min(numbers)
    both = [each + apart * sign for each in answer for sign in (-1, 1)]
    return apart > 0 and Counter(both) == Counter(numbers)
