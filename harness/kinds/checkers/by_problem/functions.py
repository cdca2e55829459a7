"""Checkers of functions that return lists whose order does not matter."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from collections.abc import Callable
from typing import Any

_DEEPEST = 8


def unordered(*levels: int) -> Callable[[Any, Any, Any], bool]:
    """Return a checker of nested lists of numbers and strings.

    Items are equal as they are to Python, as under the rule `lcb`: 6.0 is 6, NaN is nothing.

    Args:
        levels: of nesting whose lists may be in any order; 0 is the returned list itself.
    """

    def check(_arguments: Any, expected: Any, answer: Any) -> bool:
        try:
            return frozen(expected, 0) == frozen(answer, 0)
        except TypeError:
            return False

    def frozen(value: Any, level: int) -> Any:
        if isinstance(value, int | float | str):
            return value
        if not isinstance(value, list) or level == _DEEPEST:
            raise TypeError
        items = [frozen(item, level + 1) for item in value]
        return frozenset(Counter(items).items()) if level in levels else (*items,)

    return check


in_any_order = unordered(0)
