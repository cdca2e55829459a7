"""Sandboxes to run a test in: the strongest one, and in thorough runs each weaker one."""

import functools

import pytest

from harness.sandbox.isolation import CANDIDATES, Isolation
from harness.sandbox.strongest import probe_isolation

LEVELS = [
    pytest.param(None, id="strongest"),
    *(pytest.param(each, id=str(each), marks=pytest.mark.thorough) for each in CANDIDATES),
]
"""Parameters of a fixture; `None` is the strongest sandbox of this machine."""


def level_of(isolation: Isolation | None) -> Isolation:
    """Return the sandbox of a parameter; skip where it cannot be had or is the strongest again."""
    strongest = next((each for each in CANDIDATES if not _broken(each)), CANDIDATES[0])
    if isolation == strongest:
        pytest.skip("tested as the strongest")
    isolation = isolation or strongest
    if _broken(isolation):
        pytest.skip(f"cannot be had here: {_broken(isolation)}")
    return isolation


@functools.cache
def _broken(isolation: Isolation) -> str:
    return probe_isolation(isolation).broken
