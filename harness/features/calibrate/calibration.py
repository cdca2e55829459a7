"""Times of a benchmark's references, and whether they tell fast from slow."""

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
    """A reference's time.

    Attributes:
        index: its place among the problem's Python references, from 0.
        cpu_s: CPU seconds of one pass over all tests, when it was timed.
        time, doubt: in the unit of the problem's scale, and half the width of the 95 % interval
            of its logarithm.
        branches: of Python code in a pass; None where the interpreter cannot count them.
        foreign: the run time that the data set gives; it was measured elsewhere, and is
            compared with nothing.
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
        failed: references that do not pass all tests.
        lack: why it does not tell fast from slow; empty where it does.
        failure: why nothing was timed, where infrastructure failed.
    """

    problem_id: str
    timing: Timing | None
    references: tuple[CalibratedReference, ...] = ()
    failed: int = 0
    lack: str = ""
    failure: str = ""


class CalibrationSummary(Frozen):
    """A source, calibrated.

    Attributes:
        machine: that the times hold for.
        telling: problems whose references tell fast from slow; `lacking` says why others do not.
        failures: problems that infrastructure kept from being timed.
        references: that were timed.
    """

    machine: str
    problems: int
    telling: int
    lacking: dict[str, int]
    failures: int
    references: int


def calibrated(problem: Problem, found: Scale | str) -> CalibratedProblem:
    """A problem's scale, or why there is none, as it is told."""
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
    """What the problems come to together."""
    timed = [each for each in results if not each.failure]
    return CalibrationSummary(
        machine=machine(),
        problems=len(results),
        telling=sum(not each.lack for each in timed),
        lacking=counted(each.lack for each in timed if each.lack),
        failures=len(results) - len(timed),
        references=sum(len(each.references) for each in timed),
    )
