"""What limits of time cost, and whether a busy machine moves them: `time_limits.py`.

- how many times its limit of CPU a program that does not end costs, all processes included;
- how many right solutions that need 90 % of their limit are accepted, and how many that need 125 %,
  with 12 workers;
- for how long other workers stand still while a narrow time-out is tried again;
- how long a judge takes to end on Ctrl-C in the midst of a long test.

`--limit S …` the limits of CPU time, `--level L` the isolation, `--quick` leaves the busy pool out.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from cost import cpu_s, table, tree
from levels import LEVELS, Level

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import strongest
from harness.sandbox.worker import Worker

WORKERS = 12
SOLUTIONS = 24
ROUNDS = 3
BURN = """
import time
n = int(input())
start = time.process_time()
while time.process_time() - start < {seconds} * ({when}):
    pass
print(2 * n)
"""
WORK = """
n = int(input())
x = 0
for i in range({steps}):
    x = (x * 3 + i) % 1000003
print(2 * n)
"""
LOOP = "n = int(input())\nwhile {when}: pass\nprint(2 * n)"


def tests(number: int) -> list[TestCase]:
    """So many to which the answer is the double."""
    return [TestCase(input=f"{n}\n", output=f"{2 * n}\n", public=True) for n in range(number)]


def grade(worker: Worker, code: str, number: int, limit: float) -> Grade:
    """Judge a program under a limit."""
    return judge(worker, Task(Program(code), tests(number), Limits(cpu_s=limit)))


def _grade(code: str, number: int, limit: float, worker: Worker) -> Grade:
    return grade(worker, code, number, limit)


def price(level: Level, work: Callable[[Worker], Grade]) -> tuple[float, float, Grade]:
    """CPU and wall seconds of judging, the start of the sandbox subtracted."""

    def used(also: Callable[[Worker], Grade] | None) -> tuple[float, float, Grade | None]:
        before = cpu_s()
        worker = level.worker()
        try:
            grade(worker, "print(2 * int(input()))", 1, 1.0)
            start = time.perf_counter()
            outcome = also(worker) if also else None
            wall = time.perf_counter() - start
        finally:
            worker.stop()
        return cpu_s() - before, wall, outcome

    idle = sorted(used(None)[0] for _ in range(3))[1]
    spent, wall, grading = used(work)
    assert grading is not None
    return spent - idle, wall, grading


def endless(level: Level, limits: Sequence[float]) -> None:
    """Print what programs cost that do not end."""
    cases = {
        "one test": (LOOP.format(when="True"), 1),
        "20 tests, all of them": (LOOP.format(when="True"), 20),
        "20 tests, from the 8th on": (LOOP.format(when="n > 6"), 20),
        "20 tests, the 20th": (LOOP.format(when="n == 19"), 20),
        "20 tests, each just over": (BURN.format(seconds="{1.1}", when="1"), 20),
    }
    rows: list[list[str]] = []
    for name, (code, number) in cases.items():
        for limit in limits:
            source = code.replace("{1.1}", str(1.1 * limit))
            work = partial(_grade, source, number, limit)
            prices = [price(level, work) for _ in range(ROUNDS)]
            assert all(each.verdict is Verdict.TIME_LIMIT for *_, each in prices)
            cpu = sorted(each[0] / limit for each in prices)
            wall = sorted(each[1] / limit for each in prices)
            rows.append([name, f"{limit:g}", f"{cpu[1]:.2f} [{cpu[0]:.2f}..{cpu[2]:.2f}]"])
            rows[-1].append(f"{wall[1]:.2f}")
    print(table(("a program that does not end", "limit s", "CPU / limit", "wall / limit"), rows))


def slow(level: Level) -> None:
    """Print what right solutions pay whose tests are slow, beside what they need themselves."""
    rows: list[list[str]] = []
    for share in (0.01, 0.03, 0.1, 0.5):
        for number, when in ((10, "1"), (10, "n % 2")):
            code = BURN.format(seconds=share, when=when)
            cpu, _, grading = price(level, partial(_grade, code, number, 1.0))
            assert grading.solved
            own = sum(test.cpu_s for test in grading.tests)
            name = f"{share:g} s in {'each' if when == '1' else 'every other'} of {number} tests"
            rows.append([name, f"{own:.3f}", f"{cpu:.3f}", f"{cpu / own:.2f}"])
    print(table(("right, limit 1 s", "own CPU s", "CPU s", "ratio"), rows))


def busy(level: Level, limit: float) -> None:
    """Print what is accepted with many workers."""
    steps = _steps_a_second(level)
    rows: list[list[str]] = []
    for share in (0.9, 1.25):
        for kind, code in (
            ("by its clock", BURN.format(seconds=share * limit, when="1")),
            ("by its work", WORK.format(steps=int(steps * share * limit))),
        ):
            start = time.perf_counter()
            grades = asyncio.run(_judged(level, code, limit))
            verdicts = Counter(str(each.verdict) for each in grades)
            again = sum(each.judged_again.retimed[0] for each in grades)
            rows.append([f"{share:.0%} {kind}", ", ".join(f"{v} {k}" for k, v in verdicts.items())])
            rows[-1] += [str(again), f"{time.perf_counter() - start:.1f}"]
    print(
        table((f"{WORKERS} workers, limit {limit:g} s", "verdicts", "tried again", "wall s"), rows)
    )


def _steps_a_second(level: Level) -> float:
    """What a program does in a CPU second, in the sandbox, now."""
    worker = level.worker()
    try:
        grades = [grade(worker, WORK.format(steps=2_000_000), 1, 60.0) for _ in range(5)]
    finally:
        worker.stop()
    return 2_000_000 / sorted(each.tests[0].cpu_s for each in grades)[2]


async def _judged(level: Level, code: str, limit: float) -> list[Grade]:
    async with level.pool(WORKERS) as pool:
        calls = (pool.call(partial(_grade, f"{code}# {n}", 2, limit)) for n in range(SOLUTIONS))
        return list(await asyncio.gather(*calls))


def others(level: Level) -> None:
    """Print the longest pause of a worker beside which a narrow time-out is tried again."""
    asyncio.run(_others(level))


async def _others(level: Level) -> None:
    limit = 1.0
    narrow = BURN.format(seconds=1.1 * limit, when="1")
    long = BURN.format(seconds=0.9 * limit, when="1")
    over = threading.Event()
    gaps: list[float] = []
    waits: list[float] = []

    def batch(worker: Worker) -> None:
        grade(worker, long, 8, limit)

    def short(worker: Worker) -> None:
        last = time.monotonic()
        while not over.is_set():
            grade(worker, "print(2 * int(input()))", 1, limit)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    def late(worker: Worker) -> None:
        for _ in range(3):
            start = time.monotonic()
            grade(worker, narrow, 1, limit)
            waits.append(time.monotonic() - start)
        over.set()

    async with level.pool(3) as pool:
        await asyncio.gather(*(pool.call(work) for work in (short, batch, late)))
    print(f"a test under way: {0.9 * limit:g} s, a batch: 8, a narrow one: {1.1 * limit:g} s")
    print(f"longest time between two short solutions: {max(gaps):.2f} s")
    print(f"a narrow time-out and its second try: {max(waits):.2f} s at most")


def interrupted() -> None:
    """Print how long the program lives on after Ctrl-C."""
    row = {"id": "one", "statement": "?", "tests": [{"input": "1", "output": "2"}]}
    solution = {"problem_id": "one", "code": "while True: pass"}
    with tempfile.TemporaryDirectory() as folder:
        problems, solutions = Path(folder, "p.jsonl"), Path(folder, "s.jsonl")
        problems.write_text(json.dumps(row) + "\n")
        solutions.write_text(json.dumps(solution) + "\n")
        command = [sys.executable, "-m", "harness", "grade", "--test-timeout", "60"]
        command += ["--problems", f"jsonl:{problems}", "--solutions", str(solutions)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not _burns(process.pid) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        print(f"Ctrl-C in a test with a limit of 60 s: {time.monotonic() - start:.2f} s,", end=" ")
        print(f"exit code {process.returncode} {errors.decode()[-200:].strip()!r}")


def _burns(root: int) -> bool:
    """Whether a process below another has run for a second."""
    for pid in tree(root)[1:]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[11]) > os.sysconf("SC_CLK_TCK"):
            return True
    return False


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, nargs="+", default=[1.0, 6.0])
    parser.add_argument("--level", choices=LEVELS, default=str(strongest().isolation))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    level = LEVELS[options.level]
    endless(level, options.limit)
    print()
    slow(level)
    print()
    if not options.quick:
        busy(level, options.limit[0])
        print()
    others(level)
    print()
    interrupted()


if __name__ == "__main__":
    main()
