"""What a piece of work cost: wall time, and the CPU time of the whole process tree."""

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """What some tests cost.

    Attributes:
        tests: how many were run, each of them accepted.
        wall_s: from the first to the last, start-up left out.
        cpu_s: user and system time of the tree, from `getrusage`, start-up subtracted.
        seen_s: the same as /proc/PID/stat tells it while the tree stands, for comparison: what is
            reaped by nobody who is asked, is here and not in `cpu_s`. None where not looked at.
    """

    tests: int
    wall_s: float
    cpu_s: float
    seen_s: float | None = None

    @property
    def wall_ms(self) -> float:
        """Wall milliseconds a test."""
        return 1000 * self.wall_s / self.tests

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds a test."""
        return 1000 * self.cpu_s / self.tests

    @property
    def per_second(self) -> float:
        """Tests a second of wall time."""
        return self.tests / self.wall_s

    def tell(self) -> None:
        """Write it on stdout, for `measured` in the process that asked."""
        print(json.dumps(asdict(self)), flush=True)


class FailedError(Exception):
    """A measurement that did not come about, and why."""


def measured(command: Sequence[str]) -> Cost:
    """The cost that a program of its own measured and wrote as its last line.

    Raises:
        FailedError: it did not; the message is its last word on stderr.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise FailedError(lines[-1])
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def cpu_s() -> float:
    """CPU seconds of this process and of every descendant that was reaped."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class _Process(NamedTuple):
    parent: int
    cpu_s: float


def _processes() -> dict[int, _Process]:
    processes: dict[int, _Process] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        # utime, stime, cutime and cstime are fields 14 to 17 of proc_pid_stat(5); this is from 3 on
        processes[int(entry.name)] = _Process(int(fields[1]), sum(map(int, fields[11:15])) / _TICKS)
    return processes


def tree(root: int | None = None) -> list[int]:
    """This process, or another, and all that live below it."""
    processes = _processes()
    process_ids = [os.getpid() if root is None else root]
    for pid in process_ids:
        process_ids += [child for child, process in processes.items() if process.parent == pid]
    return process_ids


def tree_cpu_s() -> float:
    """CPU seconds of this process, all below it, and whatever each of them has reaped."""
    pids = tree()
    processes = _processes()
    return sum(processes[pid].cpu_s for pid in pids if pid in processes)


def timed(tests: int, work: Callable[[], None]) -> Cost:
    """The cost of work that ends every process it starts."""
    cpu, wall = cpu_s(), time.perf_counter()
    work()
    return Cost(tests, time.perf_counter() - wall, cpu_s() - cpu)


@dataclass(frozen=True, slots=True)
class Spread:
    """Some figures: their median, least and greatest."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """Of at least one figure."""
        return cls(statistics.median(figures), min(figures), max(figures))

    def text(self) -> str:
        """`median [least..most]`, three digits each."""
        return f"{_digits(self.median)} [{_digits(self.least)}..{_digits(self.most)}]"


def _digits(figure: float) -> str:
    if figure >= 100:
        return f"{figure:.0f}"
    if figure >= 10:
        return f"{figure:.1f}"
    return f"{figure:.2f}" if figure >= 1 else f"{figure:.3f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(c.rjust(w) for c, w in rest)])

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, rows)])
