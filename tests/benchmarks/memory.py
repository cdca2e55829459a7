"""What judging costs the driver in memory at its highest, each case in a process of its own.

- *rows*: `harness grade` of o1-mini's published LiveCodeBench solutions on the 184 real rows, the
  rows' catalogue being made anew; with it, how many of its verdicts are the published ones.
- *loud*: a solution that prints 126 MB with an emoji in it on each of 8 tests, with one worker and
  with two (two such solutions).
- *inputs*: 12 tests with an input of 10 MB each; *right*: 12 right outputs of 15 MB; *wrong*: 4
  wrong outputs of 120 MB where 4 MB were expected; *result*: a function's result of 100 MB.
- *bomb*: a column of hidden tests of 58 KB that becomes 45 MB of `[{},{},...]`.

Given is the driver's peak resident set (VmHWM, which a new program begins anew), and, where tests
are made for the case, how much of it came after they had been made.
"""

import argparse
import asyncio
import base64
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cost import FailedError, table

MEGABYTE = 1_000_000
LOUD = 'import sys\nsys.stdout.write("\\U0001f600" + "a" * 126_000_000)\n'
TARGETS = {"rows": 400, "loud, 1 worker": 600, "loud, 2 workers": 900}


class Peak(NamedTuple):
    """What a case took.

    Attributes:
        megabytes: the driver's peak.
        above: of it, what came after the case's tests had been made; None where there is no such.
        seconds: wall time.
        said: what came of it.
    """

    megabytes: float
    above: float | None
    seconds: float
    said: str


def memory(name: str) -> int:
    """A line of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)


def rows(data: Path) -> str:
    """Grade o1-mini's solutions as a user does."""
    from harness.cli import main as harness

    (solutions,) = (data / "lcb_evals").glob("o1-mini*.json.gz")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_HOME"] = folder
        out = Path(folder, "grades.json")
        problems = f"livecodebench:{data}/lcb_codegen_full184/test_*.jsonl*"
        sys.argv = ["harness", "grade", "--problems", problems, "--solutions", str(solutions)]
        sys.argv += ["--json"]
        before = os.dup(1)
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
        try:
            harness()
        except SystemExit as end:
            if end.code:
                raise FailedError(f"harness grade ended with {end.code}") from end
        sys.stdout.flush()
        os.dup2(before, 1)
        summary = json.loads(out.read_text())
        differ = [
            f"{each['problem_id']} {each['verdict']}"
            for each in summary["results"]
            if each.get("agrees") is False
        ]
        if os.environ.get("MEMORY_VERDICTS"):
            verdicts = [
                [each["problem_id"], each["verdict"], [t["verdict"] for t in each["tests"]]]
                for each in summary["results"]
            ]
            Path(os.environ["MEMORY_VERDICTS"]).write_text(json.dumps(verdicts))
    return f"{len(summary['results'])} solutions, differing: {', '.join(differ) or 'none'}"


def judged(code: str, tests: Sequence[tuple[str, str]], *, workers: int = 1, name: str = "") -> str:
    """Have a solution judged by as many workers at a time; their verdicts."""
    from harness.grading.jobs import Judgement
    from harness.grading.task import Task
    from harness.problem import TestCase, TestSuite
    from harness.sandbox.executor import Shared
    from harness.sandbox.limits import limits_of
    from harness.sandbox.pool import SandboxPool
    from harness.sandbox.program import Program

    suite = TestSuite(tuple(TestCase(input=i, output=o, public=False) for i, o in tests))
    task = Task(Program(code, entry_point=name or None), (), limits_of("livecodebench"))

    async def run() -> set[str]:
        async with SandboxPool(workers=workers) as pool:
            grades = await asyncio.gather(
                *(pool.call(Judgement(task, Shared(suite))) for _ in range(workers))
            )
        return {f"{grade.verdict}, {len(grade.tests)} tests" for grade in grades}

    return "; ".join(asyncio.run(run()))


