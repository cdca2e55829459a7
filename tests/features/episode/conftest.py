from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO, without_tests

import harness
from harness import Episode, Episodes

Problems = tuple[harness.Problem, ...]
ANSWERED: dict[str, Any] = {
    **ECHO,
    "id": "own/three",
    "title": "Three",
    "statement": "Print the input, thrice.",
    "tests": [
        {"input": "1\n", "output": "111\n", "public": True},
        {"input": "2\n", "output": "222\n", "public": False},
        {"input": "3\n", "output": "333\n", "public": False},
        {"input": "4\n", "output": "444\n", "public": False},
        {"input": "5\n", "output": "555\n", "public": False},
    ],
    "references": ["print(input() * 3)"],
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Problems:
    path = tmp_path_factory.mktemp("episodes") / "rows.jsonl"
    all_rows = (ECHO, DOUBLE, ANSWERED)
    path.write_text(json_lines(all_rows))
    echo, *others = harness.load_problems(f"jsonl:{path}")
    return echo, *others, without_tests(echo)


@pytest.fixture(scope="module")
def episodes(rows: Problems) -> Iterator[Episodes]:
    with Episodes(rows, reward="shaped", workers=2, max_turns=4) as episodes:
        yield episodes


@pytest.fixture
def episode(episodes: Episodes) -> Episode:
    return Episode(episodes)


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")
