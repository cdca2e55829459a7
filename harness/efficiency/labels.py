"""Texts for times, percentiles and Beyond scores."""

import math
from collections.abc import Iterator

from harness.efficiency.efficiency_summary import EfficiencySummary
from harness.stats.rates import Rate
from harness.text import figure

MILLI, MICRO = 1e-3, 1e-6
BLIND = "branches, passed"
"""Name of Beyond by branches, which does not count work done in C."""


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


def score(beyond: float | None) -> str:
    """Return a Beyond with three decimals."""
    return "-" if beyond is None else f"{beyond:.3f}"


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


def scores(found: EfficiencySummary) -> Iterator[tuple[str, Rate | None]]:
    """Yield the name and value of every mean Beyond."""
    yield "Beyond@1", found.beyond
    yield "  passed samples only", found.beyond_passed
    yield f"  by {BLIND}", found.branches
    yield from ((f"Beyond@{each.k}", each.rate) for each in found.of_several)
