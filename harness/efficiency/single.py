"""Time one solution by itself, test by test.

Measures the CPU seconds of the call, read outside the process, with an interval. They drift with
the machine; comparisons with other solutions are measured in turns
(`harness.efficiency.paired_timing`).
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from harness.efficiency.expected import Expected
from harness.efficiency.median_interval import Middle, middle
from harness.efficiency.turns import EMPTY_TURNS, LONG_ENOUGH_S, MOST_PASSES, TURN_S, Plan, race_of
from harness.sandbox.timing_race import Lap, Step
from harness.sandbox.worker import Worker

TURNS = 24  # of each test; fewer where they would take long
FEWEST = 6
BUDGET_S = 2.0


def time_tests(
    worker: Worker, expected: Expected, code: str, tests: Sequence[int]
) -> dict[int, Middle]:
    """Return the median CPU seconds of a solution's call, for each of some tests.

    Args:
        worker: worker on which it runs.
        expected: the tests.
        code: code of the solution.
        tests: indexes of tests that it passes.

    Returns:
        Median by test index; tests that fail now are left out.

    Raises:
        SandboxError: the sandbox failed.
    """
    plan = Plan.of(len(expected.inputs), apart=True)
    found: dict[int, list[float]] = defaultdict(list)
    with race_of(expected, [code], plan) as race:
        first = dict(zip(tests, worker.take_turns(race, [Step(0, n) for n in tests]), strict=True))
        first = {test: lap for test, lap in first.items() if not lap.error}
        empty_s, passes = 0.0, dict.fromkeys(first, 1)
        if race.is_functional and first:
            empty = worker.take_turns(race, [Step(0, 0, passes=0)] * EMPTY_TURNS)
            empty_s = middle([lap.cpu_s for lap in empty]).value
            passes = {test: _passes(lap, empty_s) for test, lap in first.items()}
        cost = sum(lap.cpu_s * passes[test] + TURN_S for test, lap in first.items())
        turns = min(TURNS, max(FEWEST, int(BUDGET_S / cost))) if cost else 0
        steps = [Step(0, test, passes[test]) for _ in range(turns) for test in first]
        for step, lap in zip(steps, worker.take_turns(race, steps), strict=True):
            if not lap.error:
                found[step.group].append(max(lap.cpu_s - empty_s, 0.0) / step.passes)
        worker.leave(race)
    return {test: middle(seconds) for test, seconds in found.items()}


def _passes(lap: Lap, empty_s: float) -> int:
    return min(MOST_PASSES, max(1, math.ceil(LONG_ENOUGH_S / max(lap.cpu_s - empty_s, 1e-6))))
