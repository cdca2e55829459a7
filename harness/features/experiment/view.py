"""The result of an experiment, and its tables."""

# pyright: reportMissingTypeStubs=false

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.answer import at_any_look
from harness.features.compare.answer_screen import comparison_screen
from harness.features.compare.comparison import LEVEL, Comparison, compare_runs
from harness.features.compare.library import RunComparison, compare
from harness.features.experiment.decision import Decision
from harness.features.experiment.ranking import Against, RankedVariant, Ranking
from harness.features.experiment.stopping_goal import PAIR
from harness.features.show.library import LoadedRun, load_run
from harness.figures import (
    UNKNOWN,
    count,
    dollars,
    interval,
    p_value,
    p_words,
    percent,
    points,
    quantity,
)
from harness.run.summary.loaded_run import frame
from harness.terminal.notebook import NotebookView
from harness.terminal.rich_tables import figures_table
from harness.text import printable_line

if TYPE_CHECKING:
    import pandas as pd

GAP = 3
"""Spaces between two columns of a table."""
LISTED = 3
"""Changed outcomes of the last screen, which has lines of its own below those of `compare`."""
_DROPPED = ("tokens", "95 %", "per solved", "95 % interval", "samples", "cost")
"""Columns that a narrow terminal drops, in this order."""
_SPENDS = {"tokens", "cost", "cost_per_sample", "tokens_per_sample", "cost_per_solved"}


class RankingView(NamedTuple):
    """The ranking's table with notes below it; a narrow terminal gets fewer columns."""

    ranking: Ranking

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        columns = _columns(self.ranking)
        for name in filter(columns.__contains__, _DROPPED):
            widths = (max(map(cell_len, (name, *texts))) for name, texts in columns.items())
            if sum(width + GAP for width in widths) <= options.max_width + GAP:
                break
            del columns[name]
        yield from _answers(self.ranking, fair=True)
        yield Text(best_words(self.ranking), style="bold")
        rows = zip(*columns.values(), strict=True)
        yield figures_table(*columns, rows=(map(Text, row) for row in rows))
        yield Text("\n".join(_notes(self.ranking)))
        yield from _answers(self.ranking, fair=False)


def last_screen(ranking: Ranking) -> RenderableType:
    """Show what the experiment came to: the answer of `harness compare` for two variants.

    More variants, or two that share no graded problem, get the ranked table.
    """
    if len(ranking.variants) != PAIR:
        return RankingView(ranking)
    variants = sorted(ranking.variants, key=lambda variant: variant.name != ranking.baseline)
    try:
        comparison = compare_runs([Path(variant.run) for variant in variants])
    except (RunDirectoryError, UsageError):
        return RankingView(ranking)
    shown = _as_decided(comparison, ranking.decision) if ranking.decision else comparison
    notes = [f"spent: {', '.join(map(_whole_spend, variants))}", *_states(ranking)]
    return Group(comparison_screen(shown, listed=LISTED), Text("\n".join(notes)))


def _as_decided(comparison: Comparison, decision: Decision) -> Comparison:
    """Return the comparison with the interval of the stopping rule, which holds at all looks."""
    (versus,) = comparison.versus
    ends = decision.low, decision.high
    if decision.question == "solved":
        changed = versus.model_copy(update={"looked": ends})
    elif versus.spend is None:
        return comparison
    else:
        spend = at_any_look(versus.spend, *ends)
        changed = versus.model_copy(update={"spend": spend, "stopped_early": True})
    return comparison.model_copy(update={"versus": (changed,)})


def _whole_spend(variant: RankedVariant) -> str:
    """What all samples of a variant took: US dollars, or tokens where these are unknown."""
    name = printable_line(variant.name)
    if variant.cost is not None or variant.tokens is None:
        return f"{name} {dollars(variant.cost)}"
    return f"{name} {quantity(variant.tokens)} tokens"


