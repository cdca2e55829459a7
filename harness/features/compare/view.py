"""`harness compare --details`: the full table of a comparison on a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Group as Together
from rich.console import RenderableType
from rich.text import Text

from harness.features.compare.answer import significance_words
from harness.features.compare.comparison import LEVEL, Comparison, Pairwise
from harness.features.compare.flips import Flip, FlipSample
from harness.features.compare.groups import Group
from harness.features.compare.run_names import names_of
from harness.features.compare.speed import faster_words
from harness.features.compare.table_rows import rows_of, spend_columns, spend_rows
from harness.figures import UNKNOWN, count, p_words, percent, points
from harness.run.summary.groups import FEWEST
from harness.terminal.groups_view import too_few
from harness.terminal.rich_tables import figures_table
from harness.text import printable_line

LISTED = 20  # flips shown per direction
MOST_GROUPS = 36  # groups of a kind: three years of months
MOST_TAGS = 15


def findings(versus: Pairwise, comparisons: int, names: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on the pairs, the difference, the test, its power, and speed.

    Args:
        versus: a run against the baseline.
        comparisons: number of runs compared with the baseline.
        names: the runs' names by letter, escaped.
    """
    a, b, paired = names[versus.baseline], names[versus.label], versus.paired
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
    difference = f"difference {b} minus {a}: {points(paired.difference)} points"
    p_value = paired.p_value
    if versus.looked is not None or versus.stopped_early:  # the interval of the answer, or none
        yield f"{difference}{significance_words(versus, comparisons)}"
    else:
        yield f"{difference}{_interval_words(versus)}; p {p_words(p_value)}{reading(p_value)}"
    if comparisons > 1:
        yield (
            f"corrected by Holm for {comparisons} comparisons: p {p_words(versus.p_holm)}"
            f"{reading(versus.p_holm)}"
        )
    yield _detectable(versus)
    if versus.faster is not None:
        yield from faster_words(versus.faster, (a, b))


def reading(p: float) -> str:
    """Return a plain reading of a p-value, in parentheses."""
    return " (unlikely to be chance)" if p < LEVEL else " (chance alone could do this)"


def _interval_words(versus: Pairwise) -> str:
    low, high = versus.paired.low, versus.paired.high
    if low is None or high is None:
        return ""
    agree = "" if versus.flips else "no problem differs; "
    return f" ({agree}95 % interval {points(low)} to {points(high)})"


def _detectable(versus: Pairwise) -> str:
    detectable, problems = versus.paired.detectable, count(versus.paired.problems, "problem")
    if detectable is None:
        return f"{problems} are too few to show any difference"
    return (
        f"{problems} would likely show a difference of {100 * detectable:.1f} points or more "
        "(80 % power at 5 %), and may well miss a smaller one"
    )


def flip_words(flip: Flip, names: Mapping[str, str]) -> str:
    """Return each run's verdict on the problem."""
    return f"{_fared(flip.a, names)}; {_fared(flip.b, names)}"


def _fared(shown: FlipSample, names: Mapping[str, str]) -> str:
    name, verdict = names[shown.label], shown.way
    if shown.samples == 1:
        return f"{name} {verdict}"
    index = shown.sample.rpartition("#")[2]
    return f"{name} {shown.solved} of {shown.samples}, #{index} {verdict}"


def comparison_view(comparison: Comparison) -> RenderableType:
    """Show the runs side by side, then each against the baseline."""
    rows = (
        (row.name, *(printable_line(cell) if row.foreign else cell for cell in row.cells))
        for row in rows_of(comparison)
    )
    names = names_of(comparison)
    heads = (names[side.label] for side in comparison.runs)
    parts: list[RenderableType] = [figures_table("", *heads, rows=rows)]
    for versus in comparison.versus:
        parts.extend(_versus(comparison, versus, names))
    return Together(*parts)


def _versus(
    comparison: Comparison, versus: Pairwise, names: Mapping[str, str]
) -> Iterator[RenderableType]:
    comparisons = len(comparison.versus)
    if comparisons > 1:
        yield Text(f"\n{names[versus.label]} against {names[versus.baseline]}", style="bold")
    yield Text("\n".join(statements(versus, comparisons, names, printable_line)))
    if versus.spend is not None and versus.spend.differences:
        yield figures_table(*spend_columns(versus.spend, names), rows=spend_rows(versus.spend))
    yield from groups_of(versus, names)
    for label in (versus.baseline, versus.label):
        better = [flip for flip in versus.flips if flip.better == label]
        yield from _flips(names[label], better, names)


def statements(
    versus: Pairwise,
    comparisons: int,
    names: Mapping[str, str],
    safe: Callable[[str], str],
    unlike: str = "not comparable:",
) -> Iterator[str]:
    """Yield what is to be said of a run against the baseline, beside the answer.

    Args:
        versus: the run against the baseline.
        comparisons: number of runs compared with the baseline.
        names: the runs' names by letter, escaped.
        safe: escapes untrusted text.
        unlike: what stands before a reason why the two are not fully comparable.
    """
    yield from (f"{unlike} {safe(reason)}" for reason in versus.unlike)
    yield from (f"also different: {safe(difference)}" for difference in versus.differs)
    yield from findings(versus, comparisons, names)
    if versus.spend is not None:
        yield from (f"note: {note}" for note in versus.spend.notes)
    yield from (f"note: {safe(note)}" for note in versus.notes)


def groups_of(versus: Pairwise, names: Mapping[str, str]) -> Iterator[RenderableType]:
    """Yield a table per kind of group, with a count of groups that are too small.

    Args:
        versus: a run against the baseline.
        names: the runs' names by letter.
    """
    for kind, groups in versus.groups.items():
        enough = [group for group in groups if group.problems >= FEWEST]
        if enough:
            yield _groups(kind, enough, versus, names)
        yield from too_few(kind, len(groups) - len(enough))


def _groups(
    kind: str, groups: Sequence[Group], versus: Pairwise, names: Mapping[str, str]
) -> RenderableType:
    most = MOST_TAGS if kind == "tag" else MOST_GROUPS
    one, other = names[versus.baseline], names[versus.label]
    table = figures_table(f"by {kind}", "n", one, other, "difference", "95 % interval")
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
    rates = (percent(rate.value) if rate else UNKNOWN for rate in (group.rate_a, group.rate_b))
    return (f"{group.problems:,}", *rates, points(group.difference), _interval(group))


def _interval(group: Group) -> str:
    if group.low is None or group.high is None:
        return "too few"
    return f"{points(group.low)} to {points(group.high)}" if group.flips else "no flips"


def _flips(name: str, flips: Sequence[Flip], names: Mapping[str, str]) -> Iterator[Text]:
    """Yield a line per flip, then its commands, unwrapped so that they can be copied."""
    if not flips:
        return
    yield Text(f"{name} did better on {count(len(flips), 'problem')}:", style="bold")
    for flip in flips[:LISTED]:
        yield Text(printable_line(f"  {flip.problem}  {flip_words(flip, names)}"))
        for shown in (flip.a, flip.b):
            if shown.command:
                line = f"    {printable_line(shown.command)}"
                yield Text(line, style="dim", no_wrap=True, overflow="ignore")
    if len(flips) > LISTED:
        yield Text(f"  and {len(flips) - LISTED:,} more; --json and --markdown have all")
