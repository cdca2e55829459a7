"""Experiments on a loopback model whose turns, tokens and mistakes are drawn, and how they ended.

The agent takes one to six requests of varying size; a shot costs about a fourth to a half of that.
"""

import asyncio
import json
import random
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chat_server import ChatServer, Reply, completion, tool_call
from json_lines import json_lines
from program import Process, finish, start

from harness.errors import RunDirectoryError
from harness.features.compare.spend import spend_comparison
from harness.features.experiment.ranking import rank
from harness.run.summary.loaded_run import read_run

RIGHT, WRONG = "print(input())", "print(0)"
ARMS = ("single_shot", "agentic")
PRICE = 100.0
"""US dollars per million tokens, in and out."""


@dataclass(slots=True)
class ScriptedModel:
    """A model whose answers depend on the seed and the request alone.

    Attributes:
        seed: decides the answers.
        interrupt_at: number of the request at which the process is interrupted; None for never.
        process: the process that asks.
        asked: for each request, whether it is of the agent or of a shot, and its problem.
    """

    seed: int
    interrupt_at: int | None = None
    process: Process | None = None
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        """Answer a request."""
        match = re.search(r"Echo (\d+)", json.dumps(body["messages"]))
        assert match is not None, "a request names its problem"
        problem = match[1]
        self.asked.append(("agent" if body.get("tools") else "shot", problem))
        if len(self.asked) == self.interrupt_at and self.process is not None:
            self.process.send_signal(signal.SIGINT)
        draw = random.Random(f"{self.seed} {problem} {len(body['messages'])}")
        tokens = draw.randint(20, 60)
        usage = {"prompt_tokens": 3 * tokens, "completion_tokens": tokens}
        if not body.get("tools"):
            code = RIGHT if random.Random(f"{self.seed} {number}").random() < 0.4 else WRONG
            return completion(f"```python\n{code}\n```", usage=usage)
        turns = random.Random(f"{self.seed} turns {problem}").randint(0, 5)
        if sum(message["role"] == "assistant" for message in body["messages"]) < turns:
            calls = [tool_call("read_problem", {}, f"r{number}")]
            return completion(None, calls, usage=usage)
        code = RIGHT if draw.random() < 0.7 else WRONG
        calls = [
            tool_call("write_solution", {"code": code}, f"w{number}"),
            tool_call("run_tests", {}, f"t{number}"),
        ]
        return completion(None, calls, usage=usage)


@dataclass(frozen=True)
class Ended:
    """How an experiment ended.

    Attributes:
        code: exit code.
        screen: what it printed.
        whole: number of problems that both arms have graded.
        compared: number of problems of the answer at equal spend; 0 without one.
        apart: difference of both arms' spend on these, in shots a problem.
        sentence: the answer; empty without one.
    """

    code: int | None
    screen: str
    whole: int = 0
    compared: int = 0
    apart: float = 0.0
    sentence: str = ""


def write_problems(folder: Path, number: int) -> None:
    """Write problems to a folder: each is to print its input."""
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    rows = [
        {"id": f"p{n}", "title": f"Echo {n}", "statement": f"Echo {n}.", "tests": tests}
        for n in range(number)
    ]
    (folder / "p.jsonl").write_text(json_lines(rows))


async def carry_out(
    folder: Path, out: str, model: ScriptedModel, flags: Sequence[str] = ()
) -> Ended:
    """Run an experiment in a folder with problems to its end, and read its run directories."""
    async with ChatServer(model) as server:
        model.process = await start(
            folder,
            *("experiment", "-m", "served", "--base-url", server.base_url),
            *("--price", f"{PRICE},{PRICE}", "-b", "jsonl:p.jsonl", "--out", out),
            *("--concurrency", "3", *flags),
        )
        code, screen, _ = await finish(model.process)
    return await asyncio.to_thread(measured, folder / out, code, screen)


def measured(out: Path, code: int | None, screen: str) -> Ended:
    """Return the answer of an experiment, and the spend of its arms, added up by hand."""
    try:
        runs = [read_run(out / name) for name in ARMS]
    except RunDirectoryError:  # an arm has not begun
        return Ended(code, screen)
    done = [{r.problem_id for r in run.results if r.graded} for run in runs]
    whole = done[0] & done[1]
    answers = rank(out).answers
    if not whole or not answers:
        return Ended(code, screen, len(whole))
    comparison = spend_comparison(*runs)
    kept = whole
    if comparison.lacking:
        shots_of = {p: sum(r.problem_id == p for r in runs[0].results) for p in whole}
        kept = set(sorted(whole, key=lambda p: -shots_of[p])[: comparison.problems])
    shots, agent = ([r.cost or 0.0 for r in run.results if r.problem_id in kept] for run in runs)
    apart = (sum(shots) - sum(agent)) / len(kept) / (sum(shots) / len(shots))
    return Ended(code, screen, len(whole), comparison.problems, apart, answers[0].sentence)
