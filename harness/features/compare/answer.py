"""The first screen of `harness compare`: a summary in 24 lines of 80 columns, and its texts."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from harness.features.compare.comparison import LEVEL, ComparedRun, Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.spend_result import SpendComparison
from harness.features.compare.spend_sentence import amount_of
from harness.features.compare.table_rows import points
from harness.figures import UNKNOWN, count, dollars, interval, percent, quantity
from harness.run.summary.loaded_run import arm_names, mode_words
from harness.run.summary.summary import Summary
from harness.text import printable_line


def names_of(comparison: Comparison) -> dict[str, str]:
    """Name the runs by the mode, model or prompt set that differs.

    Returns:
        The name of each run by its letter.
    """
    names = arm_names([side.settings for side in comparison.runs])
    return {side.label: name for side, name in zip(comparison.runs, names, strict=True)}


def side_of(comparison: Comparison, label: str) -> ComparedRun:
    """Return the run with a letter."""
    return next(side for side in comparison.runs if side.label == label)


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
    """Return a sentence on the difference between two runs and its significance.

    Args:
        versus: a run against the baseline.
        names: the runs' names by letter.
        comparisons: number of runs compared with the baseline.
    """
    paired = versus.paired
    name, other = names[versus.label], names[versus.baseline]
    if not versus.flips:
        return f"{_capital(name)} and {other} solve the same problems."
    p_value = versus.p_holm if comparisons > 1 else paired.p_value
    low, high = paired.low, paired.high
    spread = ""
    if low is not None and high is not None:
        spread = f"95 % interval {plain_points(low)} to {plain_points(high)}, "
    corrected = ", by Holm" if comparisons > 1 else ""
    sure = "" if p_value < LEVEL else ": chance alone could do this"
    shown = f"({spread}p {p_words(p_value)}{corrected}{sure})"
    if not paired.difference:
        return f"{_capital(name)} and {other} solve equally many {shown}."
    more = "more" if paired.difference > 0 else "fewer"
    size = plain_points(abs(paired.difference))
    return f"{_capital(name)} solves {size} points {more} than {other} {shown}."


def price_words(comparison: Comparison, versus: Pairwise, names: Mapping[str, str]) -> str:
    """Return a sentence on the cost or token ratio to the baseline; empty if unknown."""
    one, other = (side_of(comparison, each) for each in (versus.label, versus.baseline))
    for spent, noun, same in (
        (cost_each, "the cost", "cost"),
        (tokens_each, "the tokens", "number of tokens"),
    ):
        here, there = spent(one), spent(other)
        if here is not None and there:
            ratio = here / there
            if f"{ratio:.1f}" == "1.0":
                return f"Both take about the same {same}."
            times = f"{ratio:.1f}" if ratio >= 0.095 else f"{ratio:.2g}"  # noqa: PLR2004
            return f"{_capital(names[versus.label])} takes {times} times {noun}."
    return ""


def shared_summary(side: ComparedRun) -> Summary:
    """Return the summary of the problems that all runs have."""
    return side.paired or side.summary


def cost_each(side: ComparedRun) -> float | None:
    """Return the mean cost of a sample in US dollars; None if any is unknown."""
    found = shared_summary(side)
    done = found.graded + found.ungraded
    return None if found.cost is None or not done else found.cost / done


def tokens_each(side: ComparedRun) -> float | None:
    """Return the mean tokens of a sample; None if any sample's tokens are unknown."""
    found = shared_summary(side)
    done = found.graded + found.ungraded
    return None if found.usage_unknown or not done else found.usage.total_tokens / done


class Figures(NamedTuple):
    """A run's figures as formatted texts."""

    name: str
    solved: str
    interval: str
    cost: str
    tokens: str


def figures_of(side: ComparedRun, name: str) -> Figures:
    """Return a run's figures, over the problems that all runs have."""
    rate = shared_summary(side).pass_at_1
    cost, tokens = cost_each(side), tokens_each(side)
    return Figures(
        name,
        UNKNOWN if rate is None else percent(rate.value),
        "" if rate is None else interval(rate.low, rate.high),
        dollars(cost),
        UNKNOWN if tokens is None else quantity(tokens),
    )


