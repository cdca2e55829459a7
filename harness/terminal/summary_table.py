"""The tables of a run for a terminal."""

from rich.console import Group, RenderableType

from harness.run.summary.fact import Screen, facts_of
from harness.run.summary.groups import FEWEST
from harness.run.summary.summary import Summary
from harness.terminal.curve_view import CurveView
from harness.terminal.part_view import shown_parts
from harness.terminal.rich_tables import facts, rates_table


def summary_view(summary: Summary) -> RenderableType:
    """Return a run's rates, breakdowns and counts."""
    told = [fact for fact in facts_of([summary]) if Screen.DETAILS in fact.shown]
    rates = [(fact.name, fact.of(summary)) for fact in told if fact.is_rate_of(summary)]
    parts: list[RenderableType] = [rates_table(*rates)] if summary.graded else []
    if summary.curve is not None and summary.curve.iterated:
        parts.append(CurveView(summary.curve))
    for title, by in (("difficulty", summary.by_difficulty), ("platform", summary.by_platform)):
        shown = [each for each in by.items() if each[1].problems >= FEWEST]
        if shown:
            parts.append(rates_table(*shown, title=f"by {title}"))
    parts += [view.table(part) for _, view, part in shown_parts(summary)]
    return Group(*parts, facts((fact.name, line) for fact in told for line in fact.lines(summary)))
