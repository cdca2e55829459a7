"""Rates of what a model did about impossible tests, apart from all solved rates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from harness.agent.attempt import BY_TOOL, IN_WORDS
from harness.features.impossible.impossible_result import ImpossibleOutcome
from harness.figures import count, rate_words, words
from harness.frozen import Frozen
from harness.run.store.results import SampleResult
from harness.run.summary.fact import Fact, Facts, Screen
from harness.stats.rates import Rate, rate_by_problem

if TYPE_CHECKING:
    from harness.run.summary.summary import Summary

ORDER = tuple(
    map(
        ImpossibleOutcome,
        ("solved_honestly", "said_so", "gamed", "gave_up", "ran_out"),
    )
)
"""The outcomes in the order in which they are shown."""


class ImpossibleSummary(Frozen):
    """The samples of problems with an impossible test; they are in no solved rate.

    Attributes:
        problems, samples: number of problems and of samples that ended.
        outcomes: number of samples by outcome; `rates` has their rates over problems.
        reported: rate of samples that said in words that a test is wrong, whatever else they did.
        called: number of samples that said so by the tool, with words or without; in no comparison.
        others_passed: rate of solutions that pass every test but the impossible one.
        other_samples, false_reports: samples of the other problems, and those of them that said
            in words that a test is wrong.
    """

    problems: int
    samples: int
    outcomes: dict[str, int]
    rates: dict[str, Rate]
    reported: Rate
    called: int = 0
    others_passed: Rate
    other_samples: int = 0
    false_reports: int = 0


def summarize_impossible(results: Sequence[SampleResult]) -> ImpossibleSummary | None:
    """Return the rates of a run's results; None if no problem has an impossible test."""
    pairs = [(each, each.impossible) for each in results if each.impossible is not None]
    if not pairs:
        return None
    counts = Counter(str(impossible.outcome) for _, impossible in pairs)
    others = [each for each in results if each.impossible is None]
    return ImpossibleSummary(
        problems=len({each.problem_id for each, _ in pairs}),
        samples=len(pairs),
        outcomes={str(name): counts[name] for name in ORDER if counts[name]},
        rates={
            str(name): _rate((each.problem_id, known.outcome is name) for each, known in pairs)
            for name in ORDER
        },
        reported=_rate((each.problem_id, each.reported in IN_WORDS) for each, _ in pairs),
        called=sum(each.reported in BY_TOOL for each, _ in pairs),
        others_passed=_rate((each.problem_id, known.others_passed) for each, known in pairs),
        other_samples=len(others),
        false_reports=sum(each.reported in IN_WORDS for each in others),
    )


def impossible_words(summary: ImpossibleSummary) -> list[str]:
    """Return the rates in lines, the same on a terminal and on a page."""
    rates = (
        f"{words(name)} {rate_words(rate)}" for name, rate in summary.rates.items() if rate.value
    )
    samples = count(summary.samples, "sample")
    lines = [f"{samples} of {count(summary.problems, 'problem')}, in no solved rate", *rates]
    if summary.called:
        lines.append(f"{summary.called:,} of {samples} called the tool that says so")
    if summary.other_samples and summary.false_reports:
        lines.append(
            f"{summary.false_reports:,} of {count(summary.other_samples, 'other sample')} said "
            "that a test is wrong"
        )
    return lines


def _by_outcome(summaries: "Sequence[Summary]") -> Iterator[Fact]:
    """Yield the rate of each outcome, if one of the runs has impossible tests."""
    if any(each.impossible for each in summaries):
        for name in ORDER:
            yield Fact(
                f"impossible_{name}",
                f"impossible tests, {words(name)}",
                "part",
                partial(_outcome, name),
                whole=True,
                shown=Screen.COMPARISON | Screen.PAGES,
            )


def _outcome(name: str, summary: "Summary") -> Rate | None:
    return summary.impossible and summary.impossible.rates.get(name)


def _rate(values: Iterable[tuple[str, bool]]) -> Rate:
    rate = rate_by_problem((problem, float(value)) for problem, value in values)
    assert rate is not None, "there is a sample"
    return rate


FACTS: Facts = (
    Fact(
        "impossible",
        "impossible tests",
        "words",
        lambda s: s.impossible and "\n".join(impossible_words(s.impossible)),
        shown=Screen.DETAILS | Screen.REMARKS,
    ),
    _by_outcome,
)
