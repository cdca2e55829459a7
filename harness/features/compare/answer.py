"""The answer of a comparison, computed once: terminal, Markdown, report and viewer render it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.features.compare.comparison import LEVEL, ComparedRun, Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.run_names import names_of
from harness.features.compare.spend_result import SpendComparison, SpendDifference
from harness.features.compare.spend_sentence import (
    answers_fairly,
    foreign,
    headline,
    is_title,
    of_shots,
    sentence_of,
    shots_words,
)
from harness.figures import UNKNOWN, count, dollars, p_words, percent, points, quantity
from harness.run.summary.loaded_run import mode_words
from harness.run.summary.summary import Summary
from harness.text import printable_line

Escape = Callable[[str], str]
"""Escapes untrusted text for where it is shown."""
_HALF = 0.6
_FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 10: "a tenth"}


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column of the answer: a run, or the shots that cost what the agent spends.

    Attributes:
        name: the run's name, or the number of shots.
        label: the run's letter; for shots at the agent's cost that of the agent.
        solved, low, high: solve rate and its interval; None if unknown.
        cost, tokens: mean US dollars and tokens per problem; None if unknown.
        samples: samples per problem.
        at_equal_spend: whether these are shots at the agent's cost.
    """

    name: str
    label: str
    solved: float | None
    low: float | None
    high: float | None
    cost: float | None
    tokens: float | None
    samples: float
    at_equal_spend: bool = False


@dataclass(frozen=True, slots=True)
class SolvedDifference:
    """What the run solves more than its baseline.

    Attributes:
        name: what is compared.
        value, low, high: difference and its interval; None without an interval.
        decided: whether the interval excludes 0.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    decided: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a comparison of two runs came to.

    Attributes:
        title: the runs' names and the settings they share.
        warnings: reasons why the runs are not fully comparable, the gravest first.
        sentences: the answer; the fair comparison comes first.
        arms: the baseline, the other run, and the shots at the agent's cost if these are known.
        differences: at the agent's cost, if known; then of all samples.
        changes: how many problems were gained and lost.
        facts: further figures in words.
    """

    title: str
    warnings: tuple[str, ...]
    sentences: tuple[str, ...]
    arms: tuple[AnswerColumn, ...]
    differences: tuple[SolvedDifference, ...]
    changes: str
    facts: tuple[str, ...]


def answer_of(comparison: Comparison) -> Answer:
    """Return the answer of a comparison with one run against a baseline."""
    names, versus = names_of(comparison), comparison.versus[0]
    return Answer(
        title=title_words(comparison),
        warnings=tuple(warnings_of(comparison, names)),
        sentences=tuple(sentences_of(comparison, versus, names)),
        arms=tuple(_arms(comparison, versus, names)),
        differences=tuple(_differences(versus)),
        changes=changes_words(versus),
        facts=tuple(_facts(comparison, versus)),
    )


def sentences_of(
    comparison: Comparison, versus: Pairwise, names: Mapping[str, str], safe: Escape | None = None
) -> Iterator[str]:
    """Yield the answer in sentences: the fair comparison first, where there is one.

    Args:
        comparison: the comparison.
        versus: one of its runs against the baseline.
        names: the runs' names by letter, escaped for where the sentences are shown.
        safe: escapes a sentence with names of models or prompt sets; default: none is escaped.
    """
    comparisons = len(comparison.versus)
    spend = versus.spend
    escape = safe if spend is not None and safe is not None and foreign(spend) else str
    fair = escape(spend.sentence) if spend is not None and spend.sentence else ""
    if fair and spend is not None and comparisons == 1 and of_shots(spend.a) != of_shots(spend.b):
        label, agent = (versus.baseline, spend.a) if of_shots(spend.b) else (versus.label, spend.b)
        names = {**names, label: escape(agent.name)}  # as `said` calls it
    plain = difference_words(versus, names, comparisons)
    price = price_words(comparison, versus, names)
    sentences = (fair, plain, price) if answers_fairly(spend) else (plain, price, fair)
    yield from filter(None, sentences)


