"""A run's folder holds what was sent: the body of every request is made again from it.

The manifest has the tools and the system message that all samples share, the transcript the rest.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

from chat_server import Json, Reply, completion, failure, tool_call
from every_wire import WIRES, Wire
from for_each import for_each
from own_problems import ECHO
from program import run
from scripted import rebuild
from text_model import REFUSALS

from harness.agent.events import Request, ToolProtocolChanged, standing
from harness.models.clients import anthropic_wire, openai_request, responses_wire
from harness.models.protocol import Message, ModelSettings, ToolSpec
from harness.run.store.directory import read_manifest
from harness.run.store.transcript import read_events

RIGHT = "print(input())"
WRONG, OTHER = "print(3)", "print(4)"
TESTS = "Input:\n```\n1\n```\nOutput:\n```\n7\n```\n"
CLIENTS = {
    "chat": ("openai_chat", "OpenAIChat"),
    "responses": ("openai_responses", "OpenAIResponses"),
    "messages": ("anthropic_messages", "AnthropicMessages"),
}
MODEL = """
from importlib import import_module

class Model:
    name = "m"
    def __init__(self):
        self._clients = [
            getattr(import_module(f"harness.models.clients.{{module}}"), name)(
                "m", model="m", base_url=url, api_key="key"
            )
            for module, name, url in {clients!r}
        ]
    def for_sample(self, problem, index):
        return self._clients[index]
    async def generate(self, messages, tools, settings, on_retry=None):
        raise AssertionError("the clients answer")
    async def close(self):
        for client in self._clients:
            await client.close()

model = Model()
"""
"""Asks over a wire for each sample of the problem."""
SETTINGS = ModelSettings()


class Said(NamedTuple):
    """An answer: text, and the names and arguments of calls."""

    text: str
    calls: Sequence[tuple[str, Json]] = ()


class Case(NamedTuple):
    """A mode, what the model says in it, and how many of its requests have tools.

    The last answer is repeated. `refuses_tools`: whether the endpoint does.
    """

    flags: str
    answers: Sequence[Said]
    requests: int
    with_tools: int = 0
    refuses_tools: bool = False


def fenced(code: str) -> Said:
    return Said(f"First try.\n\n```python\n{code}\n```")


def calls(*codes: str) -> Said:
    written = [("write_solution", {"code": code}) for code in codes]
    return Said("I try this.", [*written, ("run_tests", {})])


def in_text(name: str, **arguments: str) -> Said:
    return Said(f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```")


HM = Said("Hm.")
SHOTS = [fenced(WRONG), HM, fenced(RIGHT)]
LOOP = [fenced(WRONG), HM, fenced(WRONG), fenced(OTHER), fenced(RIGHT)]
REPORT = Said("No program passes.", [("report_problem", {"reason": "Test 1 is wrong."})])
NATIVE = [
    Said("I read.", [("read_problem", {})]),
    calls(WRONG),
    HM,
    calls(OTHER),
    calls(RIGHT),
]
CASES = {
    "single shot": Case("--mode single_shot", [fenced(WRONG)], 1),
    "self-repair": Case(
        "--mode self_repair --set repair_rounds=3", [fenced(WRONG), HM, fenced(RIGHT)], 3
    ),
    "best of k": Case("--mode best_of_k_public --best-of 3", [fenced(WRONG), HM, fenced(RIGHT)], 3),
    "CodeT": Case("--mode codet --best-of 2", [Said(TESTS), fenced(WRONG), fenced(RIGHT)], 3),
    "Reflexion": Case(
        "--mode reflexion --set repair_rounds=1",
        [Said(TESTS), fenced(WRONG), Said("It prints 3."), fenced(RIGHT)],
        4,
    ),
    "MapCoder": Case(
        "--mode map_coder --set repair_rounds=1",
        [HM, Said("Add."), Said("9/10"), fenced(WRONG), fenced(RIGHT)],
        5,
    ),
    "in text, grow": Case("--tool-protocol text --context grow", LOOP, 5),
    "in text, fresh": Case("--tool-protocol text --context fresh", LOOP, 5),
    "in text, a further tool": Case(
        "--tool-protocol text --context grow --set run_code_tool=true",
        [in_text("run_code", code=WRONG), fenced(WRONG), fenced(RIGHT)],
        3,
    ),
    "in text, check turns": Case(
        "--tool-protocol text --context fresh --set check_turns=2",
        [fenced(RIGHT), Said(TESTS), HM],
        3,
    ),
    "natively, grow": Case("--tool-protocol native --context grow", NATIVE, 5, 5),
    "natively, fresh": Case("--tool-protocol native --context fresh", NATIVE, 5, 5),
    "natively, what is left": Case("--tool-protocol native --set show_budget=true", NATIVE, 5, 5),
    "natively, calls in text": Case(
        "--tool-protocol native", [in_text("write_solution", code=WRONG), calls(RIGHT)], 2, 2
    ),
    "natively, a wrong test may be reported": Case(
        "--tool-protocol native --set impossible=1 --set impossible_exit=true",
        [calls(WRONG), REPORT],
        2,
        2,
    ),
    "from native to text": Case(
        "--tool-protocol auto", [HM, HM, fenced(WRONG), fenced(RIGHT)], 4, 2
    ),
    "an endpoint without tools": Case(
        "--tool-protocol auto", [fenced(WRONG), fenced(RIGHT)], 3, 1, refuses_tools=True
    ),
}

ON_EVERY_WIRE = {"self-repair", "in text, fresh"} | {
    name for name, case in CASES.items() if case.with_tools and not case.refuses_tools
}
"""Cases that differ on each wire: with tools, and of the others two with several answers.

