"""Which rows are measured: those that every grader accepts, and that are quick."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import workload
from cost import FailedError
from floors import script, spawn
from judging import judged

from harness.grading.verdict import Grade
from harness.sandbox.pool import SandboxPool

HERE = Path(__file__).parent
CORES = len(os.sched_getaffinity(0))
QUICK_S = {"functional": 0.005, "stdin": 0.005, "lcb": 0.1}
"""CPU seconds of the slowest test of a row that is measured: above, the solution is."""


@dataclass(frozen=True, slots=True)
class Sound:
    """The rows that are measured, and how many were dropped, by the reason."""

    suites: workload.Suites
    dropped: dict[str, int]


def upstream(folder: Path, suites: Path, name: str, processes: int, timeout: int = 6) -> list[str]:
    """The command that measures LiveCodeBench's grader."""
    program = str(HERE / "upstream.py")
    return [sys.executable, program, str(folder), str(suites), name, str(processes), str(timeout)]


def passed_upstream(command: list[str]) -> list[bool]:
    """Which solutions LiveCodeBench's grader passes.

    Raises:
        FailedError: it could not be run.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-2])


def sound(candidates: workload.Suites, most: int, lcb: Path | None) -> Sound:
    """Drop what one of the graders does not accept, and then all but so many of each suite.

    The suites `functional` and `stdin` hold the same problems.
    """
    bad: dict[str, set[str]] = {}
    for name, rows in candidates.items():
        grades = asyncio.run(_judged(rows))
        for number, row in enumerate(rows):
            tests = grades[number].tests
            if not grades[number].solved:
                bad.setdefault("the reference is not accepted here", set()).add(row.id)
            elif max(test.cpu_s for test in tests) > QUICK_S[name]:
                bad.setdefault("a test needs more than a few ms", set()).add(row.id)
        if rows and rows[0].entry_point is None:
            fails = _not_spawned(rows)
            known = set[str]().union(*bad.values())
            bad.setdefault("not accepted in a bare `python3 -I -S`", set()).update(fails - known)
        if lcb is not None and rows:
            fails = _not_passed(rows, lcb)
            known = set[str]().union(*bad.values())
            bad.setdefault("not passed by LiveCodeBench's grader", set()).update(fails - known)
    out = set[str]().union(*bad.values())
    kept = {
        name: workload.spread([row for row in rows if row.id not in out], most)
        for name, rows in candidates.items()
    }
    return Sound(kept, {reason: len(ids) for reason, ids in bad.items() if ids})


async def _judged(rows: list[workload.Row]) -> dict[int, Grade]:
    async with SandboxPool(workers=CORES) as pool:
        return await judged(pool, workload.jobs(rows))


def _not_spawned(rows: list[workload.Row]) -> set[str]:
    """Those whose first test fails there."""
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(CORES) as threads:

        def fails(row: workload.Row) -> bool:
            try:
                spawn(script(row, Path(made)), *row.tests[0])
            except FailedError:
                return True
            return False

        return {
            row.id for row, failed in zip(rows, threads.map(fails, rows), strict=True) if failed
        }


def _not_passed(rows: list[workload.Row], lcb: Path) -> set[str]:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "suites.json"
        workload.write({"all": rows}, path)
        passed = passed_upstream(upstream(lcb, path, "all", CORES))
    return {row.id for row, each in zip(rows, passed, strict=True) if not each}
