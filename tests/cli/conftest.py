import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import Solver


@pytest.fixture(scope="session")
def bundled_rows() -> list[dict[str, Any]]:
    """The bundled problems as their file has them."""
    path = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="session")
def solver(bundled_rows: list[dict[str, Any]]) -> Solver:
    """A model that writes nonsense first, and each bundled problem's reference then."""
    return Solver({row["title"]: ["print(0)", row["references"][0]] for row in bundled_rows})
