"""The report's section on efficiency."""

from collections.abc import Iterator, Sequence

from harness.efficiency.efficiency_summary import score, score_interval
from harness.features.compare.differences import changed_problems
from harness.features.compare.efficiency import Faster, efficiency_rows, faster
from harness.features.report import charts
from harness.features.report.efficiency_figures import (
    FasterShare,
    Standing,
    TimedSolutions,
    standings,
    timed_solutions,
)
from harness.features.report.labelled_runs import LabelledRun, Pairing
from harness.features.report.page_model import PageItem, Section, Table
from harness.text import count, figure, percent, printable_line

LEAD = (
    "Beyond is 1 for a solution as fast as the fastest reference, and 0 for one that is wrong or "
    "as slow as the slowest; the percentile says what share of the references it is faster than. "
    "References and solutions of a run are timed on the same machine, by CPU time."
)

FASTER_THAN = (25, 50, 75, 90)
"""Percent of the references: columns of the table below the chart."""


def efficiency_section(sides: Sequence[LabelledRun], pairs: Sequence[Pairing]) -> Section:
    """Return the section; it is empty if no sample was timed."""
    if all(side.run.summary.efficiency is None for side in sides):
        return Section("efficiency", "Efficiency", "")
    labels = [side.label for side in sides]
    found = timed_solutions(sides)
    exhibits = [_means(sides), *_paired(pairs)]
    if found:
        exhibits.append(_faster_than(found, labels))
    if len(standings(sides)) > 1:
        exhibits.append(_standings(sides, labels))
    return Section("efficiency", "Efficiency", LEAD, tuple(exhibits))


def _means(sides: Sequence[LabelledRun]) -> PageItem:
    summaries = [side.run.summary.efficiency for side in sides]
    whys = dict.fromkeys(why for found in summaries if found for why in found.untold)
    remarks = dict.fromkeys(word for found in summaries if found for word in found.remarks)
    counted = [
        ("samples measured", [f"{s.measured:,}" if s else "unknown" for s in summaries]),
        ("measured by", [", ".join(s.timings) if s else "unknown" for s in summaries]),
        *(
            (
                f"problems of which {why}",
                [f"{s.untold.get(why, 0):,}" if s else "unknown" for s in summaries],
            )
            for why in whys
        ),
        *(
            (
                f"samples: {word}",
                [f"{s.remarks.get(word, 0):,}" if s else "unknown" for s in summaries],
            )
            for word in map(printable_line, remarks)
        ),
    ]
    rows = [(name, *cells) for name, cells in (*efficiency_rows(summaries), *counted)]
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
    rows = [row for pair, found in compared if found for row in _pair_rows(pair, found)]
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


def _pair_rows(pair: Pairing, found: Faster) -> Iterator[tuple[str, ...]]:
    for name, paired in (("all", found.every), ("passed", found.passed)):
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


def _faster_than(found: Sequence[TimedSolutions], labels: Sequence[str]) -> PageItem:
    about = (
        "The share of solutions that are faster than at least this percentage of their problem's "
        "references, with 95 % intervals; each problem counts the same. A run above the dashed "
        "line is faster than references drawn at random. Only solutions that passed count, of "
        "problems with a Beyond score: "
        + ", ".join(
            f"{each.run} {count(each.solutions, 'solution')} of {count(each.problems, 'problem')}"
            for each in found
        )
        + "."
    )
    rows = tuple(
        (
            each.run,
            f"{each.problems:,}",
            f"{each.solutions:,}",
            *(percent(each.at(least).value) for least in FASTER_THAN),
            figure(each.times),
        )
        for each in found
    )
    head = (
        *("run", "problems", "solutions"),
        *(f"faster than {least} % of references" for least in FASTER_THAN),
        "median, in times of the fastest reference",
    )
    shares = [share for each in found for share in each.shares]
    return PageItem(
        "among",
        "How many references solutions are faster than",
        about,
        Table(head, rows),
        faster_than_references(shares, labels, about),
    )


