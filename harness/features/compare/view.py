"""`harness compare --details`: the full table of a comparison on a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group as Together
from rich.console import RenderableType
from rich.text import Text

from harness.features.compare.comparison import Comparison, Pairwise
from harness.features.compare.flips import Flip
from harness.features.compare.groups import Group
from harness.features.compare.sentences import findings, flip_words
from harness.features.compare.spend_types import SpendComparison
from harness.features.compare.table_rows import points, rows_of, spend_columns, spend_rows
from harness.run.summary.groups import FEWEST
from harness.terminal.columns import figures_table
from harness.terminal.run_screen import too_few
from harness.text import count, percent, printable_line

LISTED = 20  # flips shown per direction
MOST_GROUPS = 36  # groups of a kind: three years of months
MOST_TAGS = 15


def comparison_view(comparison: Comparison) -> RenderableType:
    """Show the runs side by side, then each against the baseline."""
    table = figures_table("", *(side.label for side in comparison.runs))
    for row in rows_of(comparison):
        cells = (printable_line(cell) if row.foreign else cell for cell in row.cells)
        table.add_row(row.name, *cells)
    parts: list[RenderableType] = [table]
    for versus in comparison.versus:
        parts.extend(_versus(versus, len(comparison.versus)))
    return Together(*parts)


def _versus(versus: Pairwise, comparisons: int) -> Iterator[RenderableType]:
    if comparisons > 1:
        yield Text(f"\n{versus.label} against {versus.baseline}", style="bold")
    said = (f"not comparable: {words}" for words in versus.unlike)
    lines = [printable_line(words) for words in said]
    lines += [f"also different: {printable_line(words)}" for words in versus.differs]
    lines += findings(versus, comparisons)
    if versus.spend is not None:
        lines += [printable_line(versus.spend.sentence)]
        lines += [f"note: {printable_line(words)}" for words in versus.spend.notes]
    lines += [f"note: {printable_line(words)}" for words in versus.notes]
    yield Text("\n".join(lines))
    if versus.spend is not None and versus.spend.differences:
        yield _spend(versus.spend)
    yield from groups_of(versus)
    for label in (versus.baseline, versus.label):
        yield from _flips(label, [flip for flip in versus.flips if flip.better == label])


def _spend(spend: SpendComparison) -> RenderableType:
    table = figures_table(*spend_columns(spend))
    for row in spend_rows(spend):
        table.add_row(*row)
    return table


def groups_of(versus: Pairwise, names: Mapping[str, str] | None = None) -> Iterator[RenderableType]:
    """Yield a table per kind of group, with a count of groups that are too small.

    Args:
        versus: a run against the baseline.
        names: the runs' names by letter; the letters by default.
    """
    called = names or {versus.baseline: versus.baseline, versus.label: versus.label}
    for kind, groups in versus.groups.items():
        enough = [group for group in groups if group.problems >= FEWEST]
        if enough:
            yield _groups(kind, enough, versus, called)
        yield from too_few(kind, len(groups) - len(enough))


def _groups(
    kind: str, groups: Sequence[Group], versus: Pairwise, names: Mapping[str, str]
) -> RenderableType:
    most = MOST_TAGS if kind == "tag" else MOST_GROUPS
    one, other = names[versus.baseline], names[versus.label]
    short = all(len(name) == 1 for name in (one, other))
    difference = f"{other} - {one}" if short else "difference"
    table = figures_table(f"by {kind}", "n", one, other, difference, "95 % interval")
    for group in shown_groups(kind, groups, most):
        table.add_row(printable_line(group.name), *group_cells(group))
    if len(groups) <= most:
        return table
    return Together(table, Text(f"and {len(groups) - most:,} more; --json has all"))


def shown_groups(kind: str, groups: Sequence[Group], most: int) -> Sequence[Group]:
    """Return the tags with the most problems, or the last groups of another kind."""
    if len(groups) <= most or kind != "tag":
        return groups[-most:]
    kept = {group.name for group in sorted(groups, key=lambda g: -g.problems)[:most]}
    return [group for group in groups if group.name in kept]


def group_cells(group: Group) -> tuple[str, ...]:
    """Return the number of problems, both rates, their difference and its interval."""
    rates = (percent(rate.value) if rate else "unknown" for rate in (group.rate_a, group.rate_b))
    return (f"{group.problems:,}", *rates, points(group.difference), _interval(group))


def _interval(group: Group) -> str:
    if group.low is None or group.high is None:
        return "too few"
    return f"{points(group.low)} to {points(group.high)}" if group.flips else "no flips"


def _flips(label: str, flips: Sequence[Flip]) -> Iterator[Text]:
    """Yield a line per flip, then its commands, unwrapped so that they can be copied."""
    if not flips:
        return
    yield Text(f"{label} did better on {count(len(flips), 'problem')}:", style="bold")
    for flip in flips[:LISTED]:
        yield Text(printable_line(f"  {flip.problem}  {flip_words(flip)}"))
        for shown in (flip.a, flip.b):
            if shown.command:
                line = f"    {printable_line(shown.command)}"
                yield Text(line, style="dim", no_wrap=True, overflow="ignore")
    if len(flips) > LISTED:
        yield Text(f"  and {len(flips) - LISTED:,} more; --json and --markdown have all")
