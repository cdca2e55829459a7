"""The first screen of `harness compare`: a summary in 24 lines of 80 columns."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.features.compare import answer
from harness.features.compare.comparison import Comparison, Pairwise
from harness.features.compare.spend_result import SpendComparison
from harness.features.compare.table_rows import points
from harness.text import UNKNOWN, printable_line

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
    names = answer.names_of(comparison)
    parts: list[RenderableType] = [Text(answer.title_words(comparison), style="bold")]
    warnings = list(answer.warnings_of(comparison, names))
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
    comparison: Comparison,
    versus: Pairwise,
    names: Mapping[str, str],
    listed: int,
) -> Iterator[RenderableType]:
    told = (
        answer.difference_words(versus, names),
        answer.price_words(comparison, versus, names),
        versus.spend.sentence if versus.spend else "",
        answer.also_different(versus),
    )
    sentences = [printable_line(each) for each in told if each]
    if answer.also_different(versus):
        sentences[-1] = f"{sentences[-1][0].upper()}{sentences[-1][1:]}."
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
    sides = [answer.figures_of(side, names[side.label]) for side in comparison.runs]
    sides += [cheaper] if spend and (cheaper := answer.equal_figures(comparison, spend)) else []
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column()
    for _ in sides:
        table.add_column(justify="right")
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
    yield Text(f"  changed: {answer.changes_words(versus)}")
    shown = answer.interleaved(versus, listed)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=NAME, no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, overflow="ellipsis")
    for flip in shown:
        way = "gained" if flip.better == versus.label else "lost"
        colour = "green" if way == "gained" else "red"
        table.add_row(
            Text(f"    {way}", style=colour), answer.flip_name(flip), answer.change_of(flip)
        )
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
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    for _ in range(6):
        table.add_column(justify="right")
    heads = ("  run", "solved", "95 % interval", "difference", "p (Holm)", "cost", "tokens")
    table.add_row(*(Text(head, style="bold") for head in heads))
    by_label = {versus.label: versus for versus in comparison.versus}
    order = sorted(comparison.runs, key=lambda side: side.label != comparison.baseline)
    for side in order:
        figures = answer.figures_of(answer.side_of(comparison, side.label), names[side.label])
        versus = by_label.get(side.label)
        against = (
            ("baseline", "")
            if versus is None
            else (
                points(versus.paired.difference),
                answer.p_words(versus.p_holm).removeprefix("= "),
            )
        )
        table.add_row(
            f"  {side.label}  {figures.name.removesuffix(f' {side.label}')}",
            *(figures.solved, figures.interval, *against, figures.cost, figures.tokens),
        )
    return table


def groups_chosen(comparison: Comparison, kinds: Sequence[str]) -> Comparison:
    """Return the comparison with only these kinds of groups."""
    versus = tuple(
        each.model_copy(update={"groups": {k: v for k, v in each.groups.items() if k in kinds}})
        for each in comparison.versus
    )
    return comparison.model_copy(update={"versus": versus})
