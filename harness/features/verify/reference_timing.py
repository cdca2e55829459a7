"""`harness.calibrate`: time a benchmark's references, as `harness verify --time` does."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

from rich.console import Group, RenderableType
from rich.text import Text

from harness.errors import DataError
from harness.features.efficiency.efficiency_summary import cpu_time
from harness.features.efficiency.measurement import Scales, machine, timing_of
from harness.features.efficiency.scale import Scale
from harness.figures import count
from harness.frozen import Frozen
from harness.languages.program_key import code_hash
from harness.problem import Problem, Reference
from harness.run.plan.problem_kinds import require_code_generation
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, JudgingProgress, Reporter
from harness.run.session.judging import in_pool
from harness.run.session.judging_session import JudgingSession, session_of
from harness.run.settings.execution_settings import Timing
from harness.run.settings.keys import SelectionKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.run.summary.summary import counted
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import Executor, ExecutorName
from harness.sandbox.isolation import Level
from harness.sources.selection import select
from harness.terminal.notebook import NotebookView
from harness.terminal.rich_tables import facts, figures_table
from harness.text import printable_line

SCHEMA = 1
LISTED = 40
OWN = ("benchmark", "recollect")


class CalibratedReference(Frozen):
    """The measured time of a reference.

    Attributes:
        index: position among the problem's Python references, from 0.
        cpu_s: CPU seconds of one pass over all tests.
        time, doubt: time in the unit of the problem's scale, and half the width of the 95 %
            interval of its logarithm.
        branches: Python branches in a pass; None if the interpreter cannot count them.
        foreign: run time given by the data set. It was measured on another machine and is only
            shown, never compared.
    """

    index: int
    cpu_s: float
    time: float
    doubt: float
    branches: int | None
    foreign: str


class CalibratedProblem(Frozen):
    """A problem and its references, the fastest first.

    Attributes:
        failed: number of references that do not pass all tests.
        lack: why the references do not tell fast from slow; empty if they do.
        failure: the infrastructure failure that prevented timing; empty if there was none.
    """

    problem_id: str
    timing: Timing | None
    references: tuple[CalibratedReference, ...] = ()
    failed: int = 0
    lack: str = ""
    failure: str = ""


class CalibrationSummary(Frozen):
    """Totals of a calibrated source.

    Attributes:
        machine: the machine the times are valid for.
        telling: number of problems whose references tell fast from slow.
        lacking: number of other problems by reason.
        failures: number of problems not timed because infrastructure failed.
        references: number of references timed.
    """

    machine: str
    problems: int
    telling: int
    lacking: dict[str, int]
    failures: int
    references: int


class TimedSource(Frozen):
    """What `harness verify --time --json` prints."""

    schema_version: int = SCHEMA
    problems: tuple[CalibratedProblem, ...]
    summary: CalibrationSummary


def calibrated(problem: Problem, scale: Scale | str) -> CalibratedProblem:
    """Convert a problem's scale, or the failure to measure one, to a result."""
    if isinstance(scale, str):
        return CalibratedProblem(problem_id=problem.id, timing=None, failure=scale)
    places = {
        code_hash(each.code): (place, each.recorded)
        for place, each in reversed(list(enumerate(_references(problem))))
    }
    return CalibratedProblem(
        problem_id=problem.id,
        timing=scale.timing,
        references=tuple(
            CalibratedReference(
                index=places[each.code_hash][0],
                cpu_s=each.time * scale.unit_s,
                time=each.time,
                doubt=each.doubt,
                branches=each.branches,
                foreign=places[each.code_hash][1],
            )
            for each in scale.references
            if each.code_hash in places
        ),
        failed=scale.failed,
        lack=scale.lack,
    )


def _references(problem: Problem) -> list[Reference]:
    try:
        return [each for each in problem.load_references() if each.language == "python"]
    except DataError:
        return []


