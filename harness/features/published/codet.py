"""CodeT: the solutions and the tests that a model writes choose each other.

From Chen et al. 2022, "CodeT: Code Generation with Generated Tests" (arXiv:2207.10397). Solutions
that pass the same tests form a group. A group's score is the number of tests it passes times the
square root of its number of solutions; repeated tests and solutions count each time. Of equal
groups, and within a group, the solution that passes most public tests is taken, then the earliest.
Public tests decide nothing else. Where no solution passes a written test, they alone choose.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.session import Session, run_until_stopped
from harness.features.published.solver import Solver


def agreement(passed: Sequence[Sequence[bool]], times: Sequence[int] | None = None) -> list[float]:
    """Return the score of each solution: its tests times the root of its group's size.

    Args:
        passed: for each solution, also a repeated one, which of the unique tests it passes.
        times: how often each test was written; default: once.
    """
    sets = [tuple(number for number, each in enumerate(row) if each) for row in passed]
    sizes = Counter(sets)
    weights = [sum(times[n] for n in own) if times else len(own) for own in sets]
    return [
        weight * math.sqrt(sizes[own]) if own else 0.0
        for weight, own in zip(weights, sets, strict=True)
    ]


async def codet(session: Session) -> Attempt:
    """Ask for tests, then for solutions, and choose the solution by their agreement."""
    solver = Solver(session)

    async def collect() -> StopReason:
        for _ in range(session.options.test_answers):
            await solver.write_tests()
        for _ in range(session.options.best_of):
            await solver.solve(None)
        return StopReason.MODEL_STOPPED

    reason, error = await run_until_stopped(collect(), session.limits)
    codes = [each.code for each in solver.revisions]
    if not codes or reason is StopReason.MODEL_ERROR:  # such a sample is retried
        return solver.attempt(reason, error)
    scores = await _scores(solver, codes)
    public = [each.report.passed if each.report else 0 for each in solver.revisions]
    chosen = max(range(len(codes)), key=lambda number: (scores[number], public[number], -number))
    rule = ChosenBy.AGREEMENT if scores[chosen] else ChosenBy.MOST_PUBLIC_TESTS
    return solver.attempt(reason, error, code=codes[chosen], chosen_by=rule)


async def _scores(solver: Solver, codes: Sequence[str]) -> list[float]:
    unique = list(dict.fromkeys(codes))
    ran = await solver.run_tests(unique)
    rows: Mapping[str, Sequence[bool]] = defaultdict(tuple, zip(unique, ran.passed, strict=True))
    times = Counter(solver.tests)
    return agreement([rows[code] for code in codes], [times[test] for test in ran.tests])
