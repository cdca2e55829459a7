"""Let judged code recurse as deep as the stack holds.

Python code calls itself through C code in `functools.lru_cache`, a sort's key, `map`, `__eq__` and
the like. Python 3.11 counts such calls with all others. Python 3.12 and 3.13 also count them
separately, up to a number fixed at build time, however large the stack: a recursive function with a
cache ends at a depth of 500 or 3,300 there. Python 3.14 checks the stack itself. `allow_depth`
raises the remainder of that number to what the stack holds, so that `sys.setrecursionlimit` decides
everywhere.

The calls that lead to a solution count as well. `forget_frames` takes them back: a solution
recurses as deep as in an interpreter of its own, to the call.
"""

import ctypes
import inspect
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

COUNTED = ((3, 11), (3, 12), (3, 13))
COUNTED_APART = COUNTED[1:]
STACK_BYTES_A_CALL = 3_500  # more than any of the calls above needs, measured
_WORDS = 40  # of a thread's state, which include the counters
_MARK = 54_321

_state = ctypes.pythonapi.PyThreadState_Get
_state.restype = ctypes.c_void_p


def allow_depth(stack_bytes: int, own_stack_bytes: int) -> None:
    """Let this thread, and threads with enlarged stacks, recurse as deep as they can.

    Args:
        stack_bytes: stack size of this thread.
        own_stack_bytes: default stack size of other threads.
    """
    place = _place()
    if place is None:
        return
    _raise(place, stack_bytes)
    for name in ("_start_new_thread", "_start_joinable_thread"):
        start = getattr(threading, name, None)
        if start is not None:
            setattr(threading, name, _with_depth(start, place, own_stack_bytes))


def forget_frames(more: int) -> None:
    """Take back from this thread's count of calls those of the frames of the caller.

    Args:
        more: calls that are still to come before judged code.
    """
    limit = _limit_place()
    if limit is None:
        return
    frame, count = inspect.currentframe(), more - 1
    while frame is not None:
        frame, count = frame.f_back, count + 1
    _words()[limit - 1] += count  # what remains of the limit


def _place() -> int | None:
    """Return the index of the remaining-calls word in a thread's state, or None."""
    limit = _limit_place()
    if limit is None or sys.version_info[:2] not in COUNTED_APART:
        return None
    # It follows the limit of all calls; a few are already used.
    known = 1_000 < _words()[limit + 1] <= 10_000  # noqa: PLR2004
    return limit + 1 if known else None


@cache
def _limit_place() -> int | None:
    """Return the index of the limit of all calls in a thread's state, or None.

    What remains of it is the word before.
    """
    if sys.version_info[:2] not in COUNTED:
        return None
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_MARK)
    words = list(_words())
    places = [place for place, word in enumerate(words) if word == _MARK]
    sys.setrecursionlimit(limit)
    known = len(places) == 1 and places[0] and _MARK - limit < words[places[0] - 1] < _MARK
    return places[0] if known else None


def _words() -> Any:
    return (ctypes.c_int * _WORDS).from_address(_state())


def _raise(place: int, stack_bytes: int) -> None:
    words = _words()
    words[place] = max(words[place], stack_bytes // STACK_BYTES_A_CALL)


def _with_depth(start: Callable[..., Any], place: int, usual: int) -> Callable[..., Any]:
    """Wrap a function that starts threads so that large stacks allow deep recursion."""

    def starter(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        size = threading.stack_size()
        threading.stack_size(size)  # reading it sets it back to the system's default
        if size <= usual:
            return start(function, *arguments, **named)

        def deep(*given: Any) -> Any:
            _raise(place, size)
            return function(*given)

        return start(deep, *arguments, **named)

    return starter
