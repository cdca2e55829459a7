"""Count of branches taken by Python code: a time measure equal on every machine.

`sys.monitoring` (Python 3.12 on) reports each jump and branch of Python code. The count is
reproducible, but does not include work done in C, such as sorting and long integers.
"""

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any

_EVENTS = ("BRANCH_LEFT", "BRANCH_RIGHT", "JUMP")  # from 3.14 on there are two branch events
_OLDER = ("BRANCH", "JUMP")


@contextlib.contextmanager
def counting() -> Generator[Callable[[], int | None]]:
    """Count branches; yields a function returning the count, None if unsupported."""
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