def title_words(comparison: Comparison) -> str:
    """Return a title: the runs' names and the settings they share."""
    names = names_of(comparison)
    baseline = names[comparison.baseline]
    if len(comparison.versus) == 1:
        what = f"{names[comparison.versus[0].label]} against {baseline}"
    else:
        what = f"{count(len(comparison.versus), 'run')} against {baseline}"
    models, modes = (
        {str(side.settings.get(key)) for side in comparison.runs} for key in ("model", "mode")
    )
    shared = [printable_line(*models)] if len(models) == 1 else []
    shared += [mode_words(*modes)] if len(modes) == 1 else []
    shared += sorted({side.benchmark for side in comparison.runs})
    most = max(versus.paired.problems for versus in comparison.versus)
    filters = {side.filtered_by for side in comparison.runs} - {""}
    return ", ".join((f"{what}: {shared[0]}", *shared[1:], count(most, "problem"), *filters))


def difference_words(versus: Pairwise, names: Mapping[str, str], comparisons: int = 1) -> str:
    """Return a sentence on the difference of all samples, and its significance.

    Args:
        versus: a run against the baseline.
        names: the runs' names by letter.
        comparisons: number of runs compared with the baseline.
    """
    paired = versus.paired
    name, other = names[versus.label], names[versus.baseline]
    if not versus.flips:
        if not any(rate and rate.value for rate in (paired.rate_a, paired.rate_b)):
            return f"Neither {name} nor {other} solves any of {count(paired.problems, 'problem')}."
        return f"{_capital(name)} and {other} solve the same problems."
    if answers_fairly(versus.spend):
        return _against_one_shot(versus, names, comparisons)
    shown = significance_words(versus, comparisons)
    if not paired.difference:
        return f"{_capital(name)} and {other} solve equally many{shown}."
    more = "more" if paired.difference > 0 else "fewer"
    size = points(abs(paired.difference)).removeprefix("+")
    return f"{_capital(name)} solves {size} points {more} than {other}{shown}."


def significance_words(versus: Pairwise, comparisons: int, sign: int = 1) -> str:
    """Return interval and p-value in parentheses; nothing if an experiment decided otherwise.

    Args:
        versus: a run against the baseline.
        comparisons: number of runs compared with the baseline.
        sign: 1 if the sentence says what the run solves, -1 if it says what the baseline solves.
    """
    if versus.looked is not None:
        low, high = _interval(*versus.looked, sign)
        verdict = "not decided" if low <= 0 <= high else "decided"
        return f" ({points(low)} to {points(high)} at any look: {verdict})"
    if versus.stopped_early:
        return ""
    paired = versus.paired
    p_value = versus.p_holm if comparisons > 1 else paired.p_value
    spread = ""
    if paired.low is not None and paired.high is not None:
        low, high = _interval(paired.low, paired.high, sign)
        spread = f"95 % interval {points(low)} to {points(high)}, "
    corrected = ", by Holm" if comparisons > 1 else ""
    sure = "" if p_value < LEVEL else ": chance alone could do this"
    return f" ({spread}p {p_words(p_value)}{corrected}{sure})"


def _interval(low: float, high: float, sign: int) -> tuple[float, float]:
    """Return the interval of a difference, or of the difference the other way round."""
    return (low, high) if sign > 0 else (-high, -low)


def _against_one_shot(versus: Pairwise, names: Mapping[str, str], comparisons: int) -> str:
    """Return the sentence on attempts against one shot each."""
    spend, sign = versus.spend, 1
    assert spend is not None
    agent = names[versus.label]
    if of_shots(spend.b):
        agent, sign = names[versus.baseline], -1
    shown = significance_words(versus, comparisons, -sign)
    difference = sign * versus.paired.difference
    if not difference:
        return f"One shot solves as much as {agent}{shown}."
    less = "less" if difference > 0 else "more"
    size = points(abs(difference)).removeprefix("+")
    return f"One shot solves {size} points {less} than {agent}{shown}."


