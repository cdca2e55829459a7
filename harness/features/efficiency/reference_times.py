"""Measurement of a problem's time scale from its references."""

import math
from collections.abc import Mapping
from statistics import median

from harness.features.efficiency.paired_timing import (
    WANTED_OF_ANCHORS,
    WANTED_OF_REFERENCES,
    Middle,
    against,
)
from harness.features.efficiency.scale import ReferenceTime, Scale
from harness.features.efficiency.turns import Expected, Grouping, LapError, Turns, race_of
from harness.sandbox.timing_race import ProgramStep
from harness.sandbox.worker import Worker

EFFORT = 4.0  # CPU time of an anchor, in that of another reference
LOOKS = 3  # first timings of each reference, to choose the anchors


def calibrate(worker: Worker, expected: Expected, codes: Mapping[str, str]) -> Scale:
    """Return the scale of references that pass all tests.

    First each is timed by itself a few times, to choose the anchors. The median one is the unit;
    the fastest and the slowest are timed against it, and every other against all three. A reference
    that fails meanwhile is left out; if it is an anchor, others take its place.

    Args:
        worker: worker on which they take turns.
        expected: the tests.
        codes: code of each reference by its hash.

    Raises:
        SandboxError: the sandbox failed.
    """
    looked, apart = _look(worker, expected, codes, apart=expected.apart)
    scale = None
    while looked and scale is None:
        try:
            scale = _scale(worker, expected, codes, looked, apart=apart)
        except _UnsoundError as error:
            looked = {each: seconds for each, seconds in looked.items() if each not in error.hashes}
    if scale is None:
        return Scale(unit_s=0.0, references=(), failed=len(codes), apart=apart)
    return scale.model_copy(update={"failed": len(codes) - len(scale.references)})


class _UnsoundError(Exception):
    """References failed that had passed, one of them an anchor, so no time is valid."""

    def __init__(self, hashes: set[str]) -> None:
        self.hashes = hashes
        super().__init__(f"{len(hashes)} references failed")


def _scale(
    worker: Worker,
    expected: Expected,
    codes: Mapping[str, str],
    looked: Mapping[str, float],
    *,
    apart: bool,
) -> Scale:
    """Return the scale of references, given rough times from a first measurement.

    Raises:
        _UnsoundError: an anchor failed.
        SandboxError: the sandbox failed.
    """
    order = sorted(looked, key=lambda code_hash: (looked[code_hash], code_hash))
    centre = order[(len(order) - 1) // 2]
    anchors = list(dict.fromkeys((order[0], centre, order[-1])))
    times = {centre: 1.0}
    by_hash: dict[str, ReferenceTime] = {}
    for each in dict.fromkeys((*anchors, *order)):
        others = [other for other in times if other != each] or [each]
        try:
            pairs = [(codes[other], times[other]) for other in others]
            wanted = WANTED_OF_ANCHORS if each in anchors else WANTED_OF_REFERENCES
            timed = against(
                *(worker, expected, codes[each], pairs),
                apart=apart,
                enough=lambda ratio, wanted=wanted: ratio.half_width <= wanted,
                effort=EFFORT if each in anchors and each != centre else 1.0,
            )
        except LapError as error:
            at_fault = {[each, *others][program] for program in error.programs}
            if not at_fault.isdisjoint(anchors):
                raise _UnsoundError(at_fault) from error
            continue
        place = Middle(0.0, 0.0, 0.0) if each == centre else timed.ratio  # the unit
        by_hash[each] = ReferenceTime(
            code_hash=each,
            time=math.exp(place.value),
            doubt=place.half_width,
            branches=timed.branches,
        )
        if each in anchors:
            times[each] = by_hash[each].time
    references = tuple(sorted(by_hash.values(), key=lambda each: (each.time, each.code_hash)))
    places = {reference.code_hash: place for place, reference in enumerate(references)}
    return Scale(
        unit_s=looked[centre],
        references=references,
        anchors=tuple(places[each] for each in times),
        apart=apart,
    )


def _look(
    worker: Worker, expected: Expected, codes: Mapping[str, str], *, apart: bool
) -> tuple[dict[str, float], bool]:
    """Measure the CPU seconds of one pass of each reference that passes.

    Where a reference answers wrongly with all tests in one namespace, all are run with tests apart.
    Also return whether tests are apart.
    """
    plan = Grouping.of(len(expected.inputs), apart=apart)
    times: dict[str, float] = {}
    for code_hash, code in codes.items():
        with worker.on(race_of(expected, [code], plan)) as race:
            turns = Turns(worker, race, plan)
            try:
                looks = [
                    sum(lap.cpu_s for lap in turns.take([ProgramStep(0, g) for g in plan.every]))
                    for _ in range(LOOKS)
                ]
            except LapError:
                looks = []
        if looks and not turns.wrong(expected):
            times[code_hash] = max(median(looks), 1e-9)
        elif not apart:
            return _look(worker, expected, codes, apart=True)
    return times, apart
