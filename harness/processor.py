"""The name of the processor."""

import platform
from functools import cache
from pathlib import Path


@cache
def processor() -> str:
    """Return the processor's model name, or else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
