"""Fixtures for all tests that read rows: they build rows and files."""

import base64
import gzip
import json
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO

Row = dict[str, Any]


def encode(payload: bytes) -> str:
    return base64.b64encode(zlib.compress(payload)).decode()


@pytest.fixture
def pickled() -> Callable[[object], str]:
    """Encodes tests as upstream does."""
    return lambda tests: encode(pickle.dumps(json.dumps(tests), protocol=4))


@pytest.fixture
def lcb_row(pickled: Callable[[object], str]) -> Callable[..., Row]:
    """A LiveCodeBench row of a program, with columns changed at will."""

    def build(**columns: object) -> Row:
        row: Row = {
            "question_title": "Doubling",
            "question_content": "Print twice the number.",
            "platform": "atcoder",
            "question_id": "abc999_a",
            "contest_id": "abc999",
            "contest_date": "2024-02-03T04:05:06",
            "starter_code": "",
            "difficulty": "easy",
            "public_test_cases": json.dumps(
                [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
            ),
            "private_test_cases": pickled(
                [
                    {"input": "2\n", "output": "4\n", "testtype": "stdin"},
                    {"input": "3\n", "output": "6\n", "testtype": "stdin"},
                ]
            ),
            "metadata": "{}",
        }
        return {name: value for name, value in (row | columns).items() if value is not ...}

    return build


@pytest.fixture
def lcb_function(
    lcb_row: Callable[..., Row], pickled: Callable[[object], str]
) -> Callable[..., Row]:
    """A LiveCodeBench row of a function."""

    def build(**columns: object) -> Row:
        public = [{"input": "[1, 2]\n3", "output": "6", "testtype": "functional"}]
        private = [{"input": "[]\n0", "output": "0", "testtype": "functional"}]
        row = {
            "question_title": "sum-it-up",
            "platform": "leetcode",
            "question_id": "9999",
            "starter_code": (
                "class Solution:\n    def sumItUp(self, nums: List[int], n: int) -> int:\n        "
            ),
            "public_test_cases": json.dumps(public),
            "private_test_cases": pickled(private),
            "metadata": '{"func_name": "sumItUp"}',
        }
        return lcb_row(**(row | columns))

    return build


@pytest.fixture
def two_problems(tmp_path: Path) -> Path:
    """A folder with `own.jsonl`: a problem that reads stdin, and one that asks for a function."""
    (tmp_path / "own.jsonl").write_text(json_lines((ECHO, DOUBLE)))
    return tmp_path


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as JSONL, gzipped when the name says so."""

    def write(*rows: Row, name: str = "rows.jsonl") -> Path:
        path = tmp_path / name
        data = json_lines(rows).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write
