"""The sections of a report."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date

from harness.features.compare.flips import Flip
from harness.features.experiment.ranking import Ranking
from harness.features.report import charts, figures
from harness.features.report import notable_problems as outliers
from harness.features.report.efficiency_section import efficiency_section
from harness.features.report.figures import (
    Amount,
    PageItem,
    Part,
    RunGroupRate,
    Section,
    Solved,
    Table,
    group_table,
    part_table,
    quantile_table,
    solved_table,
)
from harness.features.report.labelled_runs import LabelledRun, Pairing
from harness.features.report.notable_problems import Extreme
from harness.features.report.pairs_sections import pairs_sections
from harness.features.report.summary_section import summary_section
from harness.features.report.variants_section import experiment_section
from harness.figures import count, dollars, figure, p_value, percent, points
from harness.run.summary.groups import FEWEST

MOST_FLIPS = 200  # in a list
PAIR_HEAD = (
    *("run", "against", "differs in", "problems", "its rate", "the other's", "difference"),
    *("95 % interval", "better on", "worse on", "p"),
)


def sections_of(
    sides: Sequence[LabelledRun],
    pairs: Sequence[Pairing],
    cutoff: date | None,
    ranking: Ranking | None = None,
) -> list[Section]:
    """Return the sections in the page's order; empty ones say why or are left out.

    Args:
        sides: one or more runs.
        pairs: the pairs to compare.
        cutoff: first day of the last month of the models' training, if known.
        ranking: ranking of the experiment, if the runs are its variants.
    """
    compared = [
        *([experiment_section(ranking)] if ranking else []),
        *pairs_sections(pairs),
        _way(sides),
        efficiency_section(sides, pairs),
        _groups(sides),
        _months(sides, cutoff),
        _tests(sides),
        _endings(sides),
        _folded(summary_section(sides)),
        _folded(_pairs(sides, pairs)),
        _folded(_amounts(sides)),
        _folded(_problems(sides)),
    ]
    return [section for section in compared if section.exhibits or section.lead]


def _folded(section: Section) -> Section:
    return section._replace(folded=True)


def _runs(sides: Sequence[LabelledRun]) -> list[str]:
    return [side.label for side in sides]


def _pairs(sides: Sequence[LabelledRun], pairings: Sequence[Pairing]) -> Section:
    iterating = any(pairing.iterating for pairing in pairings)
    title = "Agentic against single shot" if iterating else "Runs against each other"
    lead = (
        "Paired by problem, over those that both runs graded. p says how likely so great a "
        "difference is by chance alone, by the paired score test; the interval is of the same "
        "test, and excludes 0 exactly where p < 0.05."
    )
    if len(pairings) > 1:
        lead += " Both are corrected by Holm for the pairs that differ in the same setting."
    unpaired = _unpaired(sides, pairings)
    if unpaired and pairings:
        lead += f" In no pair, since no other run differs from them in one setting: {unpaired}."
    if not pairings:
        return Section("against", title, "")
    rows = tuple(_pair_row(pairing) for pairing in pairings)
    overview = PageItem("pairs", "Differences", lead, Table(PAIR_HEAD, rows))
    return Section("against", title, "", (overview, *map(_flips, pairings, range(len(pairings)))))


def _unpaired(sides: Sequence[LabelledRun], pairings: Sequence[Pairing]) -> str:
    """Return the runs that are in no pair."""
    paired = {side.label for each in pairings for side in (each.base, each.other)}
    return ", ".join(side.label for side in sides if side.label not in paired)


def _pair_row(pairing: Pairing) -> tuple[str, ...]:
    paired = pairing.paired
    return (
        pairing.other.label,
        pairing.base.label,
        pairing.differs_in,
        f"{paired.problems:,}",
        "unknown" if paired.rate_b is None else percent(paired.rate_b.value),
        "unknown" if paired.rate_a is None else percent(paired.rate_a.value),
        f"{points(paired.difference)} points",
        f"{points(pairing.low)} to {points(pairing.high)}",
        f"{len(paired.better_b):,}",
        f"{len(paired.better_a):,}",
        p_value(pairing.p_value),
    )


def _flips(pairing: Pairing, number: int) -> PageItem:
    listed = pairing.flips[:MOST_FLIPS]
    left_out = len(pairing.flips) - len(listed)
    more = f" {left_out:,} more are not listed." if left_out else ""
    return PageItem(
        f"flips-{number}",
        f"Flips: {pairing.other.label} against {pairing.base.label}",
        f"Problems that one of the two solved more often, and how many of their samples each "
        f"solved; the greatest difference first.{more}",
        Table(
            ("problem", "title", pairing.other.label, pairing.base.label, "transcripts"),
            tuple(map(_flip_row, listed)),
            commands=True,
            empty="No problem: both did the same.",
        ),
    )


def _flip_row(flip: Flip) -> tuple[str, ...]:
    shown = (flip.b, flip.a)
    solved = (f"{side.solved} of {side.samples}" for side in shown)
    commands = "\n".join(side.command for side in shown if side.command)
    return flip.problem, flip.title, *solved, commands or "none"


def _way(sides: Sequence[LabelledRun]) -> Section:
    kinds: tuple[tuple[str, str, list[Solved], bool], ...] = (
        ("turns", "model calls", figures.by_turn(sides), True),
        ("tokens", "tokens a sample", figures.by_tokens(sides), False),
        ("dollars", "dollars a sample", figures.by_dollars(sides), False),
    )
    shown = [_curve(sides, *kind) for kind in kinds if kind[2]]
    missing = [axis for _, axis, rows, _ in kinds if not rows]
    lead = (
        f"Not known of these runs: the solve rate by {' and by '.join(missing)}." if missing else ""
    )
    return Section("way", "Solve rate by turn, tokens and cost", lead, tuple(shown))


def _curve(
    sides: Sequence[LabelledRun], name: str, axis: str, rows: list[Solved], whole: bool
) -> PageItem:
    about = (
        f"The share of samples that were solved within so many {axis}. A sample is solved from its "
        "first revision on that passes all tests, and stays so after its end."
    )
    chart = charts.solved_within(rows, _runs(sides), axis, about, whole=whole)
    return PageItem(f"by-{name}", f"By {axis}", about, solved_table(rows, axis), chart)


def _rates(
    sides: Sequence[LabelledRun], name: str, rows: list[RunGroupRate], more: str = ""
) -> PageItem:
    about = f"pass@1 and its 95 % interval, by {name}.{more}"
    chart = charts.group_rates(rows, _runs(sides), about)
    return PageItem(f"by-{name}", f"By {name}", about, group_table(rows, name), chart)


def _groups(sides: Sequence[LabelledRun]) -> Section:
    tags = f" The {figures.MOST_GROUPS} most frequent; a problem counts for each of its tags."
    kinds = (
        ("difficulty", figures.by_difficulty(sides), ""),
        ("platform", figures.by_platform(sides), ""),
        ("tag", figures.by_tag(sides), tags),
    )
    enough = [(name, *_enough(rows), more) for name, rows, more in kinds]
    shown = tuple(
        _rates(sides, name, rows, _left_out(few) + more) for name, rows, few, more in enough if rows
    )
    return Section("groups", "By difficulty, platform and tag", "", shown)


def _enough(rows: Sequence[RunGroupRate]) -> tuple[list[RunGroupRate], int]:
    """Return groups with enough problems in a run, and how many groups have too few."""
    most: dict[str, int] = {}
    for row in rows:
        most[row.group] = max(most.get(row.group, 0), row.rate.problems)
    named = {group: f"{group} (n = {n:,})" for group, n in most.items() if n >= FEWEST}
    kept = [row._replace(group=named[row.group]) for row in rows if row.group in named]
    return kept, len(most) - len(named)


def _left_out(few: int) -> str:
    return f" {count(few, 'group')} of fewer than {FEWEST} problems not shown." if few else ""


def _months(sides: Sequence[LabelledRun], cutoff: date | None) -> Section:
    title, every = "By release month", figures.by_month(sides)
    rows = [row for row in every if row.rate.problems >= FEWEST]
    months = {row.group for row in every} - {row.group for row in rows}
    graded = [result for side in sides for result in side.graded]
    undated = len({r.problem_id for r in graded if r.release_date is None})
    lead = f"Problems without a date, in none of these figures: {undated:,}." if undated else ""
    if not every:
        lead = "No release date is known." if graded else ""
        return Section("months", title, lead)
    if months:
        fewer = f"with fewer than {FEWEST} problems not shown."
        lead = f"{lead} {count(len(months), 'month')} {fewer}".strip()
    if not rows and cutoff is None:
        return Section("months", title, lead)
    about = "pass@1 and its 95 % interval, by the month in which problems were released."
    line = None if cutoff is None else figures.month_of(cutoff)
    if line is not None:
        about += (
            f" Training ended with {line}, at the dashed line: a rate that "
            "falls there may have been learned by heart before."
        )
    shown: list[PageItem] = []
    if rows:
        chart = charts.months(rows, _runs(sides), line, about)
        shown.append(PageItem("by-month", "By month", about, group_table(rows, "month"), chart))
    if cutoff is not None:
        eras = figures.around_cutoff(sides, cutoff)
        about = "pass@1 of problems that were released while the models were trained, and later."
        chart = charts.group_rates(eras, _runs(sides), about)
        table = group_table(eras, "released")
        shown.append(PageItem("cutoff", "Before and after the cut-off", about, table, chart))
    return Section("months", title, lead, tuple(shown))


def _tests(sides: Sequence[LabelledRun]) -> Section:
    rows = figures.public_and_hidden(sides)
    title = "Public against hidden tests"
    if not rows:
        any_graded = any(side.graded for side in sides)
        lead = "Of no sample both public and hidden tests are known." if any_graded else ""
        return Section("tests", title, lead)
    about = (
        "Samples of problems that have tests of both kinds. The middle part is what the public "
        "tests did not catch."
    )
    chart = charts.outcomes(rows, _runs(sides), about)
    exhibit = PageItem("outcomes", "How samples did", about, part_table(rows, "outcome"), chart)
    return Section("tests", title, "", (exhibit,))


def _endings(sides: Sequence[LabelledRun]) -> Section:
    kinds: tuple[tuple[str, str, list[Part], str], ...] = (
        ("verdicts", "verdict", figures.verdicts(sides), "Verdicts on the final solutions."),
        ("stops", "stop reason", figures.stop_reasons(sides), "Why the samples ended."),
    )
    shown = tuple(
        PageItem(name, f"{of.capitalize()}s", about, part_table(rows, of),
                charts.parts(rows, _runs(sides), about))
        for name, of, rows, about in kinds if rows
    )  # fmt: skip
    return Section("endings", "Verdicts and stop reasons", "", shown)


def _amounts(sides: Sequence[LabelledRun]) -> Section:
    kinds: tuple[tuple[str, str, Amount], ...] = (
        ("seconds", "wall seconds", figures.seconds),
        ("spent-tokens", "tokens", figures.tokens),
        ("spent-dollars", "dollars", figures.dollars),
    )
    shown: list[PageItem] = []
    for name, what, amount in kinds:
        rows = figures.quantiles(sides, amount)
        if not rows:
            continue
        about = f"How many {what} a sample took: the share of samples that took no more."
        fine = figures.quantiles(sides, amount, fine=True)
        chart = charts.quantiles(fine, _runs(sides), what, about)
        table = quantile_table(rows, what)
        shown.append(PageItem(name, f"{what.capitalize()} a sample", about, table, chart))
    return Section("amounts", "Time, tokens and cost", "", tuple(shown))


def _problems(sides: Sequence[LabelledRun]) -> Section:
    mean = (
        "The mean over a problem's samples, of all runs; the command shows the one that took most."
    )
    slow, long, dear = (
        outliers.by_mean(sides, amount)
        for amount in (figures.seconds, figures.tokens, figures.dollars)
    )
    kinds: list[tuple[str, str, str, str, Iterable[Extreme], Callable[[float], str]]] = [
        ("slowest", "Slowest", mean, "seconds", slow, figure),
        ("dearest", "Dearest", mean, "cost", dear, dollars),
        ("longest", "Most tokens", mean, "tokens", long, lambda value: f"{value:,.0f}"),
        (
            "flipping",
            "Most flipping",
            "Solved by some of their samples and not by others; the share of samples that ended "
            "otherwise than most, of all runs.",
            "share",
            outliers.flipping(sides),
            percent,
        ),
    ]
    shown = tuple(
        _extremes(*texts, extremes=extremes, value_text=value_text)
        for *texts, extremes, value_text in kinds
        if extremes
    )
    return Section("problems", "Problems to look at", "", shown)


def _extremes(
    name: str,
    title: str,
    about: str,
    of: str,
    *,
    extremes: Iterable[Extreme],
    value_text: Callable[[float], str],
) -> PageItem:
    rows = tuple(
        (
            each.problem,
            each.title,
            value_text(each.value),
            f"{each.solved:,} of {each.samples:,}",
            each.side.transcript(each.sample) or "none",
        )
        for each in extremes
    )
    head = ("problem", "title", of, "solved", "transcript")
    return PageItem(name, title, about, Table(head, rows, commands=True))
