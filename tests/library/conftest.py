from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO

import harness
from harness.sandbox.strongest import spare_servers

WRONG: dict[str, Any] = {
    **ECHO,
    "id": "own/reverse",
    "statement": "Print the input, reversed.",
    "tests": [
        {"input": "ab\n", "output": "ba\n", "public": True},
        {"input": "xyz\n", "output": "zyx\n", "public": False},
    ],
    "references": ["print(input()[::-1])"],
}
WriteProblems = Callable[..., str]


@pytest.fixture
def write_problems(tmp_path: Path) -> WriteProblems:
    """Writes rows, and says which benchmark they are."""

    def write(*rows: dict[str, Any], name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_text(json_lines(rows))
        return f"jsonl:{path}"

    return write


@pytest.fixture
def benchmark(write_problems: WriteProblems) -> str:
    """Two programs and a function."""
    return write_problems(ECHO, WRONG, DOUBLE)


@pytest.fixture
def problems(benchmark: str) -> tuple[harness.Problem, ...]:
    return harness.load_problems(benchmark)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is remembered between calls is remembered for one test."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(
        "harness.features.efficiency.measurement.default_folder", lambda: folder / "efficiency"
    )
    return folder


@pytest.fixture(autouse=True)
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a call without `workers` start one sandbox: that takes as long as most calls."""
    monkeypatch.setattr("harness.sandbox.pool.usable_cores", lambda: 1)


@pytest.fixture(autouse=True)
def no_spare_sandbox() -> Iterator[None]:
    """Ends the sandbox that was chosen for a call which then judged nothing."""
    yield
    while spare_servers:
        spare_servers.popitem()[1][0].end()
