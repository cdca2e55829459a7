"""What a worker costs to start, in time and memory, and what judging costs the driver in memory.

- *cold*: the first worker of a new interpreter, to its first verdict.
- *warm*: the next worker of the same driver, to its first verdict.
- *next*: one more verdict from a worker that runs.

Memory is what belongs to the processes below the driver (PSS: a page that several share counts in
parts; unlike RSS, a sum over processes means something), and the driver's own RSS.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from cost import FailedError, Spread, table, tree

ROUNDS = 5
JUDGED_TESTS = 2_000
MEBIBYTE = 1 << 20


def main() -> None:
    """Measure and print; `--cold LEVEL` and `--drive LEVEL` are what it asks of itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the folder of real rows; default: $HARNESS_TEST_DATA")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--cold", help=argparse.SUPPRESS)
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data: str = options.data or os.environ.get("HARNESS_TEST_DATA") or ""
    if options.cold:
        print(json.dumps(_cold(options.cold)))
    elif options.drive:
        print(json.dumps(_drive(options.drive, Path(data))))
    else:
        _print(options.rounds, data)


def _print(rounds: int, data: str) -> None:
    from levels import LEVELS

    lines: list[list[str]] = []
    possible: list[str] = []
    for level in LEVELS:
        try:
            measurements = [_asked("--cold", level) for _ in range(rounds)]
        except FailedError as error:
            print(f"skipped: {level}: {error}")
            continue
        possible.append(level)
        lines += [
            [f"{level}: {figure}", Spread.of([each[figure] for each in measurements]).text()]
            for figure in measurements[0]
        ]
    print(table(("starting a worker", "median [least..most]"), lines))
    if not data:
        print("skipped: the driver's memory: give --data FOLDER or set HARNESS_TEST_DATA")
        return
    for level in possible:
        lines = [[name, _text(figure)] for name, figure in _asked("--drive", level, data).items()]
        print()
        print(table((f"driver, {level}", "MiB"), lines))


def _text(figure: float) -> str:
    return f"{figure:.0f}" if figure == int(figure) else f"{figure:.1f}"


def _asked(what: str, level: str, data: str = "") -> dict[str, float]:
    command = [sys.executable, __file__, what, level, *(["--data", data] if data else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError((done.stderr.strip().splitlines() or ["it says nothing"])[-1])
    return json.loads(done.stdout)


def _cold(level: str) -> dict[str, float]:
    start = time.perf_counter()
    from levels import LEVELS  # which imports the sandbox

    imported = time.perf_counter() - start
    from judging import warm

    from harness.sources.preambles import LIVECODEBENCH

    preambles = {LIVECODEBENCH}
    begin = time.perf_counter()
    worker = LEVELS[level].worker()
    warm(worker, preambles)
    cold = time.perf_counter() - begin
    below = [pid for pid in tree() if pid != os.getpid()]
    figures = {
        "importing the sandbox, ms": 1000 * imported,
        "cold, to the first verdict, ms": 1000 * cold,
        "its processes": len(below),
        "their memory (PSS), MiB": _sum(below, "smaps_rollup", "Pss"),
        "their memory (RSS, summed), MiB": _sum(below, "status", "VmRSS"),
        "the driver's RSS, MiB": _sum([os.getpid()], "status", "VmRSS"),
    }
    begin = time.perf_counter()
    warm(worker, preambles)
    figures["next verdict, ms"] = 1000 * (time.perf_counter() - begin)
    begin = time.perf_counter()
    worker.stop()
    figures["stopping it, ms"] = 1000 * (time.perf_counter() - begin)
    begin = time.perf_counter()
    worker = LEVELS[level].worker()
    warm(worker, preambles)
    figures["warm, to the first verdict, ms"] = 1000 * (time.perf_counter() - begin)
    worker.stop()
    return figures


def _sum(pids: Iterable[int], file: str, name: str) -> float:
    """A line of a file in /proc, which tells kB, over processes; in MiB."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
    return total * 1024 / MEBIBYTE


def _drive(level: str, data: Path) -> dict[str, float]:
    """The memory of a driver that judges, the suites at hand."""
    import workload
    from judging import OPTIONS
    from levels import LEVELS

    from harness.grading.judge import judge

    me = [os.getpid()]
    worker = LEVELS[level].worker()
    jobs = workload.jobs(workload.candidates(data, 20)["stdin"])
    Path("/proc/self/clear_refs").write_text("5")  # forget what loading took at its highest
    figures = {"before, the problems loaded": _sum(me, "status", "VmRSS")}
    tests, quarters = 0, 0
    for job in jobs:
        # Grades are let go of: what a run keeps of them is its own.
        grade = judge(worker, OPTIONS.task(job.problem, job.code, job.problem.tests.all()))
        tests += len(grade.tests)
        if tests >= (quarters + 1) * JUDGED_TESTS // 4:
            quarters += 1
            figures[f"after {tests} tests"] = _sum(me, "status", "VmRSS")
        if tests >= JUDGED_TESTS:
            break
    figures["at its highest"] = _sum(me, "status", "VmHWM")
    below = [pid for pid in tree() if pid not in me]
    figures["the worker's processes (PSS)"] = _sum(below, "smaps_rollup", "Pss")
    worker.stop()
    return figures


if __name__ == "__main__":
    main()
