"""What a model call costs the harness itself: CPU time beside the bare SDK's, in one run.

For each protocol a loopback server, in a process of its own, gives one fixed answer to a
conversation of eight messages with three tools; the bare SDK and our client ask in turns. Beside
them: a whole sample of four model calls and three tool calls, transcript on, with a model in
process.

    python tests/benchmarks/models.py [--calls 60] [--rounds 5]
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from cost import Spread, table

from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelSettings,
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from harness.models.scripted import ScriptedModel
from harness.run.engine.engine import Engine
from harness.run.engine.manifest import manifest
from harness.run.plan.plan import prepare
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import choose

SAMPLES = 100
PROTOCOLS = ("chat", "responses", "messages")
AT_ONCE = 50
SERVER = """
import asyncio, sys
sys.path.insert(0, {loopback!r})
import chat_server, messages_server, responses_server

CALL = {{"code": "x = 1\\n" * 80}}
SERVERS = {{
    "chat": (chat_server.ChatServer, lambda: chat_server.completion(
        "Next.", [chat_server.tool_call("write_solution", CALL)])),
    "responses": (responses_server.ResponsesServer, lambda: responses_server.response(
        responses_server.said("Next."), responses_server.called("write_solution", CALL))),
    "messages": (messages_server.MessagesServer, lambda: messages_server.message(
        messages_server.text_block("Next."), messages_server.tool_use("write_solution", CALL))),
}}

