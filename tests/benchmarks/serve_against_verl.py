"""The reward function that verl ships beside this judge, on the same real rows, in one run.

verl's `prime_code` grader runs in an environment of its own (see `serve_clients.py`, which makes
it). It isolates nothing. Prints, of published model outputs: how often each agrees with the
published verdict, CPU and wall time a solution, with as many workers as cores and with 16; and what
each pays for ten cheats.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from cheats import CHEATS, tests_of
from cost import _processes, table, tree
from serve_clients import CLIENTS, environment
from serving import Serving

from harness.problem import Problem
from harness.run.plan.problem_loader import load_problems

ROWS = ("lcb_codegen_full184/test_small.jsonl", "lcb_codegen_full184/test_medium.jsonl.gz")
OUTPUTS = "lcb_codegen_full184/graded_generations.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Output:
    """A published model output.

    Attributes:
        passed: whether it passed where it was published.
    """

    problem: Problem
    text: str
    passed: bool

    def row(self) -> dict[str, Any]:
        """It as verl takes it."""
        tests = self.problem.tests.all()
        cases: dict[str, Any] = {
            "inputs": [test.input for test in tests],
            "outputs": [test.output for test in tests],
        }
        if self.problem.entry_point is not None:
            cases["fn_name"] = self.problem.entry_point
        return {"text": self.text, "tests": cases}


@dataclass(frozen=True, slots=True)
class Found:
    """What a judge made of all outputs: None where it could not judge."""

    rewards: Sequence[float | None]
    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure all ways, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("HARNESS_TEST_DATA"))
    parser.add_argument("--folder", type=Path, default=Path("/tmp/serve-clients"))
    parser.add_argument("--outputs", type=int, default=150)
    parser.add_argument("--many", type=int, default=16, help="workers, beyond the cores")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    outputs = list(chosen(options.data, options.outputs))
    passed = sum(each.passed for each in outputs)
    print(f"{len(outputs)} outputs, {passed} of which passed where they were published")
    rows: list[list[str]] = []
    for workers in (cores, options.many):
        ways = {
            "verl prime_code": lambda n=workers: by_verl(options.folder, outputs, n, "prime_code"),
            "harness, in process": lambda n=workers: in_process(outputs, n),
            "harness serve, /grade batch": lambda n=workers: over_http(options.data, outputs, n),
            "harness serve, /grade each": lambda n=workers: over_http(
                options.data, outputs, n, alone=True
            ),
            "verl's client at /run_code": lambda n=workers: by_client(options.folder, outputs, n),
        }
        for name, way in ways.items():
            judgement = way()
            rows.append([name, str(workers), *figures(judgement, outputs)])
            print(rows[-1], flush=True)
    head = ("judge", "workers", "agree", "false 1", "false 0", "none", "CPU ms", "wall ms")
    print(table(head, rows))
    print(busy(options.folder, options.many))
    print(cheats(options.folder))


def chosen(data: Path, number: int) -> Iterator[Output]:
    """Outputs that passed and outputs that failed, half of each, of as many problems as may be."""
    names = [f"livecodebench:{data / name}" for name in ROWS]
    problems = {each.native_id: each for name in names for each in load_problems(name)}
    lines = gzip.decompress((data / OUTPUTS).read_bytes()).splitlines()
    seen: Counter[tuple[str, bool]] = Counter()
    candidates: list[tuple[int, Output]] = []
    for line in lines:
        row = json.loads(line)
        key = row["question_id"], row["score"] == 1.0
        if key[0] in problems:
            seen[key] += 1
            candidates.append((seen[key], Output(problems[key[0]], row["output"], key[1])))
    candidates.sort(key=lambda each: each[0])  # stable
    for passed in (True, False):
        yield from [output for _, output in candidates if output.passed == passed][: number // 2]


def figures(judgement: Found, outputs: Sequence[Output]) -> list[str]:
    """The columns of a way."""
    pairs = list(zip(judgement.rewards, outputs, strict=True))
    good = [(reward == 1.0, each.passed) for reward, each in pairs if reward is not None]
    return [
        f"{sum(here == there for here, there in good)}/{len(outputs)}",
        str(sum(here and not there for here, there in good)),
        str(sum(there and not here for here, there in good)),
        str(len(outputs) - len(good)),
        f"{1000 * judgement.cpu_s / len(outputs):.0f}",
        f"{1000 * judgement.wall_s / len(outputs):.0f}",
    ]


def by_verl(folder: Path, outputs: Sequence[Output], workers: int, way: str) -> Found:
    """By verl's own function, in its environment."""
    return scored(folder, [each.row() for each in outputs], workers, way)


