"""A reader of the row that a test builds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.problem import Problem

Row = dict[str, Any]


@pytest.fixture
def problem_of(
    request: pytest.FixtureRequest, write_rows: Callable[..., Path]
) -> Callable[..., Problem]:
    """Reads a row with the reader that the test module calls `load`."""

    def read(row: Row, name: str = "rows.jsonl") -> Problem:
        (only,) = request.module.load(str(write_rows(row, name=name))).problems
        return only

    return read
