"""What a command does on its way is done here too: examples checked, models reached, agents run."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from batch_server import OpenAIBatchServer
from chat_server import ChatServer, Solver, completion
from program import run_by

import harness
from harness import EvaluationError, Grader, aevaluate, agrade, evaluate, grade

DOUBLE = "def double(n):\n    return 2 * n\n"
LEETCODE = {
    "id": 1,
    "slug": "double",
    "title": "double",
    "difficulty": "Easy",
    "content": "**Input:** n = 2\n**Output:** 4\n\n**Input:** n = 3\n**Output:** 7\n",
    "python": f"```python\n{DOUBLE}```",
}
Problems = tuple[harness.Problem, ...]


@pytest.fixture
def unchecked(tmp_path: Path) -> Problems:
    """Of its two examples its own solution fails the second."""
    (tmp_path / "leetcode.jsonl").write_text(json.dumps(LEETCODE) + "\n")
    problems = harness.load_problems(f"leetcode:{tmp_path / 'leetcode.jsonl'}")
    assert [each.unchecked for each in problems] == [True]
    return problems


def double(_: dict[str, Any]) -> str:
    return DOUBLE


class TestExamplesAreChecked:
    def test_before_an_evaluation(
        self, unchecked: Problems, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert evaluate(double, benchmark=unchecked)["pass_at_1"] == 1.0
        assert "dropped 1 of 2 examples, which their own solutions fail" in caplog.text

    async def test_in_a_running_loop(self, unchecked: Problems) -> None:
        assert evaluate(double, benchmark=unchecked)["pass_at_1"] == 1.0

    async def test_before_an_awaited_evaluation(self, unchecked: Problems) -> None:
        assert (await aevaluate(double, benchmark=unchecked))["pass_at_1"] == 1.0

    async def test_before_grading(self, unchecked: Problems) -> None:
        assert grade(unchecked, [DOUBLE])[0].passed
        assert (await agrade(unchecked, [DOUBLE]))[0].tests_total == 1

    def test_once_by_a_grader(self, unchecked: Problems, own_cache: Path) -> None:
        with Grader(unchecked, extract="code") as grader:
            assert grader.score(["double"] * 3, [DOUBLE] * 3) == [1.0] * 3
            (own_cache / "vetted" / "examples.jsonl").unlink()
            assert grader("double", DOUBLE) == 1.0
        assert not (own_cache / "vetted" / "examples.jsonl").exists()


async def test_a_model_is_asked_over_http(solver: Solver) -> None:
    async with ChatServer(solver) as server:
        result = await aevaluate(
            benchmark="fixture",
            model="served",
            base_url=server.base_url,
            mode="agentic",
            limit=2,
            price={"input": 1, "output": 2},
        )
    assert (result["pass_at_1"], result["graded"]) == (1.0, 2)
    assert result["tokens"] > 0
    assert result["cost"] > 0


def test_an_agent_of_ones_own_is_started(tmp_path: Path, benchmark: str) -> None:
    (tmp_path / "agent.py").write_text("print('I was here')\n")
    with pytest.raises(EvaluationError, match=r"never reached the tools.*I was here") as error:
        evaluate(
            benchmark=benchmark,
            limit=1,
            agent_command=f"{sys.executable} {tmp_path / 'agent.py'}",
            agent_without_namespace=True,
        )
    assert error.value.__context__ is None, "one line, and no story before it"


BATCHED = """
import dataclasses, sys
from harness.models import providers
def moved(provider):
    return dataclasses.replace(provider, base_url=sys.argv[1])
providers.PROVIDERS = tuple(map(moved, providers.PROVIDERS))

import harness
result = harness.evaluate(benchmark="fixture", model="openai-chat/gpt-made", limit=3, batch=True)
print(result["graded"], result["tokens"])
"""


async def test_the_batch(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 700, "completion_tokens": 300}
    async with OpenAIBatchServer(lambda *_: completion("print(0)", usage=usage)) as server:
        command = (sys.executable, "-c", BATCHED, server.base_url)
        done = await asyncio.to_thread(run_by, tmp_path, *command, OPENAI_API_KEY="sk-secret")
    assert done.stdout == "3 3000\n", done.stderr
    assert (len(server.batches), len(server.asked)) == (1, 3)


@pytest.fixture
def solver() -> Solver:
    rows = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
    known = [json.loads(line) for line in rows.read_text().splitlines()]
    return Solver({row["title"]: [row["references"][0]] for row in known})
