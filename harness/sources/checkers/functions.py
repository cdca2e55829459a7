"""Whether what a function returned is one of a problem's right answers."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from typing import Any


def in_any_order(_arguments: list[Any], expected: list[Any], answer: Any) -> bool:
    """Whether a list holds the expected numbers or strings, each so often, in whatever order.

    Items are equal as they are to Python, which is the rule `lcb` too: 6.0 is 6, NaN is nothing.
    """
    if not isinstance(answer, list) or len(answer) != len(expected):
        return False
    left = Counter(expected)
    for item in answer:
        if not isinstance(item, int | float | str) or not left[item]:
            return False
        left[item] -= 1
    return True
