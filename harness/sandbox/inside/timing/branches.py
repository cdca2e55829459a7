"""A second clock that is the same on every machine: the branches that Python code takes.

`sys.monitoring` (Python 3.12 on) tells of each jump and each branch of Python code. They are the
same every time and say nothing of what is done in C, as sorting and long numbers are.
"""

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any

_EVENTS = ("BRANCH_LEFT", "BRANCH_RIGHT", "JUMP")  # from 3.14 on a branch is one of two
_OLDER = ("BRANCH", "JUMP")


@contextlib.contextmanager
def counting() -> Generator[Callable[[], int | None]]:
    """Count; what it gives says how many so far, None where the interpreter cannot tell."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        yield lambda: None
        return
    count = 0

    def seen(*_: Any) -> None:
        nonlocal count
        count += 1

    known = monitoring.events
    names = _EVENTS if hasattr(known, "BRANCH_LEFT") else _OLDER
    tool = monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, "harness")
    chosen = 0
    for name in names:
        chosen |= getattr(known, name)
        monitoring.register_callback(tool, getattr(known, name), seen)
    monitoring.set_events(tool, chosen)
    try:
        yield lambda: count
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