def best_words(ranking: Ranking) -> str:
    """Return a sentence on the best variant and its difference to the baseline."""
    best = ranking.variants[0]
    if len(ranking.variants) > 1 and not any(variant.against for variant in ranking.variants):
        return _no_answer(ranking)
    if best.pass_at_1 is None:
        return "No sample is graded yet"
    rate = best.pass_at_1.value
    equal = sum(
        variant.pass_at_1 is not None and variant.pass_at_1.value == rate
        for variant in ranking.variants
    )
    solves = f"{printable_line(best.name)} solves most: {percent(rate)}"
    if equal > 1:
        solves = f"{count(equal, 'variant')} solve most: {percent(rate)} each"
    if best.against is None:
        alone = equal == 1 and best.name == ranking.baseline
        return f"{solves}; it is the baseline" if alone else solves
    more = f"{points(best.against.difference)} points"
    chance = "" if best.against.p_holm < LEVEL else ", which chance alone could do"
    return (
        f"{solves}, {more} against {printable_line(ranking.baseline)} "
        f"(p {p_words(best.against.p_holm)} by Holm{chance})"
    )


def _no_answer(ranking: Ranking) -> str:
    """Say that no problem is graded in the baseline and another variant, and what is graded."""
    if len(ranking.variants) != PAIR:
        baseline = printable_line(ranking.baseline)
        return f"No answer yet: no variant shares a graded problem with {baseline}, the baseline"
    variants = sorted(ranking.variants, key=lambda variant: variant.name != ranking.baseline)
    graded = ", ".join(f"{printable_line(each.name)} {each.graded:,}" for each in variants)
    return f"No answer yet: 0 problems are graded in both variants (graded samples: {graded})"


def _columns(ranking: Ranking) -> dict[str, list[str]]:
    """Return the texts of each column below its heading, without columns that tell nothing."""
    rows = [_row(number, variant, ranking) for number, variant in enumerate(ranking.variants, 1)]
    columns = {heading: [row[heading] for row in rows] for heading in rows[0]}
    return {key: texts for key, texts in columns.items() if set(texts) - {UNKNOWN, ""}}


def _row(number: int, variant: RankedVariant, ranking: Ranking) -> dict[str, str]:
    """Return a variant's texts by heading."""
    rate, against = variant.pass_at_1, variant.against
    mark = "*" if variant.on_front else " "
    row = {
        "  per problem": f"{mark} {number}. {printable_line(variant.name)}",
        "pass@1": percent(rate.value) if rate else UNKNOWN,
        "95 % interval": interval(rate.low, rate.high) if rate else "",
        "difference": "baseline" if variant.name == ranking.baseline else "",
        "95 %": "",
        "p (Holm)": "",
        "cost": dollars(variant.cost_per_sample),
        "tokens": UNKNOWN
        if variant.tokens_per_sample is None
        else quantity(variant.tokens_per_sample),
        "samples": ""
        if variant.samples_per_problem is None
        else f"{variant.samples_per_problem:.2g}",
        "per solved": dollars(variant.cost_per_solved),
    }
    if against:
        row["difference"] = points(against.difference)
        row["95 %"] = f"{points(against.low_holm)} to {points(against.high_holm)}"
        row["p (Holm)"] = p_value(against.p_holm)
    return row


def _notes(ranking: Ranking) -> Iterator[str]:
    compared = [variant.against for variant in ranking.variants if variant.against]
    if compared:
        yield (
            f"difference: in points of pass@1, on {_problems(compared)}; interval and p: paired "
            f"score test, corrected by Holm for {count(len(compared), 'test')}"
        )
    if ranking.front_by == "cost":
        yield "* best for its price: no cheaper variant solves as much"
    elif ranking.front_by == "tokens":
        yield "* best for its tokens (costs are unknown): no variant with fewer solves as much"
    if ranking.front_by == "cost" and any(c.cost_per_sample is None for c in ranking.variants):
        yield "a variant whose cost is unknown gets no *"
    yield "cost, tokens: of one sample of a problem; samples: how many a problem has"
    yield from _states(ranking)
    if ranking.prices_as_of:
        yield f"prices of {', '.join(map(printable_line, ranking.prices_as_of))}"


def _states(ranking: Ranking) -> Iterator[str]:
    """Whether the experiment was decided, and which variants are not done."""
    if ranking.decision is not None:
        yield from _decided(ranking.decision, ranking.experiment)
    for variant in ranking.variants:
        if not variant.planned:
            yield f"{printable_line(variant.name)} has not begun"
        elif variant.pending:
            yield (
                f"{printable_line(variant.name)}: {variant.pending:,} of "
                f"{count(variant.planned, 'sample')} pending, and in no rate"
            )


