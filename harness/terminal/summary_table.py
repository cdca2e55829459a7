"""The tables of a run for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table

from harness.run.summary.groups import FEWEST
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate
from harness.terminal.curve_view import CurveView
from harness.terminal.efficiency_table import efficiency_table
from harness.terminal.rich_tables import facts, rates_table
from harness.terminal.summary_facts import summary_facts


def summary_view(
    summary: Summary, *, imported: bool = False, recorded: bool = False
) -> RenderableType:
    """Return a run's rates, breakdowns and counts.

    Args:
        summary: summary of the run.
        imported: whether another program made the run, so that it cannot be resumed.
        recorded: whether answers were played again, so that no limit of theirs can be changed.
    """
    parts: list[RenderableType] = [_headline(summary)] if summary.graded else []
    if summary.curve is not None and summary.curve.iterated:
        parts.append(CurveView(summary.curve))
    for title, rates in (("difficulty", summary.by_difficulty), ("platform", summary.by_platform)):
        shown = [each for each in rates.items() if each[1].problems >= FEWEST]
        if shown:
            parts.append(rates_table(*shown, title=f"by {title}"))
    if summary.efficiency is not None:
        parts.append(efficiency_table(summary.efficiency))
    return Group(*parts, facts(summary_facts(summary, imported=imported, recorded=recorded)))


def _headline(summary: Summary) -> Table:
    curve = summary.curve
    return rates_table(
        ("pass@1", summary.pass_at_1),
        ("  first attempt", curve.first_write if curve and curve.iterated else None),
        ("  with hidden tests", summary.with_hidden),
        ("  without known issues", summary.without_known_issues),
        ("  by the source's own rule", summary.by_source_rule),
        ("  without fallback", summary.without_fallback),
        *several_rates(summary),
    )


def several_rates(summary: Summary) -> Iterator[tuple[str, Rate | None]]:
    """Yield pass@k and pass^k, if there are several samples per problem."""
    yield from ((f"pass@{each.k}", each.any_right) for each in summary.of_several)
    yield from ((f"pass^{each.k}", each.all_right) for each in summary.of_several)
