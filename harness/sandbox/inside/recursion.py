"""How deep Python code may call itself through C code: as deep as the stack has room for.

Such calls come from `functools.lru_cache`, a sort's key, `map`, `__eq__` and the like. Python 3.11
counts them as it counts all calls. Python 3.12 and 3.13 count them apart, too, and end at a number
that is fixed when they are built, however large the stack is: a recursive function with a cache
ends at a depth of 500 or 3,300 there. Python 3.14 looks at the stack itself. Here what is left of
that number is raised to what the stack holds, so that `sys.setrecursionlimit` decides everywhere.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

# pyright: reportPrivateUsage=false

COUNTED_APART = ((3, 12), (3, 13))
STACK_BYTES_A_CALL = 3_500  # more than any of the calls named above takes, measured
_WORDS = 40  # of a thread's state, within which the counters lie
_MARK = 54_321

_state = ctypes.pythonapi.PyThreadState_Get
_state.restype = ctypes.c_void_p


def allow_depth(stack_bytes: int, own_stack_bytes: int) -> None:
    """Let this thread, and those with larger stacks than usual, go as deep as their stacks allow.

    Args:
        stack_bytes: of this thread.
        own_stack_bytes: of a thread that asks for nothing else.
    """
    place = _place()
    if place is None:
        return
    _raise(place, stack_bytes)
    for name in ("_start_new_thread", "_start_joinable_thread"):
        start = getattr(threading, name, None)
        if start is not None:
            setattr(threading, name, _with_depth(start, place, own_stack_bytes))


def _place() -> int | None:
    """Which word of a thread's state holds the calls that are left; None where none does."""
    if sys.version_info[:2] not in COUNTED_APART:
        return None
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_MARK)
    found = [place for place, word in enumerate(_words()) if word == _MARK]
    sys.setrecursionlimit(limit)
    # It follows the limit of all calls; a few are in use already.
    known = len(found) == 1 and 1_000 < _words()[found[0] + 1] <= 10_000  # noqa: PLR2004
    return found[0] + 1 if known else None


def _words() -> Any:
    return (ctypes.c_int * _WORDS).from_address(_state())


def _raise(place: int, stack_bytes: int) -> None:
    words = _words()
    words[place] = max(words[place], stack_bytes // STACK_BYTES_A_CALL)


def _with_depth(start: Callable[..., Any], place: int, usual: int) -> Callable[..., Any]:
    """A function that starts threads, of which those with a large stack may go deep."""

    def starter(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        size = threading.stack_size()
        if size <= usual:
            return start(function, *arguments, **named)

        def deep(*given: Any) -> Any:
            _raise(place, size)
            return function(*given)

        return start(deep, *arguments, **named)

    return starter
