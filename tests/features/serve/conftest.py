"""One server for the tests that change nothing of it."""

from collections.abc import Iterator

import pytest
from json_lines import json_lines
from judge_server import JudgeServer
from own_problems import DOUBLE, ECHO, without_tests

from harness.run.plan.problem_loader import load_problems


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgeServer]:
    path = tmp_path_factory.mktemp("problems") / "own.jsonl"
    path.write_text(json_lines((ECHO, DOUBLE)))
    echo, double = load_problems(f"jsonl:{path}")
    with JudgeServer((echo, double, without_tests(echo))) as server:
        yield server
