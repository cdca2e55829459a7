"""Texts for times, percentiles and Beyond scores."""

import math
from collections.abc import Iterator

from harness.efficiency.efficiency_summary import EfficiencySummary
from harness.stats.rates import Rate
from harness.text import figure

MILLI, MICRO = 1e-3, 1e-6
BLIND = "branches, passed"
"""Beyond's second clock, which does not see what is done in C."""


def cpu_time(seconds: float | None) -> str:
    """CPU time in the unit that it needs: `1.02 µs`, `20.1 ms`, `3.20 s`."""
    if seconds is None:
        return "-"
    if seconds < MILLI:
        return f"{figure(seconds / MICRO)} µs"
    return f"{figure(seconds / MILLI)} ms" if seconds < 1 else f"{figure(seconds)} s"


def rank(percentile: float | None) -> str:
    """A percentile rank: P92 is faster than 92 % of the references; a half is rounded up."""
    return "-" if percentile is None else f"P{math.floor(percentile + 0.5)}"


def score(beyond: float | None) -> str:
    """A Beyond, to three digits."""
    return "-" if beyond is None else f"{beyond:.3f}"


def score_interval(low: float, high: float) -> str:
    """The interval of a Beyond."""
    return f"{low:.3f} to {high:.3f}"


def score_words(rate: Rate | None) -> str:
    """A mean Beyond with its interval."""
    return f"{score(rate.value)} ({score_interval(rate.low, rate.high)})" if rate else "unknown"


def rank_words(rate: Rate | None) -> str:
    """A mean percentile with its interval."""
    if rate is None:
        return "unknown"
    low, high = (rank(100 * end) for end in (rate.low, rate.high))
    return f"{rank(100 * rate.value)} ({low} to {high})"


def scores(found: EfficiencySummary) -> Iterator[tuple[str, Rate | None]]:
    """Every mean Beyond that there may be, by its name."""
    yield "Beyond@1", found.beyond
    yield "  passed samples only", found.beyond_passed
    yield f"  by {BLIND}", found.branches
    yield from ((f"Beyond@{each.k}", each.rate) for each in found.of_several)
