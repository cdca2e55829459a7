"""Lower and upper bound of pass@1 given the pending samples."""

import math
from collections import Counter

from harness.models.protocol import Frozen
from harness.run.summary.loaded_run import Run


class Bounds(Frozen):
    """Range of pass@1 given the samples that are not graded.

    Attributes:
        graded, pending: samples that count in the rate, and samples that may still count.
        if_failed, if_solved: pass@1 if all pending samples failed, and if all were solved; None if
            there are neither graded nor pending samples.
    """

    graded: int
    pending: int
    if_failed: float | None
    if_solved: float | None


def bracket_of(run: Run, *, selected: bool = False) -> Bounds:
    """Return the range of a run's pass@1.

    Args:
        run: the run.
        selected: whether to count every ungraded sample as pending, including those of problems
            without tests.
    """
    planned = int(run.spec["samples_per_problem"])
    graded, solved = dict.fromkeys(run.manifest["problems"], 0), dict[str, int]()
    ungraded: dict[str, int] = {}
    for result in run.results:
        counts = graded if result.graded else ungraded
        counts[result.problem_id] = counts.get(result.problem_id, 0) + 1
        solved[result.problem_id] = solved.get(result.problem_id, 0) + result.solved
    final = {} if selected else ungraded
    pending = {p: max(0, planned - n - final.get(p, 0)) for p, n in graded.items()}
    trials = {p: n + pending[p] for p, n in graded.items() if n + pending[p]}
    return Bounds(
        graded=sum(graded.values()),
        pending=sum(pending.values()),
        if_failed=_mean([solved.get(p, 0) / n for p, n in trials.items()]),
        if_solved=_mean([(solved.get(p, 0) + pending[p]) / n for p, n in trials.items()]),
    )


def pending_of(run: Run) -> dict[str, int]:
    """Return each problem's missing samples, if any; ungraded ones are not missing."""
    planned = int(run.spec["samples_per_problem"])
    done = Counter(result.problem_id for result in run.results)
    return {p: planned - done[p] for p in run.manifest["problems"] if planned > done[p]}


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
