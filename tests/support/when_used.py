"""Packages that take long to import: every worker collects all tests, and few need them."""

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class WhenUsed:
    """A package that is imported when a test takes something from it; skip it where it is not."""

    _name: str

    def __getattr__(self, attribute: str) -> Any:
        return getattr(pytest.importorskip(self._name), attribute)
