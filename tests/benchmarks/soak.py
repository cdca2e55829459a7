"""Whether a worker wears out: descriptors, processes and memory before and after many tests.

Right, wrong and hostile solutions are judged on one worker, in batch and a process a test. Prints
how things stood in between, and exits with 1 when something has grown beyond its margin.
"""

import argparse
import gc
import os
import sys
import threading
import time
from pathlib import Path

from cost import table
from levels import LEVELS

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.isolation import IsolationError
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

TESTS = 20_000
WARM = 300
STEPS = 10
LIMITS = Limits(cpu_s=5.0, memory_bytes=512 * MEBIBYTE)
DOUBLE = "print(2 * int(input()))\n"
SOLUTIONS = (
    (DOUBLE, "accepted"),
    ("print(0)\n", "wrong_answer"),
    ("1 / 0\n", "runtime_error"),
    ("import os\nos._exit(1)\n", "runtime_error"),
    ("import os\nos.abort()\n", "runtime_error"),
    ("print(\n", "compile_error"),
    ("open('left', 'w').write('x' * 1000)\n" + DOUBLE, "accepted"),
    ("import os\nos.pipe()\nos.makedirs('a/b/c')\n" + DOUBLE, "accepted"),
    (
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n" + DOUBLE,
        "accepted",
    ),
    (
        "import threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n" + DOUBLE,
        "accepted",
    ),
    ("x = bytearray(20 << 20)\n" + DOUBLE, "accepted"),
    ("import numpy as np\n" + DOUBLE, None),  # where it is installed
)
KIBIBYTES = 1024
MARGINS = {
    "our descriptors": 0,
    "our threads": 0,
    "our memory, KiB": 8 * KIBIBYTES,
    "processes": 0,
    "its descriptors": 0,
    "its memory, KiB": 4 * KIBIBYTES,
}


def main() -> None:
    """Judge, look, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=TESTS)
    parser.add_argument("--level", choices=LEVELS, help="default: the strongest there is")
    options = parser.parse_args()
    worker = LEVELS[options.level].worker() if options.level else Worker()
    try:
        print(f"{options.tests:,} tests, {worker.isolation}")
        grown = soak(worker, options.tests)
    except IsolationError as error:
        sys.exit(f"skipped: {error}")
    finally:
        worker.stop()
    if grown:
        sys.exit("grown: " + ", ".join(grown))


def soak(worker: Worker, tests: int) -> list[str]:
    """Judge so many tests; returns what has grown."""
    judged(worker, WARM)
    first = state(worker)
    lines = [["0", "-", *map(str, first.values())]]
    start = time.perf_counter()
    done = 0
    last = first
    while done < tests:
        done += judged(worker, tests // STEPS)
        last = state(worker)
        lines.append([f"{done:,}", f"{time.perf_counter() - start:.0f}", *map(str, last.values())])
    print(table(("tests", "s", *first), lines))
    return [name for name, margin in MARGINS.items() if last[name] > first[name] + margin]


def judged(worker: Worker, number: int) -> int:
    """Judge solutions until so many tests were run; returns how many were.

    Raises:
        SystemExit: a verdict is not what it should be.
    """
    tests = [TestCase(input=f"{n}\n", output=f"{2 * n}", public=True) for n in range(1, 21)]
    ran = turn = 0
    while ran < number:
        for code, verdict in SOLUTIONS:
            turn += 1
            program = Program(f"{code}# {turn}\n")
            task = Task(program, tests, LIMITS, isolate=turn % 5 == 0, stop=Stop.NEVER)
            grade = judge(worker, task)
            ran += len(grade.tests)
            if verdict not in {None, str(grade.verdict)} or grade.judged_again.retried:
                sys.exit(f"{grade.verdict} instead of {verdict}: {code}")
    return ran


def state(worker: Worker) -> dict[str, int]:
    """What there is now."""
    gc.collect()
    assert worker.process_id is not None
    family = [worker.process_id, *_descendants(worker.process_id)]
    server = family[-1]
    return {
        "our descriptors": _descriptors(os.getpid()),
        "our threads": threading.active_count(),
        "our memory, KiB": _resident(os.getpid()),
        "processes": len(family),
        "its descriptors": _descriptors(server),
        "its memory, KiB": sum(map(_resident, family)),
    }


def _descendants(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    children = [int(word) for word in text.split()]
    return children + [each for child in children for each in _descendants(child)]


def _descriptors(process: int) -> int:
    try:
        return len(list(Path(f"/proc/{process}/fd").iterdir()))
    except PermissionError:  # root alone may look
        return 0


def _resident(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


if __name__ == "__main__":
    main()
