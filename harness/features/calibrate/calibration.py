"""Run times of a benchmark's references, whether they tell fast from slow, and their table."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from harness.efficiency import Timing
from harness.efficiency.efficiency_summary import cpu_time
from harness.efficiency.measurement import machine
from harness.efficiency.scale import Scale
from harness.errors import DataError
from harness.grading.jobs import code_hash
from harness.models.protocol import Frozen
from harness.problem import Problem, Reference
from harness.run.summary.summary import counted
from harness.terminal.columns import facts, figures_table
from harness.text import count, printable_line


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


def calibrated(problem: Problem, found: Scale | str) -> CalibratedProblem:
    """Convert a problem's scale, or the failure to measure one, to a result."""
    if isinstance(found, str):
        return CalibratedProblem(problem_id=problem.id, timing=None, failure=found)
    places = {
        code_hash(each.code): (place, each.recorded)
        for place, each in reversed(list(enumerate(_references(problem))))
    }
    return CalibratedProblem(
        problem_id=problem.id,
        timing=found.timing,
        references=tuple(
            CalibratedReference(
                index=places[each.code_hash][0],
                cpu_s=each.time * found.unit_s,
                time=each.time,
                doubt=each.doubt,
                branches=each.branches,
                foreign=places[each.code_hash][1],
            )
            for each in found.references
            if each.code_hash in places
        ),
        failed=found.failed,
        lack=found.lack,
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


LISTED = 40


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
    told = f"{summary.telling:,} of {count(summary.problems, 'problem')} tell fast from slow"
    lacking = ", ".join(f"{why} {number:,}" for why, number in summary.lacking.items())
    named = [("scales", f"{told}{f'; {lacking}' if lacking else ''}")]
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