def equal_figures(comparison: Comparison, spend: SpendComparison) -> Figures | None:
    """Return the costlier arm's figures at the cheaper one's spend.

    None if the spends are close, or if the unit is neither dollars nor tokens.

    Args:
        comparison: a comparison of two runs.
        spend: the same runs at equal spend, the baseline as A.
    """
    dear, cheap = (spend.b, spend.a) if spend.b.mean > spend.a.mean else (spend.a, spend.b)
    found = next((each for each in spend.differences if each.mean_of == cheap.label), None)
    if found is None or cheap.mean > CLOSE * dear.mean or spend.unit not in {"dollars", "tokens"}:
        return None
    point = found.b if dear is spend.b else found.a
    letters = comparison.baseline, comparison.versus[0].label
    name = names_of(comparison)[letters[dear is spend.b]]
    amount = amount_of(found.at, spend.unit) if spend.unit == "dollars" else quantity(found.at)
    words = amount if spend.unit == "dollars" else f"{amount} {spend.unit}"
    bounds = "" if point.low is None or point.high is None else interval(point.low, point.high)
    cost, tokens = (amount, "") if spend.unit == "dollars" else ("", amount)
    return Figures(f"{name} at {words}", percent(point.solved), bounds, cost, tokens)


CLOSE = 0.9
"""Ratio of spends from which arms need no extra column at equal spend."""


def warnings_of(comparison: Comparison, names: Mapping[str, str]) -> Iterator[str]:
    """Yield reasons why the runs are not fully comparable, the gravest first."""
    for versus in comparison.versus:
        of = f"{names[versus.label]}: " if len(comparison.versus) > 1 else ""
        yield from (f"not comparable: {of}{words}" for words in versus.unlike)
    for side in comparison.runs:
        if side.open.pending:
            yield (
                f"{names[side.label]}: {count(side.open.pending, 'sample')} pending, in no figure"
            )
        if side.summary.cut_off:
            answers = count(side.summary.cut_off, "answer")
            yield f"{names[side.label]}: {answers} cut off by the token limit"


def changes_words(versus: Pairwise) -> str:
    """Return how many problems were gained and how many lost."""
    gained = sum(flip.better == versus.label for flip in versus.flips)
    return f"{gained:,} gained, {len(versus.flips) - gained:,} lost"


def flip_name(flip: Flip) -> str:
    """Return a problem's id without its source, its title and its difficulty."""
    native = flip.problem.partition("/")[2] or flip.problem
    letters = "".join(filter(str.isalnum, flip.title.casefold()))
    same = letters in "".join(filter(str.isalnum, flip.problem.casefold()))
    level = f" ({flip.difficulty})" if flip.difficulty else ""
    return printable_line(f"{native}{'' if same else '  ' + flip.title}{level}")


def change_of(flip: Flip) -> str:
    """Return both verdicts: `wrong answer -> accepted`."""
    one, other = (
        f"{shown.solved} of {shown.samples}"
        if shown.samples > 1
        else shown.verdict.replace("_", " ")
        for shown in (flip.a, flip.b)
    )
    return f"{one} -> {other}"


