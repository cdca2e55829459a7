"""Many samples at once against a provider of which every third answer is a fault, in each protocol.

Every sample ends graded, no turn is asked more often than its counted retries, and tokens and cost
are what the server has given.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import Json, Reply, Solver, html_page
from every_wire import WIRES, Wire
from program import finish, results, start
from written import FIRST

pytestmark = pytest.mark.thorough

CLIENTS = {
    "chat": "from harness.models.clients.openai_chat import OpenAIChat as Client",
    "responses": "from harness.models.clients.openai_responses import OpenAIResponses as Client",
    "messages": "from harness.models.clients.anthropic_messages import AnthropicMessages as Client",
}
MODEL = """
{client}
model = Client("faulty", model="faulty", base_url={url!r}, api_key="sk-nobody-knows-it")
"""
MALFORMED = {"truncated", "html"}
FAULTS = (
    "429 ms",
    "500",
    "reset",
    "truncated",
    "429 s",
    "cut",
    "529",
    "html",
    "503",
)


class Faulty:
    """The solver, and a fault for every third request; it keeps account of what it gave."""

    def __init__(self, wire: Wire, solver: Solver) -> None:
        self.wire = wire
        self.solver = solver
        self.faults: Counter[str] = Counter()
        self.given = Counter[str]()
        self.malformed: set[str] = set()

    def __call__(self, body: Json, number: int) -> Reply:
        good = self.wire.answer(self.solver(self.wire.as_chat(body), number).body)
        if number % 3 == 2:
            kind = FAULTS[number // 3 % len(FAULTS)]
            turn = json.dumps(body, sort_keys=True)
            if kind in MALFORMED and turn in self.malformed:  # three of these are given up on
                kind = "500"
            if kind in MALFORMED:
                self.malformed.add(turn)
            self.faults[kind] += 1
            return self.fault(kind, good)
        sent, written = self.wire.usage_of(good)
        self.given.update(answers=1, input=sent, output=written)
        return good

    def fault(self, kind: str, good: Reply) -> Reply:
        faults = {
            "429 ms": self.wire.failure(429, headers={"retry-after-ms": "30"}),
            "429 s": self.wire.failure(429, headers={"retry-after": "0.1"}),
            "reset": Reply(reset=True),
            "cut": Reply(body=good.body, cut_after=40),
            "truncated": Reply(body=json.dumps(good.body).encode()[:-9]),
            "html": html_page(200),
        }
        return faults.get(kind) or self.wire.failure(int(kind))


def events(run: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for file in (run / "transcripts").iterdir()
        for line in file.read_text().splitlines()
    ]


@pytest.mark.parametrize("protocol", CLIENTS)
async def test_samples_at_a_faulty_provider_are_all_graded_and_accounts_agree(
    protocol: str, tmp_path: Path, solver: Solver
) -> None:
    wire = WIRES[protocol]
    script = Faulty(wire, solver)
    async with wire.server(script) as server:
        text = MODEL.format(client=CLIENTS[protocol], url=server.base_url)
        (tmp_path / "mine.py").write_text(text)
        flags = ["--concurrency", "32", "--price", "2,8", "--out", "r", "--json"]
        process = await start(
            tmp_path,
            *("run", "--agentic-mode", "-m", "python:mine:model", *FIRST),
            *("-k", "2", *flags),
        )
        code, out, err = await finish(process)
    assert code == 0, err[-2000:]
    summary = json.loads(out)
    samples = results(tmp_path / "r")
    assert len(samples) == summary["graded"] == summary["planned"] == 40
    assert summary["pass_at_1"]["value"] == 1.0
    kinds = Counter(event["event"] for event in events(tmp_path / "r"))
    assert sum(script.faults.values()) == len(server.requests) // 3
    assert set(script.faults) == set(FAULTS)
    asked = sum(sample["model_calls"] for sample in samples)
    assert script.given["answers"] == asked
    assert kinds["retry"] == sum(script.faults.values())
    assert len(server.requests) == asked + kinds["retry"]
    usage = Counter[str]()
    for sample in samples:
        usage.update(input=sample["usage"]["input_tokens"], output=sample["usage"]["output_tokens"])
    assert usage == Counter(input=script.given["input"], output=script.given["output"])
    cost = (2 * script.given["input"] + 8 * script.given["output"]) / 1e6
    assert sum(sample["cost"] for sample in samples) == pytest.approx(cost)
    assert "sk-nobody" not in err + out
