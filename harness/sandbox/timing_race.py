"""Several programs timed in turns, each in its own process, all on one core."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from harness.sandbox.inside.messages import BETWEEN_TESTS
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program, packed
from harness.sandbox.trial import MemoryFiles, write

MOST_PROGRAMS = 8
STEPS_AT_ONCE = 200


class ProgramStep(NamedTuple):
    """One turn of a program.

    Attributes:
        program: index of the program.
        group: index of the group of tests.
        passes: number of times the tests are run, each pass in its own namespace; 1 for a script.
        fresh: whether to use a new process.
        phase: `call`; `count`, which counts branches; or `iterate`, Mercury's protocol.
        iterations: number of iterations of `iterate`.
        shown: index of the pass whose answers are returned; the program learns it last.
    """

    program: int
    group: int
    passes: int = 1
    fresh: bool = False
    phase: str = "call"
    iterations: int = 0
    shown: int = 0


class Lap(NamedTuple):
    """Result of a step.

    Attributes:
        error: why the step failed; empty if it did not.
        cpu_s: CPU seconds of all passes together, measured outside the process.
        outside_s: further CPU seconds since the inputs were given: decoding arguments, showing
            answers.
        build_s: CPU seconds before the inputs were given: making namespaces.
        wall_s: wall seconds of call and outside.
        answers: a script's output, or a function's result for each test in the sandbox's notation;
            bytes made by judged code.
        branches: number of branches, if requested and supported by the interpreter.
        iterations: for each test, the result of
            `harness.sandbox.inside.timing.timed_runner.iterate`, measured by the timed process
            itself.
    """

    error: str
    cpu_s: float
    outside_s: float
    wall_s: float
    answers: tuple[bytes, ...] = ()
    branches: int | None = None
    iterations: tuple[Mapping[str, float], ...] = ()
    build_s: float = 0.0


class TimingRace(MemoryFiles):
    """Programs for one problem, and the inputs they are timed on.

    Args:
        programs: at most `MOST_PROGRAMS`, with the same preamble and entry point, if any.
        groups: groups of inputs that a step runs together; a
            script whose groups have several inputs must have none with a NUL.
        limits: limits of each phase of a step.

    A context manager that closes its memory files.
    """

    def __init__(
        self, programs: Sequence[Program], groups: Sequence[Sequence[bytes]], limits: Limits
    ) -> None:
        if not 0 < len(programs) <= MOST_PROGRAMS:
            raise ValueError(f"a race has 1 to {MOST_PROGRAMS} programs, not {len(programs)}")
        self.programs = programs
        self.groups = groups
        self.limits = limits
        super().__init__()
        self._spans: list[tuple[int, int]] = []

    @property
    def is_functional(self) -> bool:
        """Whether a function is called."""
        return self.programs[0].entry_point is not None

    @property
    def files(self) -> list[int]:
        """Memory files of inputs, answers and each program. Raises OSError if one fails."""
        if not self._files:
            self._add("inputs")
            self._add("outputs")
            end, self._spans = 0, []
            for group in self.groups:
                data = BETWEEN_TESTS.encode().join(group)
                self._spans.append((end, len(data)))
                end = write(self._files[0], data, end)
            for program in self.programs:
                self._add("program", packed(program))
        return self._files

    @property
    def opening(self) -> dict[str, Any]:
        """What the fork server has to know besides its files and limits."""
        return {"do": "lanes", "preamble": self.programs[0].preamble}

    def order(self, step: ProgramStep) -> list[Any]:
        """Return a step in the fork server's format."""
        return [
            *(step.program, self._spans[step.group], len(self.groups[step.group]), step.passes),
            *(step.fresh, step.phase, step.iterations, step.shown),
        ]

    def read(self, answer: Mapping[str, Any]) -> list[Lap]:
        """Return the laps from a fork server's answer.

        Raises:
            ValueError, KeyError, TypeError, IndexError: the answer is malformed.
        """
        if "steps" not in answer:
            raise ValueError(str(answer.get("failed", "no answer")))
        return [self._lap(step) for step in answer["steps"]]

    def _lap(self, step: Mapping[str, Any]) -> Lap:
        seconds = cast("dict[str, float]", step["seconds"])
        shown, claimed = (self._part(*kept) for kept in step["kept"])
        report = _report(claimed)
        error = ""
        if step["end"] not in {"done", "over"} or report.get("status", "ok") != "ok":
            error = str(report.get("error") or report.get("status") or step["end"])
        elif "call" not in seconds:
            error = "it ended before it was called"
        cpu = float(seconds.get("call", 0.0))
        parted = self.is_functional or max(map(len, self.groups), default=1) > 1
        answers = shown.split(BETWEEN_TESTS.encode()) if parted else [shown]
        branches = report.get("branches")
        return Lap(
            error=error,
            cpu_s=cpu,
            outside_s=max(0.0, float(seconds.get("all", cpu)) - cpu),
            wall_s=float(seconds.get("wall", 0.0)),
            answers=tuple(answers),
            branches=branches if isinstance(branches, int) else None,
            iterations=_times(report.get("times")),
            build_s=float(seconds.get("build", 0.0)),
        )

    def _part(self, start: int, head: int, tail: int) -> bytes:
        return os.pread(self.files[1], head + tail, start)


def _report(data: bytes) -> dict[str, Any]:
    """Parse the process's report on itself, which may be any bytes."""
    try:
        report: Any = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", report) if isinstance(report, dict) else {}


def _times(values: Any) -> tuple[Mapping[str, float], ...]:
    items = cast("list[dict[str, Any]]", values) if isinstance(values, list) else []
    return tuple({name: float(item[name]) for name in ("cpu_s", "low", "high")} for item in items)
