"""Graders of a package's own: programs that give a group of tests its verdict and points.

Such a program reads a line for each test and inner group that was run, its verdict (AC, WA, TLE or
RTE) and its points, and prints one such line for the group. It runs where checkers run.

Source: the problem package format, version `legacy`, "Graders".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.excerpts import around
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.verdict import TestResult, Verdict
from harness.judged_by import CheckerProgram
from harness.kinds.checkers.checker_program import checker_trial
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.test_folder import TestFolder

ACCEPTED, WRONG, RUNTIME = "AC", "WA", "RTE"
_CODES = {
    Verdict.ACCEPTED: ACCEPTED,
    Verdict.WRONG_ANSWER: WRONG,
    Verdict.TIME_LIMIT: "TLE",
}
_LINE = re.compile(r"\s*(AC|WA|TLE|RTE)\s+([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\s*", re.ASCII)
EXCERPT = 100


class GraderError(ValueError):
    """A grader crashed, hit a limit, or printed no verdict with points."""


@dataclass(slots=True)
class Grader:
    """Runs a grader, once for each question.

    Args:
        bench: worker on which no solution runs.
        program: the grader.
    """

    bench: RetryingWorker
    program: CheckerProgram
    _known: dict[tuple[tuple[str, ...], str], tuple[str, float]] = field(
        default_factory=dict[tuple[tuple[str, ...], str], tuple[str, float]]
    )

    def grade(
        self, flags: tuple[str, ...], parts: Sequence[tuple[str, float]]
    ) -> tuple[str, float]:
        """Return verdict and points of a group.

        Args:
            flags: the grader's arguments.
            parts: verdict and points of each of its parts that was run.

        Raises:
            GraderError: the grader is at fault.
            SandboxError: the sandbox failed.
        """
        lines = "".join(f"{verdict} {points:.12g}\n" for verdict, points in parts)
        if (flags, lines) not in self._known:
            self._known[flags, lines] = _read(self._run(flags, lines))
        return self._known[flags, lines]

    def _run(self, flags: tuple[str, ...], lines: str) -> Execution:
        files = {name: text.encode("utf-8", "surrogatepass") for name, text in self.program.files}
        folder = TestFolder(("grader", *flags), lines.encode(), files)
        with self.bench.worker.on(checker_trial(self.program, folder)) as trial:
            return self.bench.execute(trial, [0], last=True)[0]


def code_of(result: TestResult) -> str:
    """Return the verdict of a test as graders read it."""
    return _CODES.get(result.verdict, RUNTIME)


def _read(execution: Execution) -> tuple[str, float]:
    """Return what a grader printed. Raises GraderError."""
    printed = execution.stdout.decode("utf-8", "replace")
    match = _LINE.fullmatch(printed)
    ended = execution.ending is Ending.FINISHED or (
        execution.ending is Ending.EXIT and not execution.code
    )
    if match and ended:
        return match[1], float(match[2])
    lines = (execution.error or execution.stderr or printed).strip().splitlines() or [""]
    why = "it printed no verdict with points" if ended else execution.ending.replace("_", " ")
    raise GraderError(f"{why}: {around(lines[-1], 0, EXCERPT)}")