An endpoint without tools is one of chat completions: other protocols always take tools.
"""


class Server:
    """Says a case's answers, one after the other."""

    def __init__(self, wire: Wire, case: Case) -> None:
        self._wire = wire
        self._case = case
        self._asked = 0

    def __call__(self, body: Json, number: int) -> Reply:
        if self._case.refuses_tools and "tools" in body:
            return failure(*REFUSALS["Ollama"])
        said = self._case.answers[min(self._asked, len(self._case.answers) - 1)]
        self._asked += 1
        made = [
            tool_call(name, given, f"c{number}_{place}")
            for place, (name, given) in enumerate(said.calls)
        ]
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        return self._wire.answer(completion(said.text, made, usage=usage).body)


def logged(folder: Path, number: int) -> list[tuple[tuple[Message, ...], list[ToolSpec]]]:
    """The messages and tools of every request of a sample, from nothing but a run's folder."""
    given = [ToolSpec(**each) for each in read_manifest(folder).get("tools", {}).get("sent", ())]
    path = sorted((folder / "transcripts").iterdir())[number]
    events = standing(read_events(path))
    tools: list[list[ToolSpec]] = []
    native = True
    for event in events:
        if isinstance(event, ToolProtocolChanged):
            native = event.protocol == "native"
        elif isinstance(event, Request):
            tools.append(given if native else [])
    return list(zip(rebuild(events), tools, strict=True))


def _chat(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Json:
    return openai_request.request_body("m", messages, tools, SETTINGS, max_tokens_field="n")


def _responses(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Json:
    return responses_wire.request_body("m", messages, tools, SETTINGS)


def _messages(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Json:
    return anthropic_wire.request_body("m", messages, tools, SETTINGS)


BODIES: dict[str, Callable[[Sequence[Message], Sequence[ToolSpec]], Json]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
}
CONTENT = ("system", "messages", "input", "instructions", "tools")
"""The fields of a body that say something to the model."""


def said_in(body: Json) -> Json:
    return {field: body[field] for field in CONTENT if field in body}


@for_each("name", CASES)
async def test_every_body_that_is_sent_is_made_again_from_the_run(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    wires = [*WIRES] if name in ON_EVERY_WIRE else ["chat"]
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(WIRES[wire].server(Server(WIRES[wire], case)))
            for wire in wires
        ]
        clients = [
            (*CLIENTS[wire], server.base_url) for wire, server in zip(wires, servers, strict=True)
        ]
        (tmp_path / "mine.py").write_text(MODEL.format(clients=clients))
        (tmp_path / "own.jsonl").write_text(json.dumps(ECHO))
        mode = () if "--mode" in case.flags else ("--agentic-mode",)
        code, _, err = await run(
            tmp_path,
            *("run", *mode, *case.flags.split(), "-m", "python:mine:model"),
            *("-b", "jsonl:own.jsonl", "-k", str(len(wires)), "--out", "r"),
        )
    assert code == 0, err
    for number, (wire, server) in enumerate(zip(wires, servers, strict=True)):
        received = [said_in(request.body) for request in server.requests]
        sent = logged(tmp_path / "r", number)
        made = [said_in(BODIES[wire](messages, tools)) for messages, tools in sent]
        assert json.dumps(made) == json.dumps(received), wire
        assert len(received) == case.requests, wire
        assert sum("tools" in body for body in received) == case.with_tools, wire
