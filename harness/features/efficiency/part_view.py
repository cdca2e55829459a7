"""Efficiency of a sample on a terminal: its columns and its line."""

from operator import attrgetter

from harness.features.efficiency.efficiency_summary import cpu_time, rank
from harness.features.efficiency.efficiency_table import efficiency_table
from harness.features.efficiency.scale import Efficiency
from harness.figures import score
from harness.terminal.columns import Column
from harness.terminal.part_view import PartView

COLUMNS = (
    Column("CPU time", right=True, leaves=6),
    Column("Pctl", right=True, leaves=7),
    Column("B@1", right=True, leaves=8),
)
"""Columns of timed solutions; the others are dropped before them."""


def _cells(efficiency: Efficiency) -> tuple[str, str, str] | None:
    """Return the texts of `COLUMNS`; a failed solution has no time."""
    if efficiency.cpu_s is None:
        return None
    return cpu_time(efficiency.cpu_s), rank(efficiency.percentile), score(efficiency.beyond)


def _line(efficiency: Efficiency) -> str:
    """Return the efficiency of a solution that passed."""
    if (cells := _cells(efficiency)) is None:
        return ""
    time, place, beyond = cells
    return f"  CPU {time}  {place}  B@1 {beyond}"


VIEW = PartView(
    columns=COLUMNS,
    cells=_cells,
    line=_line,
    shared={"references"},
    share=attrgetter("beyond"),
    table=efficiency_table,
)
