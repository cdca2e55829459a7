"""Run times of a benchmark's references, and whether they tell fast from slow."""

from collections.abc import Sequence

from harness.efficiency.measurement import machine
from harness.efficiency.scale import Scale
from harness.efficiency.timing_names import Timing
from harness.errors import DataError
from harness.grading.jobs import code_hash
from harness.models.protocol import Frozen
from harness.problem import Problem, Reference
from harness.run.summary.summary import counted


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
