"""First screen of the page: answer, rates with intervals, a chart, the cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.features.compare.answer import Answer, SolvedDifference, answer_of
from harness.features.compare.comparison import Comparison
from harness.features.compare.run_names import names_of
from harness.features.compare.spend_result import SpendComparison
from harness.features.report import answer_charts
from harness.features.report.charts import PALETTE
from harness.features.report.figures import PageItem, Table
from harness.features.report.labelled_runs import LabelledRun, Pairing
from harness.figures import UNKNOWN, count, dollars, interval, percent, points, quantity
from harness.run.summary.facts import iterating_words
from harness.run.summary.loaded_run import measured_words
from harness.stats.rates import Rate

PAIR = 2
MOST_OTHERS = 5  # runs that the first screen names beside the pair


class Figure(NamedTuple):
    """A large figure with a drawn interval.

    Attributes:
        name: what the figure measures.
        value: text of the figure, such as `62 %` or `+14`.
        spread: text of its interval; empty if there is none.
        at, low, high: positions of the dot and of the line's ends, in percent of the drawing.
        zero: position of no difference, in percent; None for a rate.
        colour: colour of the run; empty for the colour of text.
        facts: lines below the figure.
    """

    name: str
    value: str
    spread: str
    at: float
    low: float
    high: float
    zero: float | None = None
    colour: str = ""
    facts: tuple[str, ...] = ()


class FirstScreen(NamedTuple):
    """The part of the page that is visible without scrolling.

    Attributes:
        title: runs compared, or what was measured.
        sentences: the answer.
        figures: figures of one run; or those of two runs, the shots at the agent's cost, and the
            difference.
        chart: chart of solve rate by spend; None if spend is unknown.
        facts: changed outcomes, passed public tests only, cost, answers cut off.
    """

    title: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]
    chart: PageItem | None
    facts: tuple[str, ...]


def first_screen(sides: Sequence[LabelledRun], pairs: Sequence[Pairing]) -> FirstScreen:
    """Return the first screen: of the pair that answers most, or of a single run.

    A pair of an agent and a single shot of the same model answers the question of the project. If
    there is no such pair, the first pair is shown.
    """
    pair = headline_pair(pairs)
    if pair is None:
        return _of_one(sides[0])
    shown = _of_two(pair, [side.label for side in sides])
    if len(sides) > PAIR:
        shown = shown._replace(sentences=(*_most(sides), *shown.sentences))
    rates = [
        f"{side.label} {percent(rate.value)}"
        for side in sides
        if side is not pair.base and side is not pair.other
        if (rate := side.run.summary.pass_at_1) is not None
    ]
    if not rates:
        return shown
    more = f" and {len(rates) - MOST_OTHERS:,} more" if len(rates) > MOST_OTHERS else ""
    also = f"also on this page: {', '.join(rates[:MOST_OTHERS])}{more}"
    return shown._replace(facts=(*shown.facts, also))


def headline_pair(pairs: Sequence[Pairing]) -> Pairing | None:
    """Return the pair that the first screen shows; None if there is no pair.

    Of several it is the first with the run that solves most.
    """
    iterating = [each for each in pairs if each.iterating]
    return max(iterating or pairs, default=None, key=lambda each: max(map(_rate_of, each.sides)))


def _rate_of(side: LabelledRun) -> float:
    rate = side.run.summary.pass_at_1
    return -1.0 if rate is None else rate.value


def _most(sides: Sequence[LabelledRun]) -> Iterator[str]:
    """Yield a sentence on the runs of a page that solve most."""
    most = max(map(_rate_of, sides))
    best = [side.label for side in sides if _rate_of(side) == most]
    if most < 0:
        return
    if len(best) == 1:
        yield f"Of {len(sides)} runs {best[0]} solves most: {percent(most)}."
    else:
        yield f"Of {len(sides)} runs {len(best)} solve most: {percent(most)} each."


def _of_one(side: LabelledRun) -> FirstScreen:
    summary = side.run.summary
    curve = summary.curve if summary.curve and summary.curve.iterated else None
    figures: list[Figure] = []
    solved = sum(result.solved for result in side.graded)
    sentence = f"{solved:,} of {count(summary.graded, 'sample')} solved."
    if summary.pass_at_1 is not None:
        figures.append(_rate("solved", _ends(summary.pass_at_1), PALETTE[0], ()))
    if curve is not None and curve.first_write:
        missing = curve.without_first_write
        unknown = (f"{UNKNOWN} for {count(missing, 'sample')}",) if missing else ()
        figures.append(_rate("first attempt", _ends(curve.first_write), "", unknown))
        first = percent(curve.first_write.value)
        sentence += f" The first attempt solves {first}; {iterating_words(curve)}."
    if summary.overfit_rate is not None:
        of = (f"of {count(summary.passed_public, 'sample')} that pass the public tests",)
        figures.append(_rate("fail a hidden test", _ends(summary.overfit_rate), "", of))
    tokens = UNKNOWN if summary.usage_unknown else quantity(summary.usage.total_tokens)
    facts = [f"cost {dollars(summary.cost, summary.prices_as_of)}", f"tokens {tokens}"]
    facts += [f"{count(summary.cut_off, 'answer')} cut off"] if summary.cut_off else []
    problems = len(side.run.manifest["problems"])
    return FirstScreen(
        measured_words(side.run.manifest, problems) if "prompt" in side.run.manifest else "",
        (sentence,),
        tuple(figures),
        None,
        tuple(facts),
    )


def _of_two(pair: Pairing, order: Sequence[str]) -> FirstScreen:
    places = [order.index(each.label) for each in (pair.base, pair.other)]
    one, other = (PALETTE[place % len(PALETTE)] for place in places)
    return screen_of_two(pair.comparison, (one, other))


def screen_of_two(comparison: Comparison, colours: tuple[str, str]) -> FirstScreen:
    """Return the first screen of a baseline and one run, in the given colours."""
    answer, names = answer_of(comparison), names_of(comparison)
    versus = comparison.versus[0]
    spend, called = versus.spend, (names[versus.baseline], names[versus.label])
    return FirstScreen(
        answer.title,
        answer.sentences,
        tuple(_figures(answer, {versus.baseline: colours[0], versus.label: colours[1]})),
        _chart(spend, called, colours) if spend else None,
        (f"of all samples: {answer.changes}", *answer.facts),
    )


Ends = tuple[float, float, float]
"""A rate and the ends of its interval."""


def _ends(rate: Rate) -> Ends:
    return rate.value, rate.low, rate.high


def _rate(name: str, ends: Ends, colour: str, facts: tuple[str, ...]) -> Figure:
    value, low, high = ends
    places = (100 * each for each in ends)
    return Figure(name, percent(value), interval(low, high), *places, colour=colour, facts=facts)


def _figures(answer: Answer, colours: Mapping[str, str]) -> Iterator[Figure]:
    """Yield a card per run, for the shots at the agent's cost, and for the first difference."""
    for arm in answer.arms:
        if arm.solved is None:
            continue
        colour = colours[arm.label]
        if arm.at_equal_spend:
            colour = next(own for label, own in colours.items() if label != arm.label)
        low, high = (arm.solved if end is None else end for end in (arm.low, arm.high))
        facts = (
            *([f"{dollars(arm.cost)} a problem"] if arm.cost is not None else []),
            *([f"{quantity(arm.tokens)} tokens a problem"] if arm.tokens is not None else []),
        )
        yield _rate(arm.name, (arm.solved, low, high), colour, facts)
    yield _difference(answer.differences[0])