def price_words(comparison: Comparison, versus: Pairwise, names: Mapping[str, str]) -> str:
    """Return a sentence on the ratio of costs or tokens; empty if unknown."""
    one, other = (side_of(comparison, each) for each in (versus.label, versus.baseline))
    name = names[versus.label]
    fair = answers_fairly(versus.spend)
    if fair and versus.spend is not None and of_shots(versus.spend.b):
        one, other, name = other, one, names[versus.baseline]
    for spent, noun in ((cost_each, "cost"), (tokens_each, "tokens")):
        here, there = spent(one), spent(other)
        if here is not None and there:
            if f"{here / there:.1f}" == "1.0":
                return f"Both take about the same {noun}."
            of_shot = " of one shot" if fair else ""
            return f"{_capital(name)} takes {_times(here / there)} the {noun}{of_shot}."
    return ""


def _times(ratio: float) -> str:
    """Return a ratio in words: `3.4 times`, `a fifth of`."""
    fraction = _FRACTIONS.get(round(1 / ratio)) if ratio < _HALF else None
    return f"about {fraction} of" if fraction else f"{ratio:.2g} times"


def side_of(comparison: Comparison, label: str) -> ComparedRun:
    """Return the run with a letter."""
    return next(side for side in comparison.runs if side.label == label)


def shared_summary(side: ComparedRun) -> Summary:
    """Return the summary of the problems that all runs have."""
    return side.paired or side.summary


def cost_each(side: ComparedRun) -> float | None:
    """Return the mean US dollars of a sample; None if unknown."""
    summary = shared_summary(side)
    done = summary.graded + summary.ungraded
    return None if summary.cost is None or not done else summary.cost / done


def tokens_each(side: ComparedRun) -> float | None:
    """Return the mean tokens of a sample; None if unknown."""
    summary = shared_summary(side)
    done = summary.graded + summary.ungraded
    return None if summary.usage_unknown or not done else summary.usage.total_tokens / done


def arm_of(side: ComparedRun, name: str) -> AnswerColumn:
    """Return a run's column: one sample of each problem that all runs have."""
    rate = shared_summary(side).pass_at_1
    return AnswerColumn(
        name=name,
        label=side.label,
        solved=rate.value if rate else None,
        low=rate.low if rate else None,
        high=rate.high if rate else None,
        cost=cost_each(side),
        tokens=tokens_each(side),
        samples=1,
    )


def _arms(
    comparison: Comparison, versus: Pairwise, names: Mapping[str, str]
) -> Iterator[AnswerColumn]:
    """Yield the baseline, the other run, and the shots at the agent's cost."""
    for label in (versus.baseline, versus.label):
        yield arm_of(side_of(comparison, label), names[label])
    spend = versus.spend
    if spend is None or not answers_fairly(spend):
        return
    (difference,) = headline(spend)
    agent, shots = (spend.b, spend.a) if of_shots(spend.a) else (spend.a, spend.b)
    point = difference.a if shots is spend.a else difference.b
    yield AnswerColumn(
        name=f"{shots_words(shots, point.amount)[0]} at equal cost",
        label=agent.label,
        solved=point.solved,
        low=point.low,
        high=point.high,
        cost=difference.at if spend.unit == "dollars" else None,
        tokens=difference.at if spend.unit == "tokens" else None,
        samples=point.amount,
        at_equal_spend=True,
    )


def _differences(versus: Pairwise) -> Iterator[SolvedDifference]:
    """Yield the difference at the agent's cost, if known, then that of all samples.

    At the agent's cost it is what the agent solves more, whichever run is the baseline.
    """
    spend = versus.spend
    if spend is not None and answers_fairly(spend):
        (difference,) = headline(spend)
        yield _signed("at equal cost", difference, -1 if of_shots(spend.b) else 1)
    paired = versus.paired
    low, high = (paired.low, paired.high) if versus.looked is None else versus.looked
    decided = paired.p_value < LEVEL
    if versus.looked is not None:
        decided = not versus.looked[0] <= 0 <= versus.looked[1]
    yield SolvedDifference("difference", paired.difference, low, high, decided)


