"""`harness.calibrate`: time a benchmark's references, as `harness calibrate` does."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

from rich.console import RenderableType

from harness.efficiency import Timing
from harness.efficiency.measurement import Scales
from harness.efficiency.scale import Scale
from harness.errors import DataError
from harness.features.calibrate.calibration import (
    CalibratedProblem,
    CalibrationSummary,
    calibrated,
    calibration_view,
    summarize_calibration,
)
from harness.problem import Problem
from harness.run.plan.problem_kinds import require_code_generation
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, JudgingProgress, Reporter
from harness.run.session.judging_session import JudgingSession, in_pool, session_of, vet
from harness.run.session.timing_session import timing_of
from harness.run.spec.keys import SelectionKeys, listing, python_words, spec_from
from harness.sandbox.executor import Executor, ExecutorName
from harness.sandbox.isolation import Level
from harness.sandbox.program import SandboxError
from harness.sources.selection import select
from harness.terminal.notebook import NotebookView
from harness.text import count

OWN = ("benchmark", "recollect")


class CalibrateKeys(SelectionKeys, total=False):
    """Keys of `calibrate`: selection of problems, grading and timing."""

    rule: str | None
    test_timeout: float | None
    memory: int | None
    require_isolation: Level | str
    unsafe_no_sandbox: bool
    workers: int | None
    executor: ExecutorName
    ray_address: str | None
    timing: Timing


@dataclass(frozen=True, slots=True)
class CalibratedBenchmark(NotebookView):
    """A benchmark's references, timed on this machine.

    Attributes:
        problems: the problems, each with the times of its references.
        interrupted: whether an interrupt ended the work.
        left: number of problems that an interrupt left.
    """

    problems: tuple[CalibratedProblem, ...]
    interrupted: bool = False
    left: int = 0

    @property
    def summary(self) -> CalibrationSummary:
        """All figures, as in `harness calibrate --json`."""
        return summarize_calibration(self.problems)

    def view(self) -> RenderableType:
        """Return the table that `harness calibrate` prints."""
        return calibration_view(self.summary, self.problems)

    def __repr__(self) -> str:
        of = count(len(self.problems), "problem")
        return f"<CalibratedBenchmark: {self.summary.telling} of {of} tell fast from slow>"


@listing(CalibrateKeys)
@python_words("calibrate()")
def calibrate(
    benchmark: Benchmark, *, recollect: bool = False, **keys: Unpack[CalibrateKeys]
) -> CalibratedBenchmark:
    """Time a benchmark's references, against which the efficiency of solutions is measured.

    Times are stored for this machine: what has not changed is not timed again.

    Args:
        benchmark: `NAME[:WHERE]`, loaded problems, or rows.
        recollect: time again what has been timed before.
        keys: settings of judging and timing, and of the selection of problems.

    Raises:
        UsageError: a key or value is not accepted, or a problem does not ask for code.
        DataError: a row is malformed.
        NothingSelectedError: no problem is left.
        IsolationError: no sandbox of the required strength is available.
        KeyboardInterrupt: the user interrupted; the times so far are stored.
    """
    given = checked(benchmark)
    spec = spec_from("calibrate()", keys, CalibrateKeys, OWN, benchmark=name_of(given))
    problems = select(read(given, spec).problems, spec.selection()).problems
    judging = session_of(spec)
    scales = Scales(judging.options, timing_of(spec.timing), fresh=recollect)
    found = calibrate_problems(problems, scales, judging, LOG)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def calibrate_problems(
    problems: Sequence[Problem],
    scales: Scales,
    judging: JudgingSession,
    reporter: Reporter,
    tell_known: Callable[[int, int], None] | None = None,
) -> CalibratedBenchmark:
    """Time the references of problems, for the command and the library.

    Args:
        problems: the selected problems.
        scales: the stored times and the method of timing.
        judging: how references are judged before they are timed.
        reporter: shows the progress.
        tell_known: called with the number of known problems, and of all, if any is known.

    Raises:
        UsageError: a problem does not ask for code.
        IsolationError: no sandbox is strong enough.
    """
    require_code_generation(problems)
    problems = vet(problems, judging, reporter)
    found: dict[str, Scale | str] = {}
    left: list[Problem] = []
    for problem in problems:
        known = scales.known(problem)
        if known is None:
            left.append(problem)
        else:
            found[problem.id] = known
    if found and tell_known is not None:
        tell_known(len(found), len(problems))
    interrupted = _time(left, scales, found, judging, reporter)
    done = tuple(calibrated(each, found[each.id]) for each in problems if each.id in found)
    return CalibratedBenchmark(done, interrupted, len(problems) - len(done))


def _time(
    left: Sequence[Problem],
    scales: Scales,
    found: dict[str, Scale | str],
    judging: JudgingSession,
    reporter: Reporter,
) -> bool:
    """Time references of problems into `found`; return whether interrupted."""
    if not left:
        return False

    async def work(pool: Executor, progress: JudgingProgress) -> None:
        rest = iter(left)

        async def take_turns() -> None:
            for problem in rest:
                try:
                    found[problem.id] = await scales.of(problem, pool)
                except (SandboxError, DataError) as error:
                    found[problem.id] = str(error)
                scale = found[problem.id]
                told = isinstance(scale, Scale)
                progress.judged(good=told and not scale.lack, failed=not told)

        async with asyncio.TaskGroup() as group:
            for _ in range(pool.size):
                group.create_task(take_turns())

    return in_pool(work, judging, reporter, len(left), "problems that tell fast from slow")
