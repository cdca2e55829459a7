"""Timing by the protocol of Mercury_Eval's README (`timing: mercury`).

128 iterations of every test on deep copies of its inputs; the mean CPU time of user and system by
`getrusage`, added up over the tests; a 95 % interval of the wall times. Solutions are timed one
after the other, with the clocks of their own process. Noise of the machine is therefore in the
figures; `tests/benchmarks/efficiency.py` shows how much. The README does not define how tests are
added up and how failed ones are treated; both are this module's choice.
"""

import math
from collections.abc import Mapping, Sequence

from harness.features.efficiency.beyond import UncertainTime
from harness.features.efficiency.scale import Efficiency, ReferenceTime, Scale
from harness.features.efficiency.turns import WRONG, Expected, Grouping, LapError, Turns, race_of
from harness.sandbox.timing_race import ProgramStep
from harness.sandbox.worker import Worker

ITERATIONS = 128


def time_of(worker: Worker, expected: Expected, code: str) -> list[Mapping[str, float]]:
    """Return `cpu_s`, and `low` and `high` of the wall time, of each test in seconds.

    Raises:
        LapError: the solution failed, or answered wrongly.
        SandboxError: the sandbox failed.
    """
    plan = Grouping.of(len(expected.inputs), apart=expected.program.entry_point is None)
    steps = [ProgramStep(0, group, phase="iterate", iterations=ITERATIONS) for group in plan.every]
    with worker.on(race_of(expected, [code], plan, times=ITERATIONS)) as race:
        turns = Turns(worker, race, plan)
        laps = turns.take(steps)
    if turns.wrong(expected):
        raise LapError({0}, WRONG)
    times = [each for lap in laps for each in lap.iterations]
    if len(times) != len(expected.inputs):
        raise LapError({0}, "its process told no times")
    return times


def measure(worker: Worker, expected: Expected, scale: Scale, code: str) -> Efficiency:
    """Return how fast a solution that passes all tests is among the references.

    Raises:
        SandboxError: the sandbox failed.
    """
    try:
        time = total(time_of(worker, expected, code))
    except LapError as error:
        return Efficiency.of_failure(scale, error.why.strip().splitlines()[-1])
    ratio = math.exp(time.doubt)
    low, high = time.seconds / ratio, time.seconds * ratio
    return Efficiency.of(
        *(scale, time.seconds, low, high, time.doubt), cpu_s=time.seconds, pairs=ITERATIONS
    )


def calibrate(worker: Worker, expected: Expected, codes: Mapping[str, str]) -> Scale:
    """Return the scale, in seconds, of references that pass all tests.

    Args:
        worker: worker that runs them.
        expected: the tests.
        codes: code of each reference by its hash.

    Raises:
        SandboxError: the sandbox failed.
    """
    times: list[ReferenceTime] = []
    failed = 0
    for code_hash, code in codes.items():
        try:
            time = total(time_of(worker, expected, code))
        except LapError:
            failed += 1
        else:
            times.append(ReferenceTime(code_hash=code_hash, time=time.seconds, doubt=time.doubt))
    times.sort(key=lambda each: (each.time, each.code_hash))
    return Scale(timing="mercury", unit_s=1.0, references=tuple(times), failed=failed)


def total(times: Sequence[Mapping[str, float]]) -> UncertainTime:
    """Return the CPU seconds over all tests, with the uncertainty of the README's interval."""
    seconds = max(sum(each["cpu_s"] for each in times), 1e-9)
    halves = [(each["high"] - each["low"]) / 2 for each in times]
    walls = sum((each["high"] + each["low"]) / 2 for each in times)
    return UncertainTime(seconds, math.hypot(*halves) / max(walls, 1e-9))