def _signed(name: str, difference: SpendDifference, sign: int) -> SolvedDifference:
    ends = sorted(sign * end for end in (difference.low, difference.high) if end is not None)
    low, high = ends or (None, None)
    return SolvedDifference(name, sign * difference.difference, low, high, difference.decided)


def warnings_of(comparison: Comparison, names: Mapping[str, str]) -> Iterator[str]:
    """Yield reasons why the runs are not fully comparable, the gravest first."""
    for versus in comparison.versus:
        of = f"{names[versus.label]}: " if len(comparison.versus) > 1 else ""
        yield from (f"not comparable: {of}{reason}" for reason in versus.unlike)
    for side in comparison.runs:
        if side.open.pending:
            yield (
                f"{names[side.label]}: {count(side.open.pending, 'sample')} pending, in no figure"
            )
        yield from (f"{names[side.label]}: {note}" for note in side.filter_notes)
        if side.summary.cut_off:
            answers = count(side.summary.cut_off, "answer")
            yield f"{names[side.label]}: {answers} cut off by the token limit"


def _facts(comparison: Comparison, versus: Pairwise) -> Iterator[str]:
    """Yield further figures in words: the baseline's, then the other run's."""
    pair = [side_of(comparison, label).summary for label in (versus.baseline, versus.label)]
    passed = [percent(s.overfit_rate.value) if s.overfit_rate else UNKNOWN for s in pair]
    if set(passed) - {UNKNOWN}:
        yield f"fail a hidden test, of those that pass the public ones: {passed[0]} and {passed[1]}"
    costs = [dollars(summary.cost) for summary in pair]
    if set(costs) - {UNKNOWN}:
        yield f"whole cost {costs[0]} and {costs[1]}"
    if any(summary.cut_off for summary in pair):
        yield f"answers cut off {pair[0].cut_off:,} and {pair[1].cut_off:,}"


def changes_words(versus: Pairwise) -> str:
    """Return how many problems were gained and how many lost."""
    gained = sum(flip.better == versus.label for flip in versus.flips)
    return f"{gained:,} gained, {len(versus.flips) - gained:,} lost"


def interleaved(versus: Pairwise, most: int) -> Sequence[Flip]:
    """Return the first changed outcomes, including some lost ones."""
    gained = [flip for flip in versus.flips if flip.better == versus.label]
    lost = [flip for flip in versus.flips if flip.better != versus.label]
    kept = min(len(lost), max(most // 3, most - len(gained)))
    return [*gained[: most - kept], *lost[:kept]]


def tokens_words(tokens: float | None) -> str:
    """Return a number of tokens, or that it is unknown."""
    return UNKNOWN if tokens is None else quantity(tokens)


def at_any_look(spend: SpendComparison, low: float, high: float) -> SpendComparison:
    """Return the comparison with the interval of an experiment that may stop early.

    Args:
        spend: the comparison; the interval replaces that of its first sentence.
        low: lower end of the interval of the second run minus the first.
        high: upper end.
    """
    if not answers_fairly(spend):
        return spend
    (shown,) = headline(spend)
    looked = shown.model_copy(update={"low": low, "high": high, "at_any_look": True})
    differences = tuple(looked if each is shown else each for each in spend.differences)
    changed = spend.model_copy(update={"differences": differences})
    return changed.model_copy(update={"sentence": sentence_of(changed, asked=False)})


def _capital(text: str) -> str:
    """Capitalize a sentence, unless it begins with a name that is not purely letters."""
    first = re.split("[, ]", text, maxsplit=1)[0]
    is_word = first.isalpha() or is_title(first)
    return text[:1].upper() + text[1:] if is_word else text
