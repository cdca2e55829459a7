"""Sentences about a comparison, for its details."""

from collections.abc import Iterator

from harness.features.compare.comparison import LEVEL, Pairwise
from harness.features.compare.efficiency import faster_words
from harness.features.compare.flips import Flip, FlipSample
from harness.features.compare.table_rows import points
from harness.text import count


def findings(versus: Pairwise, comparisons: int) -> Iterator[str]:
    """Yield sentences on the pairs, the difference, the test, its power, and speed.

    Args:
        versus: a run against the baseline.
        comparisons: number of runs compared with the baseline.
    """
    a, b, paired = versus.baseline, versus.label, versus.paired
    tied = f"equally often {paired.tied}, " if paired.tied else ""
    yield (
        f"paired on {count(paired.problems, 'problem')}: both solved {paired.both}, "
        f"neither {paired.neither}, {tied}{a} did better on {len(paired.better_a)}, "
        f"{b} on {len(paired.better_b)}"
    )
    if versus.several:
        pairs = versus.samples
        number = pairs.both + pairs.neither + pairs.only_a + pairs.only_b
        yield (
            f"of {count(number, 'pair')} of samples by index both solved {pairs.both:,}, neither "
            f"{pairs.neither:,}, {a} alone {pairs.only_a:,}, {b} alone {pairs.only_b:,}"
        )
    difference = f"difference {b} - {a}: {points(paired.difference)} points"
    yield f"{difference}{_interval(versus)}; {_p(versus)}"
    if comparisons > 1:
        yield (
            f"corrected by Holm for {comparisons} comparisons: p = {versus.p_holm:.4g}"
            f"{reading(versus.p_holm)}"
        )
    yield _detectable(versus)
    if versus.faster is not None:
        yield from faster_words(versus.faster, (a, b))


def _p(versus: Pairwise) -> str:
    p = versus.paired.p_value
    return f"p = {p:.4g}{reading(p)}"


def reading(p: float) -> str:
    """Return a plain reading of a p-value, in parentheses."""
    return " (unlikely to be chance)" if p < LEVEL else " (chance alone could do this)"


def _interval(versus: Pairwise) -> str:
    low, high = versus.paired.low, versus.paired.high
    if low is None or high is None:
        return ""
    agree = "" if versus.flips else "no problem differs; "
    return f" ({agree}95 % interval {points(low)} to {points(high)})"


def _detectable(versus: Pairwise) -> str:
    found, problems = versus.paired.detectable, count(versus.paired.problems, "problem")
    if found is None:
        return f"{problems} are too few to show any difference"
    return (
        f"{problems} would likely show a difference of {100 * found:.1f} points or more "
        "(80 % power at 5 %), and may well miss a smaller one"
    )


def flip_words(flip: Flip) -> str:
    """Return each run's verdict on the problem."""
    return f"{_fared(flip.a)}; {_fared(flip.b)}"


def _fared(shown: FlipSample) -> str:
    verdict = shown.verdict.replace("_", " ")
    if shown.samples == 1:
        return f"{shown.label} {verdict}"
    index = shown.sample.rpartition("#")[2]
    return f"{shown.label} {shown.solved} of {shown.samples}, #{index} {verdict}"