def interleaved(versus: Pairwise, most: int) -> Sequence[Flip]:
    """Return the first changed outcomes, including some lost ones."""
    gained = [flip for flip in versus.flips if flip.better == versus.label]
    lost = [flip for flip in versus.flips if flip.better != versus.label]
    kept = min(len(lost), max(most // 3, most - len(gained)))
    return [*gained[: most - kept], *lost[:kept]]


def plain_points(difference: float) -> str:
    """Return a difference in percentage points, without a trailing `.0`."""
    return f"{100 * difference:.1f}".removesuffix(".0")


def p_words(p_value: float) -> str:
    """Return a p-value with its relation sign: `= 0.02`."""
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.2g}"  # noqa: PLR2004


def _capital(text: str) -> str:
    """Capitalize a sentence, unless its first word is not purely letters."""
    first = re.split("[, ]", text, maxsplit=1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


LISTED = 5
"""Number of changed outcomes on the first screen."""
MOST_WARNINGS = 3
NAME = 36  # columns of a terminal
WIDTH = 80


def comparison_screen(comparison: Comparison, *, listed: int = LISTED) -> RenderableType:
    """Show which run solves more and at what cost, and the first changed outcomes.

    Args:
        comparison: a comparison of two runs or more.
        listed: number of changed outcomes, at most.
    """
    names = names_of(comparison)
    parts: list[RenderableType] = [Text(title_words(comparison), style="bold")]
    warnings = list(warnings_of(comparison, names))
    parts += [Text(printable_line(words), style="yellow") for words in warnings[:MOST_WARNINGS]]
    if len(warnings) > MOST_WARNINGS:
        parts.append(Text(f"{len(warnings) - MOST_WARNINGS} more: --details", style="yellow"))
    first, *others = comparison.versus
    if others:
        parts += [Text(""), _many(comparison, names)]
    else:
        parts += _two(comparison, first, names, listed)
    return Constrain(Group(*parts), WIDTH)


def _two(
    comparison: Comparison, versus: Pairwise, names: Mapping[str, str], listed: int
) -> Iterator[RenderableType]:
    told = (
        difference_words(versus, names),
        price_words(comparison, versus, names),
        versus.spend.sentence if versus.spend else "",
    )
    sentences = [printable_line(each) for each in told if each]
    if versus.differs:
        first, *others = versus.differs
        more = f", and {len(others)} more" if others else ""
        sentences.append(f"Also different: {printable_line(first)}{more}.")
    yield Text("")
    yield Padding(Text(" ".join(sentences)), (0, 0, 0, 2))
    yield Text("")
    yield _figures(comparison, names, versus.spend)
    if versus.flips:
        yield Text("")
        yield from _changes(comparison, versus, listed)


def _figures(
    comparison: Comparison, names: Mapping[str, str], spend: SpendComparison | None
) -> Table:
    """Build a table with a column per run, then one at equal spend."""
    sides = [figures_of(side, names[side.label]) for side in comparison.runs]
    sides += [cheaper] if spend and (cheaper := equal_figures(comparison, spend)) else []
    table = Table.grid(Column(), *(Column(justify="right") for _ in sides), padding=(0, 3, 0, 0))
    table.add_row("", *(Text(side.name, style="bold") for side in sides))
    table.add_row(Text("  solved", style="bold"), *(side.solved for side in sides))
    table.add_row("", *(f"({side.interval})" if side.interval else "" for side in sides))
    for name, cells in (
        ("cost a sample", [side.cost for side in sides]),
        ("tokens a sample", [side.tokens for side in sides]),
    ):
        if set(cells) - {UNKNOWN, ""}:
            table.add_row(Text(f"  {name}", style="bold"), *cells)
    return table


def _changes(comparison: Comparison, versus: Pairwise, listed: int) -> Iterator[RenderableType]:
    yield Text(f"  changed: {changes_words(versus)}")
    shown = interleaved(versus, listed)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=NAME, no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, overflow="ellipsis")
    for flip in shown:
        way = "gained" if flip.better == versus.label else "lost"
        colour = "green" if way == "gained" else "red"
        table.add_row(Text(f"    {way}", style=colour), flip_name(flip), change_of(flip))
    yield table
    paths = " ".join(shlex.quote(printable_line(side.path)) for side in comparison.runs)
    if len(versus.flips) > len(shown):
        more = len(versus.flips) - len(shown)
        yield _command(f"    {more:,} more: harness compare {paths} --details")
    commands = [each.command for flip in reversed(shown) for each in (flip.b, flip.a)]
    command = next(filter(None, commands), None)
    if command:
        yield _command(f"  read one: {printable_line(command)}")


def _command(text: str) -> Text:
    """Format a command as a line that is never wrapped, so that it can be copied."""
    return Text(text, style="dim", no_wrap=True, overflow="ignore")


def _many(comparison: Comparison, names: Mapping[str, str]) -> Table:
    """Build a table with a line per run, the baseline first."""
    heads = "solved", "95 % interval", "difference", "p (Holm)", "cost", "tokens"
    table = Table.grid(Column(), *(Column(justify="right") for _ in heads), padding=(0, 2, 0, 0))
    table.add_row("  run", *heads, style="bold")
    by_label = {versus.label: versus for versus in comparison.versus}
    for side in sorted(comparison.runs, key=lambda side: side.label != comparison.baseline):
        figures, versus = figures_of(side, names[side.label]), by_label.get(side.label)
        against = "baseline", ""
        if versus is not None:
            p_value = p_words(versus.p_holm).removeprefix("= ")
            against = points(versus.paired.difference), p_value
        table.add_row(
            f"  {side.label}  {figures.name.removesuffix(f' {side.label}')}",
            *(figures.solved, figures.interval, *against, figures.cost, figures.tokens),
        )
    return table