def _difference(difference: SolvedDifference) -> Figure:
    low, high = (
        difference.value if end is None else end for end in (difference.low, difference.high)
    )
    most = max(0.1, abs(low), abs(high))
    places = [50 + 48 * each / most for each in (difference.value, low, high)]
    verdict = "decided" if difference.decided else "not decided"
    return Figure(
        difference.name,
        f"{points(difference.value)} points",
        f"{points(low)} to {points(high)}",
        *places,
        zero=50,
        facts=(verdict,),
    )


def _chart(spend: SpendComparison, names: tuple[str, str], colours: tuple[str, str]) -> PageItem:
    about = (
        "Solve rate over what a problem costs on average. Bands are 95 % intervals, by bootstrap "
        "over problems. An attempt that is cut off counts with the solution that it had by then."
    )
    if answer_charts.has_bound(spend):
        about += " Dotted: pass@k, a bound that only the hidden tests could reach."
    rows = answer_charts.spend_rows(spend, names)
    table = Table(
        ("curve", f"{spend.unit} a problem", "solved", "95 % interval"),
        tuple(
            (row["curve"], f"{row['spend']:,.6g}", percent(row["solved"]),
             interval(row["low"], row["high"]))
            for row in rows
        ),
    )  # fmt: skip
    chart = answer_charts.equal_spend(spend, names, colours, about)
    return PageItem(
        "equal-spend",
        "At equal spend",
        " ".join((about, *map(_sentence, spend.notes))),
        table,
        chart,
    )


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."
