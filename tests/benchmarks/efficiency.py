"""How well efficiency is measured: the same solution measured over and over, idle and under load.

Problems are real ones with several solutions that pass here: APPS with its references, and
LiveCodeBench with generations that another grader found right. Of each the solution in the middle
is measured again and again on one scale, in turns with references and by Mercury's protocol; what
its Beyond varies by is what is printed. At last each is made quadratic, and has to fall behind.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness.agent.extraction.code import extract
from harness.features.efficiency import (
    mercury_protocol,
    paired_timing,
    reference_times,
)
from harness.features.efficiency.scale import Efficiency, Scale
from harness.features.efficiency.turns import Expected, LapError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.languages.program_key import code_hash
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import load

CODES = 8  # of a problem at most
MOST_TESTS = 30
LEAST_S, MOST_S = 0.0002, 0.012  # CPU seconds of a pass
TARGET = 0.01
LEVELS = ("introductory", "interview", "competition")

MOST_STEPS = 2_000  # to the square: it is to be slow, and not to hit a limit
STEP_S = 1e-8  # an empty step of a loop, about
TELLS = 0.2  # of a solution's own time: a smaller square is lost in it

# What makes a solution quadratic in what it is given.
QUADRATIC_SCRIPT = """import io, sys
_data = sys.stdin.read()
_n = min(len(_data.split()), {most})
def _work():
    for _ in range(_n):
        for _ in range(_n): pass
