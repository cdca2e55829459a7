"""Experiments that end early: whether each still answers, and if both arms spend the same.

    python tests/benchmarks/early_ends.py [--experiments 30] [--seed 0]

A loopback server plays a model whose agent takes one to six requests of varying size, and whose
single shots cost about a fourth to a half of that. Each experiment ends by a budget, an interrupt
at a random request, `--stop-when-decided`, or by itself. Its answer is compared with the
figures in its run directories.
"""

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from chat_server import ChatServer, Reply, completion, tool_call

from harness.features.compare.spend import spend_comparison
from harness.features.experiment.ranking import rank
from harness.run.summary.loaded_run import read_run

PROBLEMS = 20
KINDS = ("budget", "interrupt", "early stop", "whole")
RIGHT, WRONG = "print(input())", "print(0)"
PRICE = 100.0
"""US dollars per million tokens, in and out."""


class ScriptedModel:
    """A model whose turns, tokens and mistakes depend on the seed and the request alone."""

    def __init__(self, seed: int, interrupt_at: int | None) -> None:
        self.seed, self.interrupt_at, self.asked = seed, interrupt_at, 0
        self.process: asyncio.subprocess.Process | None = None

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        self.asked += 1
        if self.asked == self.interrupt_at and self.process is not None:
            self.process.send_signal(signal.SIGINT)
        statement = json.dumps(body["messages"][:2])
        draw = random.Random(f"{self.seed} {statement} {len(body['messages'])}")
        tokens = draw.randint(20, 60)
        usage = {"prompt_tokens": 3 * tokens, "completion_tokens": tokens}
        if not body.get("tools"):
            shot = random.Random(f"{self.seed} {number}")
            code = RIGHT if shot.random() < 0.4 else WRONG
            return completion(f"```python\n{code}\n```", usage=usage)
        turns = random.Random(f"{self.seed} turns {statement}").randint(0, 5)
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
        whole: number of problems that both arms have graded.
        compared: number of problems of the answer at equal spend; 0 without one.
        apart: difference of both arms' spend on these, in shots a problem.
        sentence: the answer.
    """

    kind: str
    code: int
    whole: int
    compared: int
    apart: float
    sentence: str


async def carry_out(folder: Path, kind: str, seed: int) -> Ended:
    """Run one experiment to its end, and read its run directories."""
    draw = random.Random(seed)
    interrupt_at = draw.randint(30, 110) if kind == "interrupt" else None
    model = ScriptedModel(seed, interrupt_at)
    more = {
        "budget": ["--max-cost", f"{draw.uniform(0.3, 1.6):.3f}"],
        "early stop": ["--stop-when-decided", "--level", "0.3"],
    }.get(kind, [])
    out = folder / f"{kind.replace(' ', '-')}-{seed}"
    async with ChatServer(model) as server:
        model.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "harness", "experiment", "-m", "served"),
            *("--base-url", server.base_url, "--price", f"{PRICE},{PRICE}"),
            *("-b", "jsonl:p.jsonl", "--out", str(out), "--concurrency", "3", *more),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        await model.process.communicate()
    return measured(out, kind, model.process.returncode or 0)


def measured(out: Path, kind: str, code: int) -> Ended:
    """Return the answer of an experiment, and the spend of its arms, added up by hand."""
    runs = [read_run(out / name) for name in ("single_shot", "agentic")]
    done = [{r.problem_id for r in run.results if r.graded} for run in runs]
    whole = done[0] & done[1]
    (answer,) = rank(out).answers
    found = spend_comparison(*runs)
    kept = whole
    if found.lacking:
        shots_of = {p: sum(r.problem_id == p for r in runs[0].results) for p in whole}
        kept = set(sorted(whole, key=lambda p: -shots_of[p])[: found.problems])
    shots, agent = ([r.cost or 0.0 for r in run.results if r.problem_id in kept] for run in runs)
    apart = (sum(shots) - sum(agent)) / len(kept) / (sum(shots) / len(shots))
    return Ended(kind, code, len(whole), found.problems, apart, answer.sentence)


def problems(folder: Path) -> None:
    """Write the problems: each is to print its input."""
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    rows = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": tests} for n in range(PROBLEMS)]
    (folder / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))


def main() -> None:
    """Carry out the experiments and print a line for each."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--experiments", type=int, default=30)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    worst, unanswered = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="early-ends-") as folder:
        problems(Path(folder))
        for number in range(asked.experiments):
            kind = KINDS[number % len(KINDS)]
            ended = asyncio.run(carry_out(Path(folder), kind, asked.seed + number))
            worst = max(worst, abs(ended.apart))
            unanswered += not ended.sentence.startswith("For ")
            print(
                f"{number:>3} {ended.kind:<10} exit {ended.code:>3}  {ended.whole:>2} whole, "
                f"{ended.compared:>2} compared, shots {ended.apart:+.2f} apart  {ended.sentence}",
                flush=True,
            )
    print(f"largest difference {worst:.2f} shots a problem; without an answer: {unanswered}")


if __name__ == "__main__":
    main()