async def main(kind):
    server, reply = SERVERS[kind]
    async with server(lambda body, number: reply()) as running:
        print(running.base_url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

asyncio.run(main(sys.argv[1]))
"""
Ask = Callable[[], Awaitable[Any]]


def conversation() -> list[Message]:
    """Instructions, a task, and three turns with a tool call each."""
    messages: list[Message] = [SystemMessage(content="s" * 800), UserMessage(content="u" * 2000)]
    for number in range(3):
        call = ToolCall(
            id=f"call_{number}",
            name="write_solution",
            arguments=json.dumps({"code": "x = 1\n" * 80}),
        )
        messages.append(AssistantMessage(text="Attempt.", tool_calls=(call,)))
        messages.append(ToolMessage(call_id=call.id, name=call.name, content="r" * 300))
    return messages


TOOLS = [
    ToolSpec(
        name=name,
        description="d" * 100,
        parameters={"type": "object", "properties": {"code": {"type": "string"}}},
    )
    for name in ("read_problem", "write_solution", "run_tests")
]


def pair(kind: str, url: str) -> tuple[Ask, Ask, Callable[[], Awaitable[None]]]:
    """The bare SDK's request and ours, the same on the wire, and what closes both."""
    history, settings = conversation(), ModelSettings(max_tokens=4000)
    if kind == "messages":
        from anthropic import AsyncAnthropic

        from harness.models.clients import anthropic_wire
        from harness.models.clients.anthropic_messages import AnthropicMessages

        bare = AsyncAnthropic(api_key="k", base_url=url, max_retries=0)
        ours = AnthropicMessages("m", model="m", base_url=url, api_key="k")
        create, body = (
            bare.messages.create,
            anthropic_wire.request_body("m", history, TOOLS, settings),
        )
    else:
        from openai import AsyncOpenAI

        from harness.models.clients import openai_request, responses_wire
        from harness.models.clients.openai_chat import OpenAIChat
        from harness.models.clients.openai_responses import OpenAIResponses

        bare = AsyncOpenAI(api_key="k", base_url=url, max_retries=0)
        client = OpenAIChat if kind == "chat" else OpenAIResponses
        ours = client("m", model="m", base_url=url, api_key="k")
        create = bare.chat.completions.create if kind == "chat" else bare.responses.create
        body = (
            openai_request.request_body(
                "m", history, TOOLS, settings, max_tokens_field="max_tokens"
            )
            if kind == "chat"
            else responses_wire.request_body("m", history, TOOLS, settings)
        )

    async def close() -> None:
        await ours.close()
        await bare.close()

    return (lambda: create(**body)), (lambda: ours.generate(history, TOOLS, settings)), close


async def compared(kind: str, url: str, calls: int, rounds: int) -> list[list[str]]:
    """CPU milliseconds a call, one at a time and many at once."""
    bare, ours, close = pair(kind, url)
    figures: dict[tuple[str, int], list[float]] = {}
    for ask in (bare, ours):
        for _ in range(20):
            await ask()
    for _ in range(rounds):
        for at_once in (1, AT_ONCE):
            for name, ask in (("bare", bare), ("ours", ours)):
                figures.setdefault((name, at_once), []).append(await cpu_ms(ask, calls, at_once))
    await close()
    rows: list[list[str]] = []
    for at_once in (1, AT_ONCE):
        ratios = [
            own / sdk
            for own, sdk in zip(figures["ours", at_once], figures["bare", at_once], strict=True)
        ]
        spreads = [Spread.of(figures[name, at_once]).text() for name in ("bare", "ours")]
        rows.append([f"{kind}, {at_once} at once", *spreads, Spread.of(ratios).text()])
    return rows


async def cpu_ms(ask: Ask, calls: int, at_once: int) -> float:
    """CPU milliseconds of this process per call."""
    start = time.process_time()
    for _ in range(calls // at_once or 1):
        await asyncio.gather(*(ask() for _ in range(at_once)))
    return (time.process_time() - start) / (max(calls // at_once, 1) * at_once) * 1000


CODE = "# " + "x" * 1000 + "\nprint(input())\n"
CALLS = (
    ("read_problem", "{}"),
    ("write_solution", json.dumps({"code": CODE})),
    ("run_tests", "{}"),
)


def scripted() -> ScriptedModel:
    """A model that reads, writes, tests and stops: four calls a sample."""
    used = Usage(input_tokens=1, output_tokens=1)
    turns = [
        ModelTurn(
            text="Next.",
            tool_calls=(ToolCall(id=f"c{number}", name=name, arguments=arguments),),
            usage=used,
            stop=ModelStop(reason="tool_use"),
        )
        for number, (name, arguments) in enumerate(CALLS)
    ]
    return ScriptedModel(
        [*turns, ModelTurn(text="Done.", usage=used, stop=ModelStop(reason="end_turn"))]
    )


class Silent:
    """An observer that tells nobody."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


async def samples(count: int, folder: Path) -> tuple[float, float]:
    """CPU milliseconds of this process per model call, and bytes on disk a sample."""
    tests = [{"input": "1", "output": "2", "public": True}]  # wrong: the model goes on to its end
    rows = [
        json.dumps({"id": f"p{n}", "statement": "s" * 2000, "tests": tests}) for n in range(count)
    ]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    spec = RunSpec(
        mode="agentic",
        model="python:scripted",
        max_turns=len(CALLS) + 1,  # the last message would get a reminder
        benchmark=f"jsonl:{folder / 'rows.jsonl'}",
        tool_protocol="native",
    )
    plan = prepare(spec, {}, own_model=scripted())
    directory = RunDirectory.create(folder / "run", manifest(plan, choose()))
    async with SandboxPool(workers=1, isolation=choose().isolation) as pool:
        engine = Engine(plan, directory, pool, cast("Any", Silent()))
        start = time.process_time()
        failures = await engine.run(plan.samples)
        spent = time.process_time() - start
    assert not failures, failures[0]
    calls = sum(result.model_calls for result in directory.committed())
    directory.close()
    size = sum(file.stat().st_size for file in (folder / "run").rglob("*") if file.is_file())
    return spent / calls * 1000, size / count


def served(kind: str) -> "subprocess.Popen[str]":
    """A server in a process of its own; its first line is its address."""
    code = SERVER.format(loopback=str(Path(__file__).parents[1] / "support"))
    return subprocess.Popen(
        [sys.executable, "-c", code, kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows: list[list[str]] = []
    for kind in PROTOCOLS:
        server = served(kind)
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            rows += asyncio.run(compared(kind, url, options.calls, options.rounds))
        finally:
            server.communicate()
    print("CPU ms a call: median [least..most]")
    in_process: list[float] = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as name:
            own, size = asyncio.run(samples(SAMPLES, Path(name)))
            in_process.append(own)
    print(table(["", "bare SDK", "ours", "ours / bare"], rows))
    print(f"in process, all of a run but the judged programs: {Spread.of(in_process).text()}")
    print(f"bytes on disk a sample: {size:,.0f}")


if __name__ == "__main__":
    main()
