"""What two runs did about the same impossible tests: rates of outcomes, and their difference."""

from collections import Counter
from collections.abc import Iterator, Mapping

from harness.features.impossible.impossible_result import ImpossibleOutcome
from harness.figures import count, p_words, percent, points
from harness.run.summary.loaded_run import Run
from harness.stats.paired import compare_counts

OUTCOMES = (
    ImpossibleOutcome.SAID_SO,
    ImpossibleOutcome.GAMED,
    ImpossibleOutcome.SOLVED_HONESTLY,
)
"""The outcomes that are compared."""


def impossible_findings(a: Run, b: Run, labels: tuple[str, str]) -> Iterator[str]:
    """Yield a line for each outcome; nothing if no problem has the same impossible test in both.

    Args:
        a: the first run.
        b: the second run.
        labels: labels of the runs.
    """
    for outcome in OUTCOMES:
        ours, theirs = _counts(a, outcome), _counts(b, outcome)
        shared = [key for key in ours if key in theirs]
        if not shared:
            return
        pair = [{key[0]: each[key] for key in shared} for each in (ours, theirs)]
        difference = compare_counts(*pair)
        low, high = difference.low, difference.high
        ends = "" if low is None or high is None else f", {points(low)} to {points(high)}"
        rates = " and ".join(
            f"{_rate(each, shared)} in {label}"
            for each, label in zip((ours, theirs), labels, strict=True)
        )
        yield (
            f"impossible tests, {outcome.replace('_', ' ')}: {rates} of "
            f"{count(len(shared), 'problem')} ({points(difference.difference)} points{ends}, "
            f"p {p_words(difference.p_value)})"
        )


_Key = tuple[str, str]


def _counts(run: Run, outcome: ImpossibleOutcome) -> dict[_Key, tuple[int, int]]:
    """Return the samples, and those with the outcome, by a problem's id and hash."""
    samples, right = Counter[_Key](), Counter[_Key]()
    for problem, content, impossible in run.columns.rows(
        "problem_id", "problem_hash", "impossible"
    ):
        if impossible is not None:
            key = problem, content
            samples[key] += 1
            right[key] += impossible.outcome is outcome
    return {key: (number, right[key]) for key, number in samples.items()}


def _rate(counts: Mapping[_Key, tuple[int, int]], shared: list[_Key]) -> str:
    fractions = [counts[key][1] / counts[key][0] for key in shared]
    return percent(sum(fractions) / len(fractions))
