"""Summary of how fast a run's solutions are, with intervals, and the texts for its figures."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from harness.features.efficiency.beyond import beyond_at_k
from harness.features.efficiency.mean_share import MeasuredShare, known_rate, mean_rate
from harness.features.efficiency.scale import Efficiency
from harness.figures import figure, score
from harness.frozen import Frozen
from harness.stats.pass_at_k import steps_to
from harness.stats.rates import Rate

MILLI, MICRO = 1e-3, 1e-6
BLIND = "branches, passed"
"""Name of Beyond by branches, which does not count work done in C."""


class TimedResult(Protocol):
    """Fields of a result that the summary reads."""

    @property
    def problem_id(self) -> str: ...  # noqa: D102
    @property
    def graded(self) -> bool: ...  # noqa: D102
    @property
    def solved(self) -> bool: ...  # noqa: D102
    @property
    def efficiency(self) -> Efficiency | None: ...  # noqa: D102


class BeyondAtK(Frozen):
    """Beyond@k over the problems with k samples or more; `too_few` counts the others."""

    k: int
    rate: Rate | None
    too_few: int


class EfficiencySummary(Frozen):
    """Summary of how fast a run's solutions are among the references.

    The interval of every rate covers both the variation between problems and the measurement error,
    see `harness.features.efficiency.mean_share.mean_rate`.

    Attributes:
        timings: number of samples by timing method; rates that mix two methods mean nothing.
        measured: number of graded samples that were timed or failed.
        not_measured: number of the other graded samples, including those that pass and could not be
            timed.
        beyond: Beyond@1 over all problems whose references differ enough; a failed sample counts 0.
        beyond_passed: Beyond@1 over the samples that passed.
        percentile: mean share of the references that a passed solution is faster than.
        of_several: Beyond@k, where there are several samples a problem.
        branches: Beyond by the number of branches, over the passed samples that have a Beyond by
            time as well; it does not count work done in C.
        untold: number of problems without a Beyond, by the reason.
        remarks: number of samples by remark.
    """

    timings: dict[str, int]
    measured: int
    not_measured: int
    beyond: Rate | None
    beyond_passed: Rate | None
    percentile: Rate | None
    of_several: tuple[BeyondAtK, ...]
    branches: Rate | None
    untold: dict[str, int]
    remarks: dict[str, int]


def summarize_efficiency(results: Iterable[TimedResult]) -> EfficiencySummary | None:
    """Summarize efficiency; return None where no sample was measured."""
    graded = [result for result in results if result.graded]
    known = [(result, result.efficiency) for result in graded if result.efficiency is not None]
    if not known:
        return None
    measured = [
        (result, efficiency)
        for result, efficiency in known
        if efficiency.beyond is not None or efficiency.lack
    ]
    passed = [(result, efficiency) for result, efficiency in known if result.solved]
    return EfficiencySummary(
        timings=_counts(efficiency.timing for _, efficiency in known),
        measured=len(measured),
        not_measured=len(graded) - len(measured),
        beyond=known_rate(beyonds(graded)),
        beyond_passed=known_rate(beyonds(result for result, _ in passed)),
        percentile=known_rate(_shares((r, f.percentile, 100) for r, f in passed)),
        of_several=tuple(_of_several(beyonds(graded))),
        branches=known_rate(
            _shares((r, f.beyond_branches, 1) for r, f in passed if f.beyond is not None)
        ),
        untold=_counts(why for _, why in sorted({(r.problem_id, f.lack) for r, f in known}) if why),
        remarks=_counts(efficiency.remark for _, efficiency in known if efficiency.remark),
    )


def beyonds(results: Iterable[TimedResult]) -> Iterator[MeasuredShare]:
    """Yield the Beyond of each graded sample that has one, with its uncertainty."""
    for result in results:
        efficiency = result.efficiency
        if result.graded and efficiency is not None and efficiency.beyond is not None:
            yield MeasuredShare(
                result.problem_id, efficiency.beyond, _doubt(efficiency, efficiency.beyond)
            )


def _doubt(beyond: Efficiency, value: float) -> float:
    """Return half the interval's width: the larger distance, as one end may be clipped."""
    ends = (beyond.beyond_low, beyond.beyond_high)
    return max((abs(value - end) for end in ends if end is not None), default=0.0)


def _shares(values: Iterable[tuple[TimedResult, float | None, float]]) -> Iterator[MeasuredShare]:
    for result, value, whole in values:
        if value is not None:
            yield MeasuredShare(result.problem_id, value / whole)


def _of_several(samples: Iterable[MeasuredShare]) -> Iterator[BeyondAtK]:
    """Yield Beyond@k for round k and the largest sample count, if any problem has two."""
    by_problem: dict[str, list[MeasuredShare]] = {}
    for each in samples:
        by_problem.setdefault(each.problem, []).append(each)
    most = max(map(len, by_problem.values()), default=0)
    for k in steps_to(most):
        enough = [own for own in by_problem.values() if len(own) >= k]
        yield BeyondAtK(
            k=k,
            rate=mean_rate(
                [beyond_at_k([each.value for each in own], k) for own in enough],
                [max(each.doubt for each in own) for own in enough],
            ),
            too_few=len(by_problem) - len(enough),
        )


def _counts(words: Iterable[str]) -> dict[str, int]:
    """Count the words, the most frequent first."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def cpu_time(seconds: float | None) -> str:
    """Return a CPU time in a suitable unit: `1.02 µs`, `20.1 ms`, `3.20 s`."""
    if seconds is None:
        return "-"
    if seconds < MILLI:
        return f"{figure(seconds / MICRO)} µs"
    return f"{figure(seconds / MILLI)} ms" if seconds < 1 else f"{figure(seconds)} s"


def rank(percentile: float | None) -> str:
    """Return a percentile rank, halves rounded up: P92 is faster than 92 % of the references."""
    return "-" if percentile is None else f"P{math.floor(percentile + 0.5)}"


def score_interval(low: float, high: float) -> str:
    """Return the interval of a Beyond."""
    return f"{low:.3f} to {high:.3f}"


def score_words(rate: Rate | None) -> str:
    """Return a mean Beyond with its interval."""
    return f"{score(rate.value)} ({score_interval(rate.low, rate.high)})" if rate else "unknown"


def rank_words(rate: Rate | None) -> str:
    """Return a mean percentile with its interval."""
    if rate is None:
        return "unknown"
    low, high = (rank(100 * end) for end in (rate.low, rate.high))
    return f"{rank(100 * rate.value)} ({low} to {high})"


def scores(summary: EfficiencySummary) -> Iterator[tuple[str, Rate | None]]:
    """Yield the name and value of every mean Beyond."""
    yield "Beyond@1", summary.beyond
    yield "  passed samples only", summary.beyond_passed
    yield f"  by {BLIND}", summary.branches
    yield from ((f"Beyond@{each.k}", each.rate) for each in summary.of_several)
