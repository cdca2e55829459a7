"""`harness compare --details`: the full table of a comparison, on a terminal and as Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.console import Group as Together
from rich.console import RenderableType
from rich.text import Text

from harness.features.compare import answer
from harness.features.compare.comparison import LEVEL, Comparison, Pairwise
from harness.features.compare.efficiency import faster_words
from harness.features.compare.flips import Flip, FlipSample, Group
from harness.features.compare.table_rows import foreign, points, rows_of, spend_columns, spend_rows
from harness.figures import count, percent
from harness.run.summary.groups import FEWEST
from harness.terminal.groups_view import too_few
from harness.terminal.rich_tables import figures_table
from harness.text import printable_line


def findings(versus: Pairwise, comparisons: int) -> Iterator[str]:
    """Yield sentences on the pairs, the difference, the test, its power, and speed.

    Args:
        versus: a run against the baseline.
        comparisons: number of runs compared with the baseline.
    """
    a, b, paired = versus.baseline, versus.label, versus.paired
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
    difference = f"difference {b} - {a}: {points(paired.difference)} points"
    p_value = paired.p_value
    yield f"{difference}{_interval_words(versus)}; p = {p_value:.4g}{reading(p_value)}"
    if comparisons > 1:
        yield (
            f"corrected by Holm for {comparisons} comparisons: p = {versus.p_holm:.4g}"
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
    found, problems = versus.paired.detectable, count(versus.paired.problems, "problem")
    if found is None:
        return f"{problems} are too few to show any difference"
    return (
        f"{problems} would likely show a difference of {100 * found:.1f} points or more "
        "(80 % power at 5 %), and may well miss a smaller one"
    )


def flip_words(flip: Flip) -> str:
    """Return each run's verdict on the problem."""
    return f"{_fared(flip.a)}; {_fared(flip.b)}"


def _fared(shown: FlipSample) -> str:
    verdict = shown.verdict.replace("_", " ")
    if shown.samples == 1:
        return f"{shown.label} {verdict}"
    index = shown.sample.rpartition("#")[2]
    return f"{shown.label} {shown.solved} of {shown.samples}, #{index} {verdict}"


LISTED = 20  # flips shown per direction
MOST_GROUPS = 36  # groups of a kind: three years of months
MOST_TAGS = 15


def comparison_view(comparison: Comparison) -> RenderableType:
    """Show the runs side by side, then each against the baseline."""
    rows = (
        (row.name, *(printable_line(cell) if row.foreign else cell for cell in row.cells))
        for row in rows_of(comparison)
    )
    heads = (side.label for side in comparison.runs)
    parts: list[RenderableType] = [figures_table("", *heads, rows=rows)]
    for versus in comparison.versus:
        parts.extend(_versus(versus, len(comparison.versus)))
    return Together(*parts)


def _versus(versus: Pairwise, comparisons: int) -> Iterator[RenderableType]:
    if comparisons > 1:
        yield Text(f"\n{versus.label} against {versus.baseline}", style="bold")
    yield Text("\n".join(_statements(versus, comparisons, printable_line)))
    if versus.spend is not None and versus.spend.differences:
        yield figures_table(*spend_columns(versus.spend), rows=spend_rows(versus.spend))
    yield from groups_of(versus)
    for label in (versus.baseline, versus.label):
        yield from _flips(label, [flip for flip in versus.flips if flip.better == label])


def _statements(
    versus: Pairwise, comparisons: int, safe: Callable[[str], str], unlike: str = "not comparable:"
) -> Iterator[str]:
    """Yield what is to be said of a run against the baseline.

    Args:
        versus: the run against the baseline.
        comparisons: number of runs compared with the baseline.
        safe: escapes untrusted text.
        unlike: what stands before a reason why the two are not fully comparable.
    """
    yield from (f"{unlike} {safe(words)}" for words in versus.unlike)
    yield from (f"also different: {safe(words)}" for words in versus.differs)
    yield from findings(versus, comparisons)
    if versus.spend is not None:
        said = versus.spend.sentence
        yield safe(said) if foreign(versus.spend) else said
        yield from (f"note: {words}" for words in versus.spend.notes)
    yield from (f"note: {safe(words)}" for words in versus.notes)


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


def comparison_markdown(comparison: Comparison) -> str:
    """Format a comparison as Markdown; untrusted text is put in code spans."""
    return "\n".join(_lines(comparison)) + "\n"


def code(text: str) -> str:
    """Format untrusted text as a code span on one line.

    A code span has no links, mentions, references, tags or entities. A backquote would end the
    span and a bar would end a table cell, even if escaped with a backslash; both are replaced by
    their hex codes, as are control characters.
    """
    safe = printable_line(text).replace("`", r"\x60").replace("|", r"\x7c").replace("\t", r"\t")
    return f"`{safe}`" if safe.strip() else ""


def _lines(comparison: Comparison) -> Iterator[str]:
    runs = comparison.runs
    names = answer.names_of(comparison)
    yield f"**{code(answer.title_words(comparison))}**"
    yield ""
    for versus in comparison.versus:
        safe = {label: code(name) for label, name in names.items()}
        told = answer.difference_words(versus, safe, len(comparison.versus))
        yield " ".join(filter(None, (told, answer.price_words(comparison, versus, safe))))
        yield ""
    yield from _table(
        ("", *(side.label for side in runs)),
        (
            (row.name.strip(), *(code(cell) if row.foreign else cell for cell in row.cells))
            for row in rows_of(comparison)
        ),
    )
    for versus in comparison.versus:
        yield from _versus_markdown(versus, len(comparison.versus))


def _versus_markdown(versus: Pairwise, comparisons: int) -> Iterator[str]:
    yield f"### {versus.label} against {versus.baseline}"
    yield ""
    lines = _statements(versus, comparisons, code, "**not comparable:**")
    yield from (f"- {line}" for line in lines)
    yield ""
    if versus.spend is not None and versus.spend.differences:
        yield from _table(spend_columns(versus.spend), spend_rows(versus.spend))
    for kind, groups in versus.groups.items():
        columns = f"by {kind}", "problems", versus.baseline, versus.label
        yield from _table(
            (*columns, "difference", "95 % interval"),
            ((code(group.name), *group_cells(group)) for group in groups),
        )
    for label in (versus.baseline, versus.label):
        yield from _flips_markdown(label, [flip for flip in versus.flips if flip.better == label])


def _flips_markdown(label: str, flips: Sequence[Flip]) -> Iterator[str]:
    if not flips:
        return
    number = count(len(flips), "problem")
    yield f"<details><summary>{label} did better on {number}</summary>"
    yield ""
    yield from _table(
        ("problem", "verdicts", "transcripts"),
        ((code(flip.problem), code(flip_words(flip)), _commands(flip)) for flip in flips),
    )
    yield "</details>"
    yield ""


def _commands(flip: Flip) -> str:
    return "<br>".join(code(shown.command) for shown in (flip.a, flip.b) if shown.command)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(columns) - 1)])} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
