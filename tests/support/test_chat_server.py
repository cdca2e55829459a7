"""The stand-alone solver, driven by the harness's client as in a run."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.models.clients.openai_chat import OpenAIChat
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelTurn,
    Retry,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

PROGRAM = Path(__file__).with_name("chat_server.py")
TOOLS = [
    ToolSpec(name="read_problem", description="", parameters={"type": "object"}),
    ToolSpec(
        name="write_solution",
        description="",
        parameters={"type": "object", "properties": {"code": {"type": "string"}}},
    ),
    ToolSpec(name="run_tests", description="", parameters={"type": "object"}),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


@pytest.fixture
def solver_url(tmp_path: Path, log: Path) -> Iterator[str]:
    solutions = tmp_path / "solutions.json"
    solutions.write_text(json.dumps({"Two": ["other"], "Two Sum": ["wrong", "right"]}))
    arguments = ["--solutions", solutions, "--log", log, "--fault-every", "3"]
    with subprocess.Popen(
        [sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def results(turn: ModelTurn, **contents: str) -> list[Message]:
    return [
        turn.message(),
        *(
            ToolMessage(call_id=c.id, name=c.name, content=contents.get(c.name, "ok"))
            for c in turn.tool_calls
        ),
    ]


def called(turn: ModelTurn) -> list[tuple[str, str]]:
    return [(c.name, json.loads(c.arguments).get("code", "")) for c in turn.tool_calls]


def logged(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


async def test_the_solver_tries_program_after_program(solver_url: str, log: Path) -> None:
    model = OpenAIChat("m", model="m", base_url=solver_url, api_key="k")
    retries: list[Retry] = []

    async def ask(messages: Sequence[Message], tools: Sequence[ToolSpec] = TOOLS) -> ModelTurn:
        return await model.generate(messages, tools, ModelSettings(), retries.append)

    talk: list[Message] = [UserMessage(content="Solve the problem.")]
    turn = await ask(talk)
    assert called(turn) == [("read_problem", "")]
    talk += results(turn, read_problem="# Two Sum\nAdd.")
    turn = await ask(talk)
    assert called(turn) == [("read_problem", ""), ("write_solution", "wrong"), ("run_tests", "")]
    talk += results(turn, run_tests="1 of 2 tests failed")
    turn = await ask(talk)
    assert called(turn) == [("write_solution", "right"), ("run_tests", "")]
    passed = await ask([*talk, *results(turn, run_tests="All 2 tests passed.")])
    failed = await ask([*talk, *results(turn, run_tests="1 of 2 tests failed")])
    assert passed.tool_calls == failed.tool_calls == ()
    assert passed.usage is not None
    assert passed.usage.input_tokens > 0
    alone = await ask([UserMessage(content="Two Sum: add.")], [])
    assert alone.text == "```python\nwrong\n```"
    await model.close()
    entries = logged(log)
    assert [entry["status"] for entry in entries] == [200, 200, 429] * 2 + [200, 200]
    assert len(retries) == 2
    assert entries[-1] == {"n": 7, "title": "Two Sum", "messages": 1, "status": 200}
