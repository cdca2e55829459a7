"""Terminal table of a calibrated benchmark."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from harness.efficiency.efficiency_summary import cpu_time
from harness.features.calibrate.calibration import CalibratedProblem, CalibrationSummary
from harness.terminal.columns import facts, figures_table
from harness.text import count, printable_line

LISTED = 40


def calibration_view(
    summary: CalibrationSummary, results: Sequence[CalibratedProblem]
) -> RenderableType:
    """Show each problem's references, and how many problems tell fast from slow."""
    shown = results[:LISTED]
    named_times = any(map(_foreign, shown))
    columns = ("problem", "references", "fastest", "slowest", "ratio")
    table = figures_table(*columns, *(("data set's own times",) if named_times else ()))
    for each in shown:
        name = Text(printable_line(each.problem_id))
        failed = f", {each.failed} failed" if each.failed else ""
        if not each.references:
            table.add_row(name, f"0{failed}", "", "", printable_line(each.failure or each.lack))
            continue
        fastest, slowest = each.references[0], each.references[-1]
        ratio = f"{slowest.time / fastest.time:.2f}" if fastest.time else ""
        table.add_row(
            name,
            f"{len(each.references)}{failed}",
            cpu_time(fastest.cpu_s),
            cpu_time(slowest.cpu_s),
            f"{ratio} ({each.lack})" if each.lack else ratio,
            *((printable_line(_foreign(each)),) if named_times else ()),
        )
    parts: list[RenderableType] = [table]
    if len(results) > LISTED:
        parts.append(Text(f"and {len(results) - LISTED:,} more; --json lists all"))
    told = f"{summary.telling:,} of {count(summary.problems, 'problem')} tell fast from slow"
    lacking = ", ".join(f"{why} {number:,}" for why, number in summary.lacking.items())
    named = [("scales", f"{told}{f'; {lacking}' if lacking else ''}")]
    named.append(("references", f"{summary.references:,} timed"))
    named.append(("machine", f"{summary.machine}; the times hold for it alone"))
    parts.append(facts(named))
    return Group(*parts)


def _foreign(problem: CalibratedProblem) -> str:
    """Return the data set's own run times of the fastest and the slowest reference, if any."""
    if not problem.references:
        return ""
    first, last = problem.references[0].foreign, problem.references[-1].foreign
    return f"{first} … {last}" if first or last else ""