def _standings(sides: Sequence[LabelledRun], labels: Sequence[str]) -> PageItem:
    found = standings(sides)
    about = (
        "How much a run solves, and how fast what it solves is; lines are 95 % intervals. A run "
        "that solves more is timed on more, and harder, problems."
    )
    rows = tuple(
        (
            each.run,
            percent(each.solved.value),
            score(each.fast.value),
            score_interval(each.fast.low, each.fast.high),
        )
        for each in found
    )
    return PageItem(
        "fast-and-right",
        "Solved against fast",
        about,
        Table(("run", "pass@1", "Beyond@1, passed", "95 % interval"), rows),
        fast_and_right(found, labels, about),
    )


REFERENCE = "#77828f"
SQUARE = 300


def faster_than_references(
    shares: Sequence[FasterShare], runs: Sequence[str], title: str
) -> charts.Spec:
    """Draw a line for each run: the share of solutions faster than a percentage of references.

    A dashed line shows the shares of references drawn at random.
    """
    import altair as alt

    picked = charts.legend_pick()
    along = alt.X(
        "percentile:Q",
        title="faster than this percentage of references",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(tickCount=5),
    )

    base = charts.plotted(
        [
            {"run": each.run, "percentile": each.percentile}
            | {key: getattr(each.share, key) for key in ("value", "low", "high", "problems")}
            for each in shares
        ]
    ).encode(x=along, color=charts.run_colour(runs))
    alike = charts.plotted([{"percentile": 0, "value": 1.0}, {"percentile": 100, "value": 0.0}])
    return charts.made(
        alt.layer(
            alike.mark_line(strokeDash=[4, 4], strokeWidth=1.5, color=REFERENCE).encode(
                x=along, y=charts.share_up("value", "solutions")
            ),
            base.mark_area(opacity=0.15).encode(y=charts.share_up("low", "solutions"), y2="high:Q"),
            base.mark_line(strokeWidth=2)
            .encode(
                y=charts.share_up("value", "solutions"),
                opacity=charts.faded_but(picked),
                tooltip=[
                    alt.Tooltip("run:N"),
                    alt.Tooltip("percentile:Q", title="faster than, % of references"),
                    alt.Tooltip("value:Q", title="solutions", format=".1%"),
                    alt.Tooltip("low:Q", title="95 % from", format=".1%"),
                    alt.Tooltip("high:Q", title="to", format=".1%"),
                    alt.Tooltip("problems:Q"),
                ],
            )
            .add_params(picked),
        ),
        title,
        height=charts.LINES_HEIGHT,
    )


def fast_and_right(standings: Sequence[Standing], runs: Sequence[str], title: str) -> charts.Spec:
    """Draw a point for each run, with the intervals of both rates."""
    import altair as alt

    picked = charts.legend_pick()
    rows = [
        {
            "run": each.run,
            **{f"solved_{key}": getattr(each.solved, key) for key in ("value", "low", "high")},
            **{f"fast_{key}": getattr(each.fast, key) for key in ("value", "low", "high")},
        }
        for each in standings
    ]
    base = charts.plotted(rows).encode(
        color=charts.run_colour(runs),
        opacity=charts.faded_but(picked),
        tooltip=[
            alt.Tooltip("run:N"),
            alt.Tooltip("solved_value:Q", title="pass@1", format=".1%"),
            alt.Tooltip("fast_value:Q", title="Beyond@1, passed", format=".3f"),
        ],
    )

    def x(field: str) -> alt.X:
        return charts.share_along(f"solved_{field}", "pass@1")

    def y(field: str) -> alt.Y:
        axis = alt.Axis(format=".1f", tickCount=5)
        whole = alt.Scale(domain=[0, 1])
        return alt.Y(f"fast_{field}:Q", title="Beyond@1 of what passed", scale=whole, axis=axis)

    return charts.made(
        alt.layer(
            base.mark_rule(strokeWidth=1.5).encode(x=x("low"), x2="solved_high:Q", y=y("value")),
            base.mark_rule(strokeWidth=1.5).encode(x=x("value"), y=y("low"), y2="fast_high:Q"),
            base.mark_point(filled=True, size=90)
            .encode(x=x("value"), y=y("value"))
            .add_params(picked),
        ),
        title,
        height=SQUARE,
    )
