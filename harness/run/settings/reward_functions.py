"""Reward functions of the user: checked before the work, and called with its results."""

import inspect
from collections.abc import Callable
from typing import Any, SupportsFloat

from harness.errors import UsageError


def check_reward_function(function: Callable[..., Any], caller: str, argument: str) -> None:
    """Check a reward function before it is needed.

    Args:
        function: the function.
        caller: name of the call that it was given to, for messages.
        argument: type of the result that it is called with.

    Raises:
        UsageError: it is async, or cannot be called with one argument.
    """
    start = f"{caller}: reward function {_name_of(function)}"
    if any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None)))):  # noqa: B004
        raise UsageError(f"{start} is async: give a plain function that returns a number")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise UsageError(
            f"{start} must take one argument, the {argument}, and return a number"
        ) from None
    except ValueError:  # written in C: its arguments are not known
        pass


def reward_value(function: Callable[[Any], Any], result: object, caller: str) -> float:
    """Return the reward that a function gives a result.

    Raises:
        UsageError: it returns no number.
        Exception: any exception of the function.
    """
    value = function(result)
    if inspect.iscoroutine(value):
        value.close()
    try:
        if isinstance(value, SupportsFloat):
            return float(value)
    except (TypeError, ValueError):  # an array of several numbers
        pass
    what = f"reward function {_name_of(function)} returned {value!r:.60}, a {type(value).__name__}"
    raise UsageError(f"{caller}: {what}: it must return a number")


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)
