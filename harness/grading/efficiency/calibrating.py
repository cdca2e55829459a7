"""Making a problem's scale of time from its references."""

from collections.abc import Mapping
from statistics import median

from harness.grading.efficiency.expected import Expected
from harness.grading.efficiency.paired import (
    WANTED_OF_REFERENCES,
    Found,
    WrongAnswerError,
    against,
    reference_time,
)
from harness.grading.efficiency.scale import ReferenceTime, Scale
from harness.grading.efficiency.turns import LapError, Plan, Turns, race_of
from harness.sandbox.race import Step
from harness.sandbox.worker import Worker
from harness.stats.middle import Middle

LOOKS = 3  # at each, to find the anchors


def calibrate(worker: Worker, expected: Expected, codes: Mapping[str, str]) -> Scale:
    """The scale of references that pass all tests.

    First each is timed by itself, a few times: this tells the anchors. The one in the middle is the
    unit; the fastest and the slowest are timed against it, and every other against all three.

    Args:
        worker: on which they take turns.
        expected: the tests.
        codes: of the references by their hashes.

    Raises:
        SandboxError: the sandbox failed.
    """
    functional = expected.program.entry_point is not None
    looked, failed, apart = _look(worker, expected, codes, apart=not functional)
    if not looked:
        return Scale(unit_s=0.0, references=(), failed=failed, apart=apart)
    order = sorted(looked, key=lambda code_hash: (looked[code_hash], code_hash))
    centre = order[(len(order) - 1) // 2]
    anchors = list(dict.fromkeys((order[0], centre, order[-1])))
    times = {centre: 1.0}
    found: dict[str, ReferenceTime] = {}
    for each in (*anchors, *order):
        if each in found:
            continue
        others = [other for other in times if other != each] or [each]
        try:
            pairs = [(codes[other], times[other]) for other in others]
            timed = against(worker, expected, codes[each], pairs, apart=apart, enough=_is_narrow)
        except (LapError, WrongAnswerError):
            failed += 1
            if each in times:
                raise
            continue
        found[each] = reference_time(each, _unit(timed) if each == centre else timed)
        if each in anchors:
            times[each] = found[each].time
    references = tuple(sorted(found.values(), key=lambda each: (each.time, each.code_hash)))
    places = {reference.code_hash: place for place, reference in enumerate(references)}
    return Scale(
        unit_s=looked[centre],
        references=references,
        failed=failed,
        anchors=tuple(places[each] for each in times),
        apart=apart,
    )


def _is_narrow(ratio: Middle) -> bool:
    return ratio.half_width <= WANTED_OF_REFERENCES


def _unit(found: Found) -> Found:
    """The middle anchor, timed against itself to have its branches: it is the unit."""
    return Found(Middle(0.0, 0.0, 0.0), found.seconds, 0, found.branches, found.remembers)


def _look(
    worker: Worker, expected: Expected, codes: Mapping[str, str], *, apart: bool
) -> tuple[dict[str, float], int, bool]:
    """A first look at each: CPU seconds of a pass, how many failed, and whether tests are apart.

    Where a reference answers wrongly with all tests in one namespace, none of them is run so.
    """
    plan = Plan.of(len(expected.inputs), apart=apart)
    found: dict[str, float] = {}
    failed = 0
    for code_hash, code in codes.items():
        with race_of(expected, [code], plan) as race:
            turns = Turns(worker, race, plan)
            try:
                looks = [
                    sum(lap.cpu_s for lap in turns.take([Step(0, g) for g in plan.every]))
                    for _ in range(LOOKS)
                ]
            except LapError:
                looks = []
            worker.leave(race)
        if looks and not turns.wrong(expected):
            found[code_hash] = max(median(looks), 1e-9)
        elif not apart:
            return _look(worker, expected, codes, apart=True)
        else:
            failed += 1
    return found, failed, apart
