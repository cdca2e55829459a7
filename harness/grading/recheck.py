"""Which test of a solution runs first, in a process that has run nothing yet."""

import hashlib
from collections.abc import Sequence

from harness.problem import TestCase

HASHED_CHARACTERS = 1000
"""So much of each input counts."""


def picked(code: str, tests: Sequence[TestCase]) -> int:
    """The number of that test: hard to foresee for the solution, the same every time for us."""
    digest = hashlib.sha256(code.encode("utf-8", "surrogatepass"))
    for test in tests:
        digest.update(test.input[:HASHED_CHARACTERS].encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big") % len(tests)
