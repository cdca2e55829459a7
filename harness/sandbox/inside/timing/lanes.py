"""Several solutions timed in turns: one process each, all on one core.

A process runs only in its own turn; between turns it is stopped with all its threads.
"""

import os
import signal
import time
from typing import Any, NamedTuple

from inside.child_process import Process, Waited
from inside.messages import DONE, DONE_AND_OVER, Kept, go_word
from inside.processes import kill_strays
from inside.trial import NOTHING, REPORT_BYTES, SolutionTrial
from inside.working_directory import empty_working_directory


class LaneStep(NamedTuple):
    """One turn of a lane.

    Attributes:
        lane: index of the lane.
        span: offset and total length of the inputs of its tests.
        tests: number of tests.
        passes: number of times each test is run.
        fresh: whether to use a new process.
        phase: `call`, or the phase that replaces it.
        number: argument of the phase.
        shown: index of the pass whose results are returned.
    """

    lane: int
    span: tuple[int, int]
    tests: int
    passes: int
    fresh: bool
    phase: str
    number: int
    shown: int


class Lane:
    """One solution and the process that runs it."""

    def __init__(self, trial: SolutionTrial) -> None:
        self.trial = trial
        self.runner: Process | None = None

    def take(self, step: LaneStep) -> dict[str, Any]:
        """Carry out a step; return its end, CPU seconds per phase, and output."""
        trial = self.trial
        if trial.refusal is not None:
            (record,) = trial.refusal.records
            return _told(record.end, {}, record.kept[2:])
        if step.fresh:
            self.end()
        runner = self.runner
        if runner is None:
            trial.forget()
            born = trial.bear()
            if isinstance(born, Waited):
                return _told("broken", {}, (NOTHING, NOTHING))
            runner = self.runner = born
        else:
            runner.signal(signal.SIGCONT)
        return self._go_through(runner, step)

    def _go_through(self, runner: Process, step: LaneStep) -> dict[str, Any]:
        trial = self.trial
        for file in trial.files:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        phases = {
            "build": f"build {step.passes} {step.tests}",
            "read": "read",
            "call": f"{step.phase} {step.number}" if step.number else step.phase,
            "show": "show",
            "pick": f"pick {step.shown}",
        }
        seconds: dict[str, float] = {}
        began = cpu, wall = runner.now()
        end = "done"
        for phase, order in phases.items():
            if phase == "read":
                began = cpu, wall
                trial.give(*step.span)
            start = runner.now()
            word, seconds[phase] = self._ask(runner, order, start)
            cpu, wall = start[0] + seconds[phase], time.monotonic()
            if word != DONE:
                end = "over" if word == DONE_AND_OVER else word.decode("ascii", "replace")
                break
        # From the moment it gets its inputs, including its work between phases.
        seconds["all"], seconds["wall"] = cpu - began[0], wall - began[1]
        kept = self._kept()
        if end == "done":
            runner.signal(signal.SIGSTOP)
        else:
            self.end()
        return _told(end, seconds, kept)

    def _ask(self, runner: Process, order: str, start: tuple[float, float]) -> tuple[bytes, float]:
        """Run a phase; return its message or why there is none, and its CPU seconds."""
        trial = self.trial
        trial.unhear()
        try:
            trial.control.send(b"%s %s" % (go_word(trial.runs), order.encode()))
        except OSError:
            return b"gone", 0.0
        waited = trial.wait(runner, start)
        return waited.word or waited.missing.encode() or b"garbage", waited.cpu_s

    def _kept(self) -> tuple[Kept, Kept]:
        """Move its results and its report to the output file."""
        trial = self.trial
        sizes = [os.fstat(descriptor).st_size for descriptor in trial.files]
        which = 3 if sizes[3] else 1
        limit = trial.job.limits["output_bytes"]
        return trial.keep(which, sizes[which], limit), trial.keep(4, sizes[4], REPORT_BYTES)

    def end(self) -> None:
        """End the runner process."""
        runner, self.runner = self.runner, None
        if runner is not None:
            runner.end()

    def close(self) -> None:
        """End the runner and the template process."""
        self.end()
        if not self.trial.over:
            self.trial.template.end()
            self.trial.over = True


class Lanes:
    """Solutions that take turns on one core.

    Args:
        trials: the trial of each solution.
    """

    def __init__(self, trials: list[SolutionTrial]) -> None:
        self.lanes = [Lane(trial) for trial in trials]
        self.written = 0

    def run(self, steps: list[LaneStep]) -> list[dict[str, Any]]:
        """Carry out steps in order until their output is too large for one answer.

        Returns:
            The results of the steps carried out, at least one.
        """
        self.written = 0
        collect_bytes = self.lanes[0].trial.job.limits["collect_bytes"]
        laps: list[dict[str, Any]] = []
        for step in steps:
            lane = self.lanes[step.lane]
            lane.trial.written = self.written
            laps.append(lane.take(step))
            self.written = lane.trial.written
            if self.written > collect_bytes:
                break
        empty_working_directory()
        return laps

    def close(self) -> None:
        """End all processes and close the trials."""
        for lane in self.lanes:
            lane.close()
        kill_strays()
        for lane in self.lanes:
            lane.trial.close()


def _told(end: str, seconds: dict[str, float], kept: tuple[Kept, ...]) -> dict[str, Any]:
    return {"end": end, "seconds": seconds, "kept": [list(each) for each in kept]}
