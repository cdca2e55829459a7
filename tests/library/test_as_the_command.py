"""What a command does on its way is done here too: examples checked, models reached, agents run."""

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from batch_server import OpenAIBatchServer
from chat_server import ChatServer, Solver, completion
from program import run_by

import harness
from harness import EvaluationError, aevaluate, evaluate

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


def double(_: dict[str, Any]) -> str:
    return DOUBLE


@pytest.mark.thorough
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
            agent_command=shlex.join([sys.executable, str(tmp_path / "agent.py")]),
            agent_without_namespace=True,
        )
    assert error.value.__context__ is None, "one line, and no story before it"


BATCHED = """
import sys
from harness.models import providers
def moved(provider):
    return provider._replace(base_url=sys.argv[1])
providers.PROVIDERS = tuple(map(moved, providers.PROVIDERS))

import harness
result = harness.evaluate(benchmark="fixture", model="openai-chat/gpt-made", limit=3, batch=True)
print(result["graded"], result["tokens"])
"""


@pytest.mark.thorough
async def test_evaluate_asks_by_batch(tmp_path: Path) -> None:
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