def _answers(ranking: Ranking, *, fair: bool) -> Iterator[Text]:
    """Yield the sentence on each pair, with names if there are several."""
    for answer in (each for each in ranking.answers if each.fair is fair):
        names = f"{answer.variant} against {answer.baseline}: " if len(ranking.answers) > 1 else ""
        yield Text(f"{printable_line(names + answer.sentence)}\n", style="bold")


def _decided(decision: Decision, experiment: str) -> Iterator[str]:
    yield printable_line(decision.line)
    left = decision.planned - decision.problems
    if decision.reason in {"decided", "precise"} and left:
        yield (
            f"{count(left, 'problem')} not asked; to ask all: harness experiment --resume "
            f"{printable_line(shlex.quote(experiment))}"
        )


def _problems(compared: Sequence[Against]) -> str:
    least, most = (of(each.problems for each in compared) for of in (min, max))
    return count(most, "problem") if least == most else f"{least:,} to {most:,} problems"


class ExperimentResult(NotebookView, Ranking):
    """An experiment's variants, ranked: the best first.

    `model_dump_json()` equals the output of `harness experiment --json`.
    """

    @property
    def path(self) -> Path:
        """The experiment's directory."""
        return Path(self.experiment)

    @property
    def answer(self) -> str:
        """Agents at the cost of shots; the best variant and its difference; other pairs."""
        fair, others = (
            [each.sentence for each in self.answers if each.fair is wanted]
            for wanted in (True, False)
        )
        return " ".join([*fair, f"{best_words(self)}.", *others])

    @property
    def runs(self) -> dict[str, LoadedRun]:
        """The runs of the variants that have begun, by name, the best first."""
        return {variant.name: load_run(variant.run) for variant in self.variants if variant.planned}

    def compare(self, *variants: str, at: Sequence[float] | None = None) -> RunComparison:
        """Compare variants with the baseline; see `harness.compare`.

        Args:
            variants: names of variants; all by default.
            at: mean spends per problem to compare at.

        Raises:
            UsageError: a variant does not exist or has not begun, or there is no other one.
        """
        runs = self.runs
        others = [name for name in variants or runs if name != self.baseline]
        unknown = next((name for name in (self.baseline, *others) if name not in runs), None)
        if unknown is not None or not others:
            wrong = f"no variant {unknown!r} has begun" if others else "there is no other variant"
            raise UsageError(f"compare(): {wrong}; those that have: {', '.join(runs) or 'none'}")
        return compare(runs[self.baseline], *(runs[name] for name in others), at=at)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per variant, the best first.

        Rates and their intervals are between 0 and 1. `difference`, its interval and `p` (both
        corrected by Holm) are relative to the baseline, and missing for it. Costs are in US
        dollars.
        """
        return frame(_rows(self))

    def view(self) -> RenderableType:
        """Return the last screen of `harness experiment`."""
        return last_screen(self)

    def __repr__(self) -> str:
        best = self.variants[0]
        variants = count(len(self.variants), "variant")
        line = "nothing graded"
        if best.pass_at_1:
            line = f"the best {best.name}: pass@1 {percent(best.pass_at_1.value)}"
        return printable_line(f"<ExperimentResult {self.path.name}: {variants}, {line}>")

    __str__ = __repr__


def _rows(ranking: Ranking) -> Iterator[dict[str, Any]]:
    for variant in ranking.variants:
        rate, against = variant.pass_at_1, variant.against
        yield {
            "variant": variant.name,
            **variant.settings,
            **variant.model_dump(include={"planned", "graded", "pending"}),
            "pass_at_1": rate.value if rate else None,
            "low": rate.low if rate else None,
            "high": rate.high if rate else None,
            "difference": against.difference if against else None,
            "difference_low": against.low_holm if against else None,
            "difference_high": against.high_holm if against else None,
            "p": against.p_holm if against else None,
            **variant.model_dump(include=_SPENDS),
            "on_front": variant.on_front,
        }
