"""Whether a busy machine changes verdicts: 2, 8 and 16 workers, whatever the cores.

Right solutions that use 1.5 s of CPU under a limit of 6 s must all be accepted, and ones that use
7 s all be rejected for their time. With --lcb, LiveCodeBench's grader, which limits wall time, is
asked the same.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import workload
from cost import FailedError, table
from judging import judged
from levels import LEVELS
from sound import passed_upstream, upstream

from harness.errors import HarnessError
from harness.sandbox.limits import limits_of
from harness.sandbox.strongest import strongest

WORKERS = (2, 8, 16)
CASES = ((1.5, 24), (7.0, 8))
SOURCE = "livecodebench"
_CODE = """
import time
number = int(input())
start = time.process_time()
while time.process_time() - start < {seconds}:
    pass
print(2 * number)
"""


def rows(seconds: float, number: int) -> list[workload.Row]:
    """So many different solutions that are right, and use so many CPU seconds on their test."""
    return [
        workload.Row(
            f"load/{place}",
            SOURCE,
            _CODE.format(seconds=seconds) + f"# {place}\n",
            "",
            None,
            [(f"{place}\n", f"{2 * place}\n")],
        )
        for place in range(number)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lcb", type=Path, help="a folder that holds lcb_runner/evaluation")
    parser.add_argument(
        "--level", action="append", choices=LEVELS, help="may be repeated; default: the strongest"
    )
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    options = parser.parse_args()
    levels = options.level or [str(strongest().isolation)]
    limit = limits_of(SOURCE).cpu_s
    print(f"a limit of {limit:g} s, {len(os.sched_getaffinity(0))} cores")
    lines: list[list[str]] = []
    for seconds, number in CASES:
        for workers in options.workers:
            for level in levels:
                print(f"{level}: {number} x {seconds:g} s, workers: {workers}", file=sys.stderr)
                figures = asyncio.run(_ours(level, workers, rows(seconds, number)))
                lines.append([f"{level}: {seconds:g} s", str(workers), *figures])
            if options.lcb is not None:
                figures = _theirs(options.lcb, workers, rows(seconds, number), limit)
                lines.append([f"LiveCodeBench: {seconds:g} s", str(workers), *figures])
    print(table(("judge: solutions", "workers", "accepted", "rejected", "wall s", "why"), lines))


async def _ours(level: str, workers: int, some: Sequence[workload.Row]) -> list[str]:
    start = time.perf_counter()
    try:
        async with LEVELS[level].pool(workers) as pool:
            grades = await judged(pool, workload.jobs(some))
    except HarnessError as error:
        return ["-", "-", "-", f"skipped: {error}"]
    verdicts = Counter(str(grade.verdict) for grade in grades.values())
    accepted = verdicts.pop("accepted", 0)
    why = ", ".join(f"{verdict} {number}" for verdict, number in verdicts.items())
    return _line(accepted, len(some) - accepted, time.perf_counter() - start, why)


def _theirs(lcb: Path, workers: int, some: list[workload.Row], limit: float) -> list[str]:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "suites.json"
        workload.write({"load": some}, path)
        start = time.perf_counter()
        try:
            passed = passed_upstream(upstream(lcb, path, "load", workers, int(limit)))
        except FailedError as error:
            return ["-", "-", "-", f"skipped: {error}"]
    return _line(sum(passed), len(passed) - sum(passed), time.perf_counter() - start, "")


def _line(accepted: int, rejected: int, wall_s: float, why: str) -> list[str]:
    return [str(accepted), str(rejected), f"{wall_s:.1f}", why or "-"]


if __name__ == "__main__":
    main()