def summarize_calibration(results: Sequence[CalibratedProblem]) -> CalibrationSummary:
    """Count the calibrated problems and references."""
    timed = [each for each in results if not each.failure]
    return CalibrationSummary(
        machine=machine(),
        problems=len(results),
        telling=sum(not each.lack for each in timed),
        lacking=counted(each.lack for each in timed if each.lack),
        failures=len(results) - len(timed),
        references=sum(len(each.references) for each in timed),
    )


def calibration_view(
    summary: CalibrationSummary, results: Sequence[CalibratedProblem]
) -> RenderableType:
    """Show each problem's references, and how many problems tell fast from slow."""
    shown = results[:LISTED]
    named_times = any(map(_foreign, shown))
    columns = ("problem", "references", "fastest", "slowest", "ratio")
    table = figures_table(*columns, *(("data set's own times",) if named_times else ()))
    for each in shown:
        name = Text(printable_line(each.problem_id))
        failed = f", {each.failed} failed" if each.failed else ""
        if not each.references:
            table.add_row(name, f"0{failed}", "", "", printable_line(each.failure or each.lack))
            continue
        fastest, slowest = each.references[0], each.references[-1]
        ratio = f"{slowest.time / fastest.time:.2f}" if fastest.time else ""
        table.add_row(
            name,
            f"{len(each.references)}{failed}",
            cpu_time(fastest.cpu_s),
            cpu_time(slowest.cpu_s),
            f"{ratio} ({each.lack})" if each.lack else ratio,
            *((printable_line(_foreign(each)),) if named_times else ()),
        )
    parts: list[RenderableType] = [table]
    if len(results) > LISTED:
        parts.append(Text(f"and {len(results) - LISTED:,} more; --json lists all"))
    line = f"{summary.telling:,} of {count(summary.problems, 'problem')} tell fast from slow"
    lacking = ", ".join(f"{why} {number:,}" for why, number in summary.lacking.items())
    named = [("scales", f"{line}{f'; {lacking}' if lacking else ''}")]
    named.append(("references", f"{summary.references:,} timed"))
    named.append(("machine", f"{summary.machine}; the times hold for it alone"))
    parts.append(facts(named))
    return Group(*parts)


def _foreign(problem: CalibratedProblem) -> str:
    """Return the data set's own run times of the fastest and the slowest reference, if any."""
    if not problem.references:
        return ""
    first, last = problem.references[0].foreign, problem.references[-1].foreign
    return f"{first} … {last}" if first or last else ""


class CalibrateKeys(SelectionKeys, total=False):
    """Keys of `calibrate`: selection of problems, grading and timing."""

    rule: str | None
    test_timeout: float | None
    time_factor: float
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
        """All figures, as in `harness verify --time --json`."""
        return summarize_calibration(self.problems)

    def view(self) -> RenderableType:
        """Return the table that `harness verify --time` prints."""
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
    calibrated = calibrate_problems(problems, scales, judging, LOG)
    if calibrated.interrupted:
        raise KeyboardInterrupt
    return calibrated


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
    measured: dict[str, Scale | str] = {}
    left: list[Problem] = []
    for problem in problems:
        known = scales.known(problem)
        if known is None:
            left.append(problem)
        else:
            measured[problem.id] = known
    if measured and tell_known is not None:
        tell_known(len(measured), len(problems))
    interrupted = _time(left, scales, measured, judging, reporter)
    done = tuple(calibrated(each, measured[each.id]) for each in problems if each.id in measured)
    return CalibratedBenchmark(done, interrupted, len(problems) - len(done))


def _time(
    left: Sequence[Problem],
    scales: Scales,
    measured: dict[str, Scale | str],
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
                    measured[problem.id] = await scales.of(problem, pool)
                except (SandboxError, DataError) as error:
                    measured[problem.id] = str(error)
                scale = measured[problem.id]
                tells = isinstance(scale, Scale)
                progress.judged(good=tells and not scale.lack, failed=not tells)

        async with asyncio.TaskGroup() as group:
            for _ in range(pool.size):
                group.create_task(take_turns())

    return in_pool(work, judging, reporter, len(left), "problems that tell fast from slow")
