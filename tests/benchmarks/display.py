"""What the live table costs a run: CPU a sample, beside the same samples without it.

    python tests/benchmarks/display.py [--samples N] [--pause S] [--columns C] [--lines L]

Ten samples are under way at any time; each is begun, asks again once in ten, and is graded. `pause`
seconds lie between two, so that frames are drawn as in a run of that pace.
"""

import argparse
import fcntl
import os
import pty
import struct
import sys
import termios
import threading
import time
from pathlib import Path

from rich.console import Console

sys.path.append(str(Path(__file__).parents[1] / "support"))

from results_made import made_result

from harness.agent.attempt import StopReason
from harness.agent.events import Retried
from harness.problem import Problem, TestSuite
from harness.run.store.results import SampleResult
from harness.terminal.run_progress import RunProgress

UNDER_WAY = 10
RETRY = Retried(turn=2, attempt=1, cause="HTTP 429: slow down", wait_s=1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--pause", type=float, default=0.004)
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--lines", type=int, default=40)
    asked = parser.parse_args()
    problems = [_problem(number) for number in range(asked.samples)]
    results = [_result(problem) for problem in problems]
    without = _cpu(lambda: _samples(None, results, asked.pause))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", asked.lines, asked.columns, 0, 0))
    read = [0]
    threading.Thread(target=_drain, args=(master, read), daemon=True).start()
    console = Console(
        file=os.fdopen(slave, "w"),
        force_terminal=True,
        width=asked.columns,
        height=asked.lines,
        markup=False,
        highlight=False,
    )
    progress = RunProgress(console, len(results), [], problems=problems, heading=("m", "agentic"))
    began = time.monotonic()

    def shown() -> None:
        with progress:
            _samples(progress, results, asked.pause)

    with_table = _cpu(shown)
    seconds = time.monotonic() - began
    cost = (with_table - without) / len(results) * 1_000
    print(f"{len(results)} samples in {seconds:.1f} s, {read[0]:,} bytes to the terminal")
    print(f"display {cost:.4f} ms of CPU a sample; target 0.1 ms")


def _samples(progress: RunProgress | None, results: list[SampleResult], pause: float) -> None:
    for place, result in enumerate(results):
        time.sleep(pause)
        if progress is None:
            continue
        progress.started(result.sample)
        if place % 10 == 0:
            progress.retried(result.sample, RETRY)
        if place >= UNDER_WAY:
            progress.finished(results[place - UNDER_WAY])


def _cpu(work: object) -> float:
    assert callable(work)
    before = time.process_time()
    work()
    return time.process_time() - before


def _drain(file: int, read: list[int]) -> None:
    while True:
        read[0] += len(os.read(file, 1 << 16))


def _problem(number: int) -> Problem:
    return Problem(
        id=f"made/problem-{number}",
        source="made",
        title=f"A problem with the number {number}",
        statement="",
        platform="made",
        difficulty="medium",
        difficulty_word="medium",
        tests=TestSuite(()),
        content_hash="",
    )


def _result(problem: Problem) -> SampleResult:
    return made_result(
        problem.id,
        solved=True,
        title=problem.title,
        difficulty="medium",
        stop_reason=StopReason.PUBLIC_TESTS_PASSED,
        model_calls=4,
        tool_calls=3,
        cost=0.01,
        seconds=1.5,
    )


if __name__ == "__main__":
    main()