def scored(folder: Path, rows: Sequence[Any], workers: int, way: str) -> Found:
    """The same of rows."""
    python, source = environment("verl", folder)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        command = [python, str(CLIENTS / "score_with_verl.py"), str(source), file.name]
        done = subprocess.run(
            [*command, str(workers), way], capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.exit(done.stderr)
    data = json.loads(done.stdout.splitlines()[-1])
    return Found(data["scores"], data["wall_s"], data["cpu_s"])


def by_client(folder: Path, outputs: Sequence[Output], workers: int) -> Found:
    """By verl's client, which sends one request a test; its own CPU is counted in."""
    with Serving("--workers", str(workers)) as serving:
        before = tree_cpu(serving.process.pid)
        judgement = by_verl(folder, outputs, workers, f"{serving.address()}/run_code")
        cpu = tree_cpu(serving.process.pid) - before
    return Found(judgement.rewards, judgement.wall_s, judgement.cpu_s + cpu)


def in_process(outputs: Sequence[Output], workers: int) -> Found:
    """By `Grader`, in this process."""
    from harness import Grader

    problems = list({each.problem.id: each.problem for each in outputs}.values())
    with Grader(problems, workers=workers, failures="none", extract="harness") as grader:
        grader.score([problems[0]] * workers, ["x = 1"] * workers)
        start, before = time.perf_counter(), tree_cpu(os.getpid())
        rewards = grader.score(
            [each.problem.id for each in outputs], [each.text for each in outputs]
        )
        return Found(rewards, time.perf_counter() - start, tree_cpu(os.getpid()) - before)


def over_http(data: Path, outputs: Sequence[Output], workers: int, *, alone: bool = False) -> Found:
    """By `POST /grade`, all in one batch or one a request; the client's CPU is counted in."""
    items = [{"problem": each.problem.id, "text": each.text} for each in outputs]
    flags = [f"--problems=livecodebench:{data / name}" for name in ROWS]
    flags += ["--workers", str(workers)]
    with Serving(*flags) as serving, httpx2.Client(timeout=3_600) as client:
        url = f"{serving.address()}/grade"
        client.post(url, json=items[0])
        start, before = time.perf_counter(), tree_cpu(os.getpid())
        if alone:
            with ThreadPoolExecutor(workers) as threads:
                answers = list(threads.map(lambda item: client.post(url, json=item).json(), items))
            rewards = [each["reward"] for each in answers]
        else:
            text = client.post(url, json={"items": items}).text
            answers = [json.loads(line) for line in text.splitlines()]
            rewards = [each["reward"] for each in sorted(answers, key=lambda each: each["index"])]
        return Found(rewards, time.perf_counter() - start, tree_cpu(os.getpid()) - before)


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process, all below it, and what they have reaped."""
    processes = _processes()
    return sum(processes[each].cpu_s for each in tree(pid) if each in processes)


def busy(folder: Path, number: int) -> str:
    """How many right solutions are accepted that use the CPU for a while, all at once."""
    loop = "import time\nwhile time.process_time() < 1.5: pass\n"
    rows = [
        {
            "text": f"```python\n{loop}print(input())\n```",
            "tests": {"inputs": [f"{n}\n"], "outputs": [f"{n}\n"]},
        }
        for n in range(number)
    ]
    prime = scored(folder, rows, number, "prime_code")
    with Serving("--workers", str(number)) as serving, httpx2.Client(timeout=600) as client:
        start = time.perf_counter()
        items = [{"text": row["text"], "input_output": row["tests"]} for row in rows]
        text = client.post(f"{serving.address()}/grade", json={"items": items}).text
        ours = [json.loads(line)["reward"] for line in text.splitlines()]
        wall = time.perf_counter() - start
    return (
        f"{number} right solutions of 1.5 CPU s at once: prime_code accepts "
        f"{sum(each == 1.0 for each in prime.rewards)} in {prime.wall_s:.0f} s, "
        f"/grade {sum(each == 1.0 for each in ours)} in {wall:.0f} s"
    )


def cheats(folder: Path) -> str:
    """What each judge pays for each cheat."""
    rows = [{"text": f"```python\n{c.code}```", "tests": tests_of(c)} for c in CHEATS]
    prime = scored(folder, rows, 2, "prime_code").rewards
    with Serving() as serving, httpx2.Client(timeout=600) as client:
        url = f"{serving.address()}/grade"
        bodies = [{"text": row["text"], "input_output": row["tests"]} for row in rows]
        ours = [client.post(url, json=body).json() for body in bodies]
        fusion = scored(folder, rows, 2, f"{serving.address()}/run_code").rewards
    lines = [
        [cheat.name, f"{there:.2f}", f"{here['reward']:.2f}", here["verdict"], f"{client_pays:.2f}"]
        for cheat, there, here, client_pays in zip(CHEATS, prime, ours, fusion, strict=True)
    ]
    head = ("cheat", "prime_code", "/grade", "verdict", "verl at /run_code")
    return table(head, lines)


if __name__ == "__main__":
    main()
