"""The report's section on efficiency."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from harness.features.compare.differences.judging import changed_problems
from harness.features.efficiency.efficiency_summary import EfficiencySummary, score, score_interval
from harness.features.efficiency.efficiency_table import FACTS
from harness.features.efficiency.faster import Faster, faster
from harness.features.report import charts
from harness.features.report.figures import PageItem, Section, Table
from harness.features.report.labelled_runs import LabelledRun, Pairing
from harness.figures import UNKNOWN, count, figure, percent
from harness.run.summary.fact import Screen, table_rows
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate, rate_by_problem
from harness.text import printable_line

LEAD = (
    "Beyond is 1 for a solution as fast as the fastest reference, and 0 for one that is wrong or "
    "as slow as the slowest; the percentile says what share of the references it is faster than. "
    "References and solutions of a run are timed on the same machine, by CPU time."
)

FASTER_THAN = (25, 50, 75, 90)
"""Percent of the references: columns of the table below the chart."""


PERCENTILES = tuple(range(0, 101, 5))
"""Percentiles at which the chart has a point."""
REFERENCE = "#77828f"
SQUARE = 300


class TimedSolutions(NamedTuple):
    """Solutions of a run that passed and were timed, if their references differ enough.

    Attributes:
        shares: by each of `PERCENTILES`, the share that is faster than this percentage of a
            problem's references; ties count half. Mean over problems, 0 to 1.
        solutions: number of solutions.
        problems: number of problems that they solve.
        times: median over solutions of the CPU time divided by that of the problem's fastest
            reference; None if no fastest reference has a time above 0.
    """

    run: str
    shares: Mapping[int, Rate]
    solutions: int
    problems: int
    times: float | None


def efficiency_section(sides: Sequence[LabelledRun], pairs: Sequence[Pairing]) -> Section:
    """Return the section; it is empty if no sample was timed."""
    if all(side.run.summary.efficiency is None for side in sides):
        return Section("efficiency", "Efficiency", "")
    labels = [side.label for side in sides]
    solutions = timed_solutions(sides)
    exhibits = [_means(sides), *_paired(pairs)]
    if solutions:
        exhibits.append(_faster_than(solutions, labels))
    exhibits += _standings(sides)
    return Section("efficiency", "Efficiency", LEAD, tuple(exhibits))


def _means(sides: Sequence[LabelledRun]) -> PageItem:
    summaries = [side.run.summary.efficiency for side in sides]
    whys = dict.fromkeys(why for summary in summaries if summary for why in summary.untold)
    remarks = dict.fromkeys(word for summary in summaries if summary for word in summary.remarks)

    def each(name: str, figure: Callable[[EfficiencySummary], str]) -> tuple[str, tuple[str, ...]]:
        return name, tuple(figure(value) if value else UNKNOWN for value in summaries)

    counted = [
        each("samples measured", lambda s: f"{s.measured:,}"),
        each("measured by", lambda s: ", ".join(s.timings)),
        *(
            each(f"problems of which {why}", lambda s, why=why: f"{s.untold.get(why, 0):,}")
            for why in whys
        ),
        *(
            each(f"samples: {printable_line(word)}", lambda s, w=word: f"{s.remarks.get(w, 0):,}")
            for word in remarks
        ),
    ]
    means = table_rows([side.run.summary for side in sides], Screen.COMPARISON, table=FACTS)
    rows = [(name, *cells) for name, cells in (*means, *counted)]
    branches = any("branch" in name for name, *_ in rows)
    return PageItem(
        "beyond",
        "How fast",
        "Means over problems with their 95 % intervals. A failed sample counts 0, except where "
        "only passed samples count. Problems without references of different speed have no Beyond."
        + (" Counts of branches leave out work done in C." if branches else ""),
        Table(("", *(side.label for side in sides)), tuple(rows)),
    )


def _paired(pairs: Sequence[Pairing]) -> Iterator[PageItem]:
    compared = ((pair, _faster(pair)) for pair in pairs)
    rows = [row for pair, faster in compared if faster for row in _pair_rows(pair, faster)]
    if rows:
        yield PageItem(
            "beyond-pairs",
            "Differences in Beyond",
            "Paired by problem, over the problems that have a Beyond in both runs. Over all "
            "samples, a failed one counts 0; over passed ones, only speed counts. The interval is "
            "by bootstrap over problems.",
            Table(
                (
                    *("run", "against", "samples", "problems", "its Beyond@1", "the other's"),
                    *("difference", "95 % interval"),
                ),
                tuple(rows),
            ),
        )


def _faster(pair: Pairing) -> Faster | None:
    one, other = ({r.problem_id for r in side.graded} for side in (pair.base, pair.other))
    base, later = pair.base.run, pair.other.run
    return faster(base, later, (one & other) - changed_problems(base, later))


def _pair_rows(pair: Pairing, faster: Faster) -> Iterator[tuple[str, ...]]:
    for name, paired in (("all", faster.every), ("passed", faster.passed)):
        if paired is None:
            continue
        known = paired.low is not None and paired.high is not None
        yield (
            pair.other.label,
            pair.base.label,
            name,
            f"{paired.problems:,}",
            score(paired.rate_b.value),
            score(paired.rate_a.value),
            f"{paired.difference:+.3f}",
            f"{paired.low:+.3f} to {paired.high:+.3f}" if known else "one problem",
        )


def _faster_than(solutions: Sequence[TimedSolutions], labels: Sequence[str]) -> PageItem:
    about = (
        "The share of solutions that are faster than at least this percentage of their problem's "
        "references, with 95 % intervals; each problem counts the same. A run above the dashed "
        "line is faster than references drawn at random. Only solutions that passed count, of "
        "problems with a Beyond score: "
        + ", ".join(
            f"{each.run} {count(each.solutions, 'solution')} of {count(each.problems, 'problem')}"
            for each in solutions
        )
        + "."
    )
    rows = tuple(
        (
            each.run,
            f"{each.problems:,}",
            f"{each.solutions:,}",
            *(percent(each.shares[least].value) for least in FASTER_THAN),
            figure(each.times),
        )
        for each in solutions
    )
    head = (
        *("run", "problems", "solutions"),
        *(f"faster than {least} % of references" for least in FASTER_THAN),
        "median, in times of the fastest reference",
    )
    return PageItem(
        "among",
        "How many references solutions are faster than",
        about,
        Table(head, rows),
        faster_than_references(solutions, labels, about),
    )


def _standings(sides: Sequence[LabelledRun]) -> Iterator[PageItem]:
    """Yield the chart of both rates, if two runs have both."""
    rated = [(side, rates) for side in sides if (rates := _both_rates(side.run.summary))]
    if len(rated) < 2:  # noqa: PLR2004 - one point compares nothing
        return
    about = (
        "How much a run solves, and how fast what it solves is; lines are 95 % intervals. A run "
        "that solves more is timed on more, and harder, problems."
    )
    rows = tuple(
        (
            side.label,
            percent(solved.value),
            score(fast.value),
            score_interval(fast.low, fast.high),
        )
        for side, (solved, fast) in rated
    )
    yield PageItem(
        "fast-and-right",
        "Solved against fast",
        about,
        Table(("run", "pass@1", "Beyond@1, passed", "95 % interval"), rows),
        fast_and_right(sides, about),
    )


def _both_rates(summary: Summary) -> tuple[Rate, Rate] | None:
    """Return the solve rate and the speed of what is solved; None if one is unknown."""
    solved, timed = summary.pass_at_1, summary.efficiency
    return (solved, timed.beyond_passed) if solved and timed and timed.beyond_passed else None


def timed_solutions(sides: Sequence[LabelledRun]) -> list[TimedSolutions]:
    """Return the timed solutions of each run that has any.

    Solutions of problems without a Beyond score are left out.
    """
    return [each for side in sides if (each := _timed(side)) is not None]


def _timed(side: LabelledRun) -> TimedSolutions | None:
    measured = [
        (result.problem_id, timed)
        for result in side.graded
        if result.solved and (timed := result.efficiency) is not None
        if timed.time is not None and timed.beyond is not None and timed.percentile is not None
    ]
    if not measured:
        return None
    ranked = [(problem, timed.percentile or 0.0) for problem, timed in measured]
    shares = {
        at: share
        for at in PERCENTILES
        if (share := rate_by_problem((problem, float(rank >= at)) for problem, rank in ranked))
    }
    fastest = [(timed.time or 0.0, timed.references[0]) for _, timed in measured]
    times = [time / reference for time, reference in fastest if reference > 0]
    return TimedSolutions(
        run=side.label,
        shares=shares,
        solutions=len(measured),
        problems=len({problem for problem, _ in measured}),
        times=median(times) if times else None,
    )


def faster_than_references(
    solutions: Sequence[TimedSolutions], runs: Sequence[str], title: str
) -> charts.Spec:
    """Draw a line for each run: the share of solutions faster than a percentage of references.

    A dashed line shows the shares of references drawn at random.
    """
    import altair as alt

    along = alt.X(
        "percentile:Q",
        title="faster than this percentage of references",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(tickCount=5),
    )
    lines = charts.by_run(
        (
            {"run": each.run, "percentile": at, **charts.rate_row(share)}
            for each in solutions
            for at, share in each.shares.items()
        ),
        runs,
    ).encode(x=along)
    area = charts.share_up("low", "solutions")
    up = charts.share_up("value", "solutions")
    shown = charts.tooltip(
        *(charts.RUN, ("percentile", "faster than, % of references", ".0f")),
        *(("value", "solutions", ".1%"), *charts.ENDS, charts.PROBLEMS),
    )
    alike = charts.plotted([{"percentile": 0, "value": 1.0}, {"percentile": 100, "value": 0.0}])
    layers = alt.layer(
        alike.mark_line(strokeDash=[4, 4], strokeWidth=1.5, color=REFERENCE).encode(x=along, y=up),
        lines.mark_area().encode(y=area, y2="high:Q", opacity=alt.value(0.15)),
        lines.mark_line(strokeWidth=2).encode(y=up, tooltip=shown),
    )
    return charts.made(layers, title, height=charts.LINES_HEIGHT)


def fast_and_right(sides: Sequence[LabelledRun], title: str) -> charts.Spec:
    """Draw a point for each run that has both rates, with the intervals of both."""
    import altair as alt

    rows = [
        {"run": side.label}
        | charts.rate_row(rates[0], "solved_")
        | charts.rate_row(rates[1], "fast_")
        for side in sides
        if (rates := _both_rates(side.run.summary))
    ]
    fields = ("solved_value", "pass@1", ".1%"), ("fast_value", "Beyond@1, passed", ".3f")
    base = charts.by_run(rows, [side.label for side in sides]).encode(
        tooltip=charts.tooltip(charts.RUN, *fields)
    )

    def x(field: str) -> alt.X:
        return charts.share_along(f"solved_{field}", "pass@1")

    def y(field: str) -> alt.Y:
        axis = alt.Axis(format=".1f", tickCount=5)
        whole = alt.Scale(domain=[0, 1])
        return alt.Y(f"fast_{field}:Q", title="Beyond@1 of what passed", scale=whole, axis=axis)

    rule = base.mark_rule(strokeWidth=1.5)
    layers = alt.layer(
        rule.encode(x=x("low"), x2="solved_high:Q", y=y("value")),
        rule.encode(x=x("value"), y=y("low"), y2="fast_high:Q"),
        base.mark_point(filled=True, size=90).encode(x=x("value"), y=y("value")),
    )
    return charts.made(layers, title, height=SQUARE)
