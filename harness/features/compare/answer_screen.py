"""The first screen of `harness compare`: the answer in 24 lines of 80 columns."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from harness.features.compare.answer import (
    AnswerColumn,
    answer_of,
    arm_of,
    changes_words,
    interleaved,
    title_words,
    tokens_words,
    warnings_of,
)
from harness.features.compare.comparison import Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.run_names import names_of
from harness.figures import UNKNOWN, dollars, interval, p_value, percent, points, quantity
from harness.text import printable_line

LISTED = 5
"""Number of changed outcomes on the first screen."""
MOST_WARNINGS = 3
NAME, COLUMN = 36, 20  # columns of a terminal
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
    parts += [Text(printable_line(warning), style="yellow") for warning in warnings[:MOST_WARNINGS]]
    if len(warnings) > MOST_WARNINGS:
        parts.append(Text(f"{len(warnings) - MOST_WARNINGS} more: --details", style="yellow"))
    if len(comparison.versus) > 1:
        parts += [Text(""), _many(comparison, names)]
    else:
        parts += _two(comparison, listed)
    return Constrain(Group(*parts), WIDTH)


def _two(comparison: Comparison, listed: int) -> Iterator[RenderableType]:
    answer, versus = answer_of(comparison), comparison.versus[0]
    sentences = [printable_line(each) for each in answer.sentences]
    if versus.differs:
        first, *others = versus.differs
        more = f", and {len(others)} more" if others else ""
        sentences.append(f"Also different: {printable_line(first)}{more}.")
    yield Text("")
    yield Padding(Text(" ".join(sentences)), (0, 0, 0, 2))
    yield Text("")
    yield _figures(answer.arms)
    if versus.flips:
        yield Text("")
        yield from _changes(comparison, versus, listed)


def _figures(arms: Sequence[AnswerColumn]) -> Table:
    """Build a table with a column per run, then one for shots at the agent's cost."""
    columns = (Column(justify="right", max_width=COLUMN) for _ in arms)
    table = Table.grid(Column(), *columns, padding=(0, 3, 0, 0))
    table.add_row("", *(Text(arm.name, style="bold") for arm in arms))
    table.add_row(Text("  solved", style="bold"), *map(_solved, arms))
    table.add_row("", *map(_bounds, arms))
    for name, cells in (
        ("cost a problem", ["" if arm.cost is None else dollars(arm.cost) for arm in arms]),
        ("tokens a problem", ["" if arm.tokens is None else quantity(arm.tokens) for arm in arms]),
        ("samples a problem", [f"{arm.samples:.2g}" for arm in arms]),
    ):
        if any(cells) and (name != "samples a problem" or len(set(cells)) > 1):
            table.add_row(Text(f"  {name}", style="bold"), *cells)
    return table


def _solved(arm: AnswerColumn) -> str:
    return UNKNOWN if arm.solved is None else percent(arm.solved)


def _bounds(arm: AnswerColumn) -> str:
    return "" if arm.low is None or arm.high is None else f"({interval(arm.low, arm.high)})"


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
    table.add_row("  per problem", *heads, style="bold")
    by_label = {versus.label: versus for versus in comparison.versus}
    for side in sorted(comparison.runs, key=lambda side: side.label != comparison.baseline):
        arm, versus = arm_of(side, names[side.label]), by_label.get(side.label)
        against = "baseline", ""
        if versus is not None:
            against = points(versus.paired.difference), p_value(versus.p_holm)
        table.add_row(
            f"  {arm.name}",
            *(_solved(arm), _bounds(arm).strip("()"), *against),
            *(dollars(arm.cost), tokens_words(arm.tokens)),
        )
    return table


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
        f"{shown.solved} of {shown.samples}" if shown.samples > 1 else shown.way
        for shown in (flip.a, flip.b)
    )
    return f"{one} -> {other}"
