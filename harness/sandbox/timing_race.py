"""Several programs timed in turns, each in a process of its own, all on one core."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.closing import Closing
from harness.sandbox.inside.words import BETWEEN_TESTS
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial_input import packed, write

MOST_PROGRAMS = 8
STEPS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a program.

    Attributes:
        program: which of the race's.
        group: which of its groups of tests.
        passes: how often the tests are run, each pass in a namespace of its own; a script's once.
        fresh: in a process that has run nothing yet.
        phase: `call`; `count`, which counts branches; or `iterate`, Mercury's protocol.
        iterations: of that.
        shown: of which pass the answers are shown; it learns that at last.
    """

    program: int
    group: int
    passes: int = 1
    fresh: bool = False
    phase: str = "call"
    iterations: int = 0
    shown: int = 0


@dataclass(frozen=True, slots=True)
class Lap:
    """What came of a step.

    Attributes:
        error: why it did not come to its end; empty where it did.
        cpu_s: CPU seconds of all passes together, read outside the process.
        outside_s: CPU seconds that the process took besides, from its being given the inputs on:
            to make arguments of them, and to show the answers.
        wall_s: wall seconds of all that.
        answers: a script's output, or what a function returned for each test, in the sandbox's
            notation; bytes of judged code.
        branches: counted, where that was asked for and the interpreter can.
        iterations: of Mercury's protocol: what `harness.sandbox.inside.timing.iterations.iterate`
        gave
            for each test. Told by the timed process itself.
    """

    error: str
    cpu_s: float
    outside_s: float
    wall_s: float
    answers: tuple[bytes, ...] = ()
    branches: int | None = None
    iterations: tuple[Mapping[str, float], ...] = ()


class TimingRace(Closing):
    """Programs for one problem, and the inputs that they are timed on.

    Args:
        programs: at most `MOST_PROGRAMS`; all with one preamble and, if any, one entry point.
        groups: inputs that a step takes together; a script's are one each.
        limits: of each phase of a step.

    A context manager, which lets go of its memory files.
    """

    def __init__(
        self, programs: Sequence[Program], groups: Sequence[Sequence[bytes]], limits: Limits
    ) -> None:
        if not 0 < len(programs) <= MOST_PROGRAMS:
            raise ValueError(f"a race has 1 to {MOST_PROGRAMS} programs, not {len(programs)}")
        self.programs = programs
        self.groups = groups
        self.limits = limits
        self._files: list[int] = []
        self._spans: list[tuple[int, int]] = []

    @property
    def is_functional(self) -> bool:
        """Whether a function is called."""
        return self.programs[0].entry_point is not None

    @property
    def files(self) -> list[int]:
        """The inputs', the answers', and each program's. Raises OSError where there can be none."""
        if not self._files:
            self._files = [os.memfd_create("inputs"), os.memfd_create("outputs")]
            end = 0
            for group in self.groups:
                data = BETWEEN_TESTS.encode().join(group)
                self._spans.append((end, len(data)))
                end = write(self._files[0], data, end)
            for program in self.programs:
                self._files.append(os.memfd_create("program"))
                write(self._files[-1], packed(program), 0)
        return self._files

    def order(self, step: Step) -> list[Any]:
        """A step as the fork server reads it."""
        return [
            *(step.program, self._spans[step.group], len(self.groups[step.group]), step.passes),
            *(step.fresh, step.phase, step.iterations, step.shown),
        ]

    def read(self, answer: Mapping[str, Any]) -> list[Lap]:
        """The laps that a fork server tells of.

        Raises:
            ValueError, KeyError, TypeError, IndexError: it is no such answer.
        """
        if "steps" not in answer:
            raise ValueError(str(answer.get("failed", "no answer")))
        return [self._lap(told) for told in answer["steps"]]

    def _lap(self, told: Mapping[str, Any]) -> Lap:
        seconds = cast("dict[str, float]", told["seconds"])
        shown, said = (self._part(*kept) for kept in told["kept"])
        report = _report(said)
        error = ""
        if told["end"] not in {"done", "over"} or report.get("status", "ok") != "ok":
            error = str(report.get("error") or report.get("status") or told["end"])
        elif "call" not in seconds:
            error = "it ended before it was called"
        cpu = float(seconds.get("call", 0.0))
        answers = shown.split(BETWEEN_TESTS.encode()) if self.is_functional else [shown]
        times = report.get("times")
        branches = report.get("branches")
        return Lap(
            error=error,
            cpu_s=cpu,
            outside_s=max(0.0, float(seconds.get("all", cpu)) - cpu),
            wall_s=float(seconds.get("wall", 0.0)),
            answers=tuple(answers),
            branches=branches if isinstance(branches, int) else None,
            iterations=_times(times),
        )

    def _part(self, start: int, head: int, tail: int) -> bytes:
        return os.pread(self.files[1], head + tail, start)

    def close(self) -> None:
        """Let go of the files."""
        while self._files:
            os.close(self._files.pop())
        self._spans = []


def _report(data: bytes) -> dict[str, Any]:
    """What the process said of itself: any bytes."""
    try:
        report: Any = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", report) if isinstance(report, dict) else {}


def _times(told: Any) -> tuple[Mapping[str, float], ...]:
    match told:
        case [*items]:
            return tuple(
                {name: float(item[name]) for name in ("cpu_s", "low", "high")}
                for item in cast("list[dict[str, Any]]", items)
            )
        case _:
            return ()
