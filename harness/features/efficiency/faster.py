"""Compare how fast two runs' solutions are, paired by problem."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from harness.features.compare.speed import Faster, PairedBeyond
from harness.features.efficiency.efficiency_summary import beyonds
from harness.features.efficiency.mean_share import MeasuredShare, means_by_problem, rate_of_means
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.stats.rates import mean_interval


def compare_beyond(a: Iterable[MeasuredShare], b: Iterable[MeasuredShare]) -> PairedBeyond | None:
    """Compare Beyond@1 of two runs on the problems that both have samples of.

    Args:
        a: Beyond of run A's samples.
        b: Beyond of run B's samples.

    Returns:
        None if they share no problem.
    """
    of_a, of_b = means_by_problem(a), means_by_problem(b)
    shared = [problem for problem in of_a if problem in of_b]
    rate_a, rate_b = (rate_of_means(of[each] for each in shared) for of in (of_a, of_b))
    if rate_a is None or rate_b is None:
        return None
    low = high = None
    if len(shared) > 1:
        differences = [of_b[each][0] - of_a[each][0] for each in shared]
        mean = math.fsum(differences) / len(shared)
        doubts = (doubt for each in shared for doubt in (of_a[each][1], of_b[each][1]))
        least = math.hypot(*doubts) / len(shared)
        low, high = mean_interval(differences)
        low, high = min(low, mean - least), max(high, mean + least)
    return PairedBeyond(problems=len(shared), rate_a=rate_a, rate_b=rate_b, low=low, high=high)


def faster(a: Run, b: Run, shared: Collection[str]) -> Faster | None:
    """Compare Beyond@1 of two runs, paired by problem.

    Args:
        a: the first run.
        b: the second run.
        shared: ids of the problems to compare.

    Returns:
        None if a run was not timed, or if the timing methods differ, which `timed_unlike` reports.
    """
    if timings(a) != timings(b) or len(timings(a)) != 1:
        return None
    sides = [[r for r in run.results if r.problem_id in shared] for run in (a, b)]
    every = compare_beyond(*map(beyonds, sides))
    if every is None:
        return None
    return Faster(every=every, passed=compare_beyond(*(beyonds(_passed(side)) for side in sides)))


def timings(run: Run) -> set[str]:
    """Return the timing methods of a run's solutions, with their versions; empty if not timed."""
    return {
        f"{efficiency.timing} (version {efficiency.protocol})"
        for efficiency in run.columns.at("efficiency", run.columns.graded)
        if efficiency is not None
    }


def timed_unlike(a: Run, b: Run, labels: tuple[str, str]) -> Iterator[str]:
    """Yield, in words, reasons why the times of two runs are not fully comparable."""
    methods = [timings(run) for run in (a, b)]
    if not all(methods):
        return
    if methods[0] != methods[1] or len(methods[0]) > 1:
        differing = (
            f"{label} {' and '.join(sorted(method))}"
            for label, method in zip(labels, methods, strict=True)
        )
        yield f"how solutions are timed differs: {', '.join(differing)}; Beyond is not compared"
        return
    one, other = (_machine(run) for run in (a, b))
    differ = [key for key in one if key in other and one[key] != other[key]]
    if differ:
        differing = (f"{key} {one[key]} and {other[key]}" for key in differ)
        yield (
            f"the machines that solutions are timed on differ: {', '.join(differing)}; "
            "each Beyond is "
            "among references timed on its own, and CPU times say nothing together"
        )


def _machine(run: Run) -> dict[str, Any]:
    return run.manifest.get("machine") or {}


def _passed(results: Sequence[SampleResult]) -> list[SampleResult]:
    return [result for result in results if result.solved]
