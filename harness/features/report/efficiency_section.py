"""The report's section on efficiency."""

from collections.abc import Iterator, Sequence

from harness.efficiency.labels import score, score_interval
from harness.features.compare.efficiency import Faster, efficiency_rows, faster
from harness.features.report import efficiency_charts
from harness.features.report.efficiency_figures import (
    MOST_PROBLEMS,
    ReferenceRow,
    standings,
    strips,
)
from harness.features.report.page_model import PageItem, Section, Table
from harness.features.report.pairs import Pairing
from harness.features.report.run_labels import LabelledRun, changed
from harness.text import figure, percent, printable_line

LEAD = (
    "Beyond is 1 for a solution as fast as the fastest reference, and 0 for one that is wrong or "
    "as slow as the slowest; the percentile says what share of the references it is faster than. "
    "References and solutions of a run are timed on the same machine, by CPU time."
)


def efficiency_section(sides: Sequence[LabelledRun], pairs: Sequence[Pairing]) -> Section:
    """Return the section; it is empty if no sample was timed."""
    if all(side.run.summary.efficiency is None for side in sides):
        return Section("efficiency", "Efficiency", "")
    labels = [side.label for side in sides]
    found = strips(sides)
    exhibits = [_means(sides), *_paired(pairs)]
    if found:
        exhibits.append(_strips(found, labels))
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
    return PageItem(
        "beyond",
        "How fast",
        "Means over problems with their 95 % intervals. A failed sample counts 0 but where passed "
        "ones alone do; problems whose references do not tell fast from slow are in no Beyond. "
        "Branches do not see what is done in C.",
        Table(("", *(side.label for side in sides)), tuple(rows)),
    )


def _paired(pairs: Sequence[Pairing]) -> Iterator[PageItem]:
    compared = ((pair, _faster(pair)) for pair in pairs)
    rows = [row for pair, found in compared if found for row in _pair_rows(pair, found)]
    if rows:
        yield PageItem(
            "beyond-pairs",
            "Differences in Beyond",
            "Paired by problem, over those whose references tell in both runs; with all samples a "
            "failed one counts 0, with passed ones it is speed alone. The interval is the "
            "bootstrap's over problems.",
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
    return faster(pair.base.run, pair.other.run, (one & other) - changed(pair.base, pair.other))


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


def _strips(found: Sequence[ReferenceRow], labels: Sequence[str]) -> PageItem:
    shown = found[:MOST_PROBLEMS]
    left = len(found) - len(shown)
    more = f" {left:,} more problems are not shown." if left else ""
    about = (
        "Strokes are references, diamonds solutions that passed; the further to the right, the "
        "slower. Problems with the slowest solutions come first; one left of 1 is faster than "
        f"every reference.{more}"
    )
    rows = tuple(
        (
            strip.problem,
            mark.run,
            mark.sample,
            figure(mark.time),
            f"{figure(mark.low)} to {figure(mark.high)}",
            score(mark.beyond),
            f"{len(strip.references):,}",
            figure(strip.references[-1]),
        )
        for strip in shown
        for mark in strip.marks
    )
    head = (
        *("problem", "run", "sample", "times the fastest", "95 % interval", "Beyond"),
        *("references", "the slowest of them"),
    )
    return PageItem(
        "among",
        "Solutions among the references",
        about,
        Table(head, rows),
        efficiency_charts.among_references(shown, labels, about),
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
        efficiency_charts.fast_and_right(found, labels, about),
    )