_work()
sys.stdin = io.TextIOWrapper(io.BytesIO(_data.encode()))
"""
QUADRATIC_FUNCTION = """
def _quadratic(function):
    def call(self, *arguments):
        n = min(len(repr(arguments)) // 4, {most})
        for _ in range(n):
            for _ in range(n): pass
        return function(self, *arguments)
    return call
Solution.{name} = _quadratic(Solution.{name})
"""


@dataclass
class Subject:
    """A problem, its scales, and what was measured of the solution in the middle."""

    problem: Problem
    expected: Expected
    codes: dict[str, str]
    scales: dict[str, Scale]
    middle: str
    calibrated_s: dict[str, float]
    found: dict[tuple[str, str], list[Efficiency]] = field(
        default_factory=lambda: defaultdict(list)
    )
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    quadratic: tuple[float, float] | None = None


def main() -> None:
    """Choose problems, measure, print."""
    options = _options()
    data = options.data or os.environ.get("HARNESS_TEST_DATA")
    if not data:
        sys.exit("no real rows: give --data FOLDER or set HARNESS_TEST_DATA")
    worker = Worker()
    subjects: list[Subject] = []
    for problem, codes in _candidates(Path(data)):
        subject = _subject(worker, problem, codes)
        if subject is not None:
            subjects.append(subject)
            _say(f"{len(subjects)}/{options.problems} {problem.id}")
        if len(subjects) == options.problems:
            break
    loads = {}
    for state, busy in (("idle", 0), ("busy", os.cpu_count() or 1)):
        with _busy(busy):
            for repeat in range(options.repeats):
                for subject in subjects:
                    _measure(worker, subject, state)
                _say(f"{state} {repeat + 1}/{options.repeats}, load {os.getloadavg()[0]:.1f}")
        loads[state] = os.getloadavg()[0]
    for subject in subjects:
        subject.quadratic = _plant(worker, subject)
    worker.stop()
    if options.json:
        print(json.dumps(_as_data(subjects, loads), indent=1))
    else:
        _print(subjects, loads)


def _candidates(data: Path) -> Iterator[tuple[Problem, list[str]]]:
    """Problems and solutions of theirs that are known to be right, the two sources in turn."""
    sources = [_livecodebench(data / "lcb_codegen_full184"), _apps(data / "apps_codechain_minival")]
    while sources:
        for source in list(sources):
            candidate = next(source, None)
            if candidate is None:
                sources.remove(source)
            else:
                yield candidate


def _apps(folder: Path) -> Iterator[tuple[Problem, list[str]]]:
    files = [load(f"apps:{folder / level}.jsonl").problems for level in LEVELS]
    for row in range(max(map(len, files))):
        for problems in files:
            if row < len(problems):
                yield problems[row], list(dict.fromkeys(problems[row].programs()))[:CODES]


def _livecodebench(folder: Path) -> Iterator[tuple[Problem, list[str]]]:
    right: dict[str, list[str]] = defaultdict(list)
    with gzip.open(folder / "graded_generations.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row["score"] == 1.0:
                right[row["question_id"]].append(row["output"])
    for problem in load(f"livecodebench:{folder / 'test_small.jsonl'}").problems:
        view = problem.view()
        codes = (extract(text, view.entry_point).code for text in right[problem.native_id])
        yield problem, list(dict.fromkeys(codes))[:CODES]


def _subject(worker: Worker, problem: Problem, codes: list[str]) -> Subject | None:
    """A problem that tells fast from slow, with its scales; None where it does not."""
    options = Options(stop=Stop.FAILURE)
    tests = problem.tests.all()
    if len(codes) < 3 or len(tests) > MOST_TESTS:
        return None
    first = judge(worker, options.task(problem, codes[0], tests))
    if not LEAST_S < sum(test.cpu_s for test in first.tests) < 2 * MOST_S:
        return None
    right = {
        code_hash(code): code
        for code in codes
        if judge(worker, options.task(problem, code, tests)).solved
    }
    if len(right) < 3:
        return None
    expected = Expected.of(worker, options.task(problem, next(iter(right.values())), tests))
    scales: dict[str, Scale] = {}
    seconds: dict[str, float] = {}
    start = time.monotonic()
    scales["paired"] = reference_times.calibrate(worker, expected, right)
    seconds["paired"] = time.monotonic() - start
    _say(f"  {problem.id} calibrated in {seconds['paired']:.1f} s {scales['paired'].lack}")
    if scales["paired"].lack or not LEAST_S < scales["paired"].unit_s < MOST_S:
        return None
    start = time.monotonic()
    scales["mercury"] = mercury_protocol.calibrate(worker, expected, right)
    seconds["mercury"] = time.monotonic() - start
    references = scales["paired"].references
    middle = references[len(references) // 2].code_hash
    return Subject(problem, expected, right, scales, right[middle], seconds)


def _measure(worker: Worker, subject: Subject, state: str) -> None:
    for timing in ("paired", "mercury"):
        start = time.monotonic()
        efficiency = _once(worker, subject, timing, subject.middle)
        subject.seconds[state, timing].append(time.monotonic() - start)
        subject.found[state, timing].append(efficiency)


def _once(worker: Worker, subject: Subject, timing: str, code: str) -> Efficiency:
    scale = subject.scales[timing]
    if timing == "mercury":
        # What its intervals say of the scale is not asked: the README takes it as it is.
        sure = (each.model_copy(update={"doubt": 0.0}) for each in scale.references)
        scale = scale.model_copy(update={"references": tuple(sure)})
        return mercury_protocol.measure(worker, subject.expected, scale, code)
    return paired_timing.measure(worker, subject.expected, scale, subject.codes, code)


def _plant(worker: Worker, subject: Subject) -> tuple[float, float] | None:
    """The solution in the middle made quadratic: how many times its own time it takes.

    Returns:
        That, and how large the square is: seconds of its steps by those of a pass. None where it
        does not come to its end, or cannot be made so.
    """
    name = subject.problem.entry_point
    code = QUADRATIC_SCRIPT.format(most=MOST_STEPS) + subject.middle
    if name is not None:
        code = subject.middle + QUADRATIC_FUNCTION.format(name=name, most=MOST_STEPS)
    if name is not None and "class Solution" not in subject.middle:
        return None
    sizes = [
        len(each.split()) if name is None else len(each) // 4 for each in subject.expected.inputs
    ]
    try:
        planted = _once(worker, subject, "paired", code)
    except LapError:
        return None
    own = statistics.median(each.time or 0.0 for each in subject.found["idle", "paired"])
    seconds = statistics.median(each.cpu_s or 0.0 for each in subject.found["idle", "paired"])
    steps = sum(min(size, MOST_STEPS) ** 2 for size in sizes) * STEP_S
    return None if planted.time is None else (planted.time / own, steps / seconds)


@contextmanager
def _busy(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    context = multiprocessing.get_context("fork")
    running = [context.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.join()


def _spin() -> None:
    values = list(range(50_000))
    while True:
        sorted(values, key=lambda value: -value % 977)


def _spread(subject: Subject, state: str, timing: str) -> float:
    return statistics.stdev(each.beyond or 0.0 for each in subject.found[state, timing])


def _seconds(subject: Subject, state: str, timing: str) -> float:
    return statistics.median(subject.seconds[state, timing])


COLUMNS = [(state, timing) for state in ("idle", "busy") for timing in ("paired", "mercury")]


def _print(subjects: list[Subject], loads: Mapping[str, float]) -> None:
    out = Console(width=140)
    table = Table("problem", "pass", "refs", "slow/fast", "Beyond", box=None, pad_edge=False)
    for state, timing in COLUMNS:
        table.add_column(f"SD {timing}, {state}", justify="right")
    for state, timing in COLUMNS:
        table.add_column(f"s {timing}, {state}", justify="right")
    table.add_column("quadratic")
    for each in subjects:
        times = each.scales["paired"].times
        value = statistics.mean(
            efficiency.beyond or 0.0 for efficiency in each.found["idle", "paired"]
        )
        planted = each.quadratic
        table.add_row(
            each.problem.id,
            f"{each.found['idle', 'paired'][0].cpu_s or 0:.2g} s",
            str(len(times)),
            f"{times[-1] / times[0]:.2f}",
            f"{value:.2f}",
            *(f"{_spread(each, *column):.4f}" for column in COLUMNS),
            *(f"{_seconds(each, *column):.2f}" for column in COLUMNS),
            "-" if planted is None else f"{planted[0]:.2f} x",
        )
    out.print(table)
    for state, timing in COLUMNS:
        spreads = sorted(_spread(each, state, timing) for each in subjects)
        within = sum(spread <= TARGET for spread in spreads)
        seconds = sum(_seconds(each, state, timing) for each in subjects)
        out.print(
            f"{timing}, {state} (load {loads[state]:.1f}): SD of Beyond median "
            f"{statistics.median(spreads):.4f}, root mean square "
            f"{statistics.fmean(s * s for s in spreads) ** 0.5:.4f}, most {spreads[-1]:.4f}; "
            f"{within} of {len(spreads)} within {TARGET}; {seconds:.1f} s for a solution of each"
        )
    for timing in ("paired", "mercury"):
        calibrated = sum(each.calibrated_s[timing] for each in subjects)
        out.print(f"{timing}: {calibrated:.1f} s to calibrate all of them")
    large = [each for each in subjects if each.quadratic and each.quadratic[1] > TELLS]
    behind = sum(each.quadratic is not None and each.quadratic[0] > 1 for each in large)
    out.print(
        f"quadratic solutions behind: {behind} of {len(large)} where the square is large enough"
    )


def _as_data(subjects: list[Subject], loads: Mapping[str, float]) -> dict[str, object]:
    return {
        "load": dict(loads),
        "problems": [
            {
                "id": each.problem.id,
                "times": each.scales["paired"].times,
                "calibrated_s": each.calibrated_s,
                "beyond": {
                    " ".join(key): [one.beyond for one in figures]
                    for key, figures in each.found.items()
                },
                "seconds": {" ".join(key): figures for key, figures in each.seconds.items()},
                "quadratic": each.quadratic,
            }
            for each in subjects
        ],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of real rows; default: HARNESS_TEST_DATA")
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--json", action="store_true", help="every figure, no table")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