def bomb() -> str:
    """Decode a row whose hidden tests are far larger than the row says."""
    from harness.errors import DataError
    from harness.sources.files.rows import open_rows
    from harness.sources.livecodebench.livecodebench import read_rows

    text = "[" + "{}," * 15_000_000 + "{}]"
    encoded = base64.b64encode(zlib.compress(pickle.dumps(text), 9)).decode()
    del text
    row = {
        "question_title": "t",
        "question_content": "c",
        "platform": "atcoder",
        "question_id": "a",
        "contest_id": "c",
        "contest_date": "2024-01-01T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": "[]",
        "private_test_cases": encoded,
        "metadata": "{}",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text(json.dumps(row))
        (problem,) = read_rows(map(open_rows, [path])).problems
        fresh()
        try:
            problem.tests.all()
        except DataError as error:
            return f"a column of {len(encoded):,} bytes: {error.what:.70}"
    return "taken"


_made: list[int] = []


def fresh() -> None:
    """Forget what making the case took at its highest."""
    Path("/proc/self/clear_refs").write_text("5")
    _made[:] = [memory("VmRSS")]


def inputs() -> str:
    """Large inputs."""
    tests = [("1" * 10 * MEGABYTE, "10000000") for _ in range(12)]
    fresh()
    return judged("print(len(input()))", tests)


def right() -> str:
    """Large right outputs."""
    tests = [("15000000", ("1" * 99 + "\n") * (15 * MEGABYTE // 100)) for _ in range(12)]
    fresh()
    return judged("print(('1' * 99 + '\\n') * (int(input()) // 100))", tests)


def wrong() -> str:
    """Large wrong outputs, where a large one was expected."""
    tests = [("0", ("2" * 99 + "\n") * (4 * MEGABYTE // 100)) for _ in range(4)]
    fresh()
    return judged("print('1' * 120_000_000)", tests)


def result() -> str:
    """A large result of a function."""
    tests = [("0", "[1, 2]") for _ in range(4)]
    fresh()
    return judged("def f(n): return ['e' * 100_000_000]", tests, name="f")


def loud(workers: int) -> str:
    """Outputs of 126 MB with an emoji."""
    tests = [("1", "1") for _ in range(8)]
    fresh()
    return judged(LOUD, tests, workers=workers)


def cases(data: Path | None) -> dict[str, Callable[[], str]]:
    """What can be measured, by name."""
    named_cases: dict[str, Callable[[], str]] = {
        "loud, 1 worker": lambda: loud(1),
        "loud, 2 workers": lambda: loud(2),
        "inputs": inputs,
        "right": right,
        "wrong": wrong,
        "result": result,
        "bomb": bomb,
    }
    return {"rows": lambda: rows(data), **named_cases} if data is not None else named_cases


def measured(case: Callable[[], str]) -> Peak:
    """What a case takes of this process."""
    begin = time.perf_counter()
    outcome = case()
    seconds = time.perf_counter() - begin
    peak = memory("VmHWM")
    above = (peak - _made[0]) / MEGABYTE if _made else None
    return Peak(peak / MEGABYTE, above, seconds, outcome)


def main() -> None:
    """Measure and print; `--case NAME` is what it asks of itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the folder of real rows; default: $HARNESS_TEST_DATA")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases; default: all")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    given = options.data or os.environ.get("HARNESS_TEST_DATA")
    known = cases(Path(given) if given else None)
    if options.case:
        print(json.dumps(measured(known[options.case])))
        return
    lines: list[list[str]] = []
    for name in known:
        if options.only and name.partition(",")[0] not in options.only:
            continue
        command = [sys.executable, __file__, "--case", name, *(["--data", given] if given else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            lines.append([name, "failed", "", "", "", last])
            continue
        peak = Peak(*json.loads(done.stdout.splitlines()[-1]))
        above = "" if peak.above is None else f"{peak.above:.0f}"
        target = f"{TARGETS[name]}" if name in TARGETS else ""
        figures = [f"{peak.megabytes:.0f}", target, above, f"{peak.seconds:.1f}", peak.said]
        lines.append([name, *figures])
    print(table(("case", "peak, MB", "at most", "above tests, MB", "s", "came of it"), lines))
    if not given:
        print("skipped: rows: give --data FOLDER or set HARNESS_TEST_DATA")


if __name__ == "__main__":
    main()
