"""Which processor this machine has."""

import platform
from functools import cache
from pathlib import Path


@cache
def processor() -> str:
    """Its model, as the system names it; else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
