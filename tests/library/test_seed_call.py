"""The calls of Mercury_Eval's README, word for word, on a hub of our own."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hub_server import Hub
from program import run_by
from pyarrow import parquet  # type: ignore[import-untyped]

pytestmark = pytest.mark.thorough

MERCURY, SHA = "Elfsong/Mercury", "a" * 40
FAST = "class Solution:\n    def total(self, n): return n * (n + 1) // 2"
SLOW = "class Solution:\n    def total(self, n):\n        return sum(i for i in range(n + 1))"
ROW: dict[str, Any] = {
    "slug_name": "total",
    "entry_point": "total",
    "difficulty": "Easy",
    "prompt": "class Solution(object):\n    def total(self, n):\n",
    "pretty_content": ["Sum the numbers up to n."],
    "convert_offline": "def convert_offline(case):\n    return case[0], case[1]",
    "evaluate_offline": "def evaluate_offline(inputs, out, expected):\n    return out == expected",
    "test_cases": json.dumps(
        [{"input": [n], "expected": n * (n + 1) // 2} for n in (0, 1, 10, 3000)]
    ),
    "solutions": [{"solution": FAST, "runtime": "1ms"}, {"solution": SLOW, "runtime": "9ms"}],
}

PROGRAM = """
import json
from harness import evaluate

results = evaluate(split="eval", limit=10)
print(f"Pass@1: {results['pass_at_1']:.4f}")
print(f"Beyond@1: {results['beyond_at_1']:.4f}")

def my_solver(problem: dict) -> str:
    assert (problem["slug_name"], problem["entry_point"]) == ("total", "total")
    assert (problem["prompt"].split()[0], problem["difficulty"]) == ("class", "easy")
    assert problem["pretty_content"] == ["Sum the numbers up to n."]
    return '''
class Solution:
    def total(self, n):
        return sum(i for i in range(n + 1))
'''

results = evaluate(solution_fn=my_solver, split="eval", limit=50)
print(json.dumps([results["pass_at_1"], results["beyond_at_1"], results["percentile"]]))
results = evaluate(solution_fn=my_solver, limit=50, efficiency=False)
print(results["pass_at_1"], results["beyond_at_1"])
"""
WITHOUT_TIMING = 'import sys\nsys.modules["harness.features.efficiency"] = None\n'


@pytest.fixture
def hub(tmp_path: Path) -> Any:
    path = tmp_path / "eval.parquet"
    parquet.write_table(pa.Table.from_pylist([ROW]), path)
    files: dict[str, bytes | Path] = {"data/eval-00000-of-00001.parquet": path}
    with Hub({MERCURY: {SHA: files}}) as hub:
        yield hub


def test_the_calls_of_mercury_eval_work_as_written(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    env = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub.endpoint}
    done = run_by(tmp_path / "here", sys.executable, "-c", PROGRAM, **env)
    assert done.returncode == 0, done.stderr
    first, second, slow, plain = done.stdout.splitlines()
    assert first == "Pass@1: 1.0000"
    assert float(second.removeprefix("Beyond@1: ")) > 0.8, "sample 0 is the fast reference"
    passed, beyond, percentile = json.loads(slow)
    assert (passed, beyond < 0.2, percentile <= 50) == (1.0, True, True)
    assert plain == "1.0 nan"
    assert not [*(tmp_path / "here").iterdir()]


def test_without_the_feature_that_times_mercury_is_judged_all_the_same(
    hub: Hub, tmp_path: Path
) -> None:
    env = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub.endpoint}
    done = run_by(tmp_path, sys.executable, "-c", WITHOUT_TIMING + PROGRAM, **env)
    assert done.stdout.splitlines() == [
        "Pass@1: 1.0000",
        "Beyond@1: nan",
        "[1.0, NaN, NaN]",
        "1.0 nan",
    ]
