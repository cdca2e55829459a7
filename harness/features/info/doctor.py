"""What held in each sandbox, as a table."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.sandbox.isolation import MISSING, PROMISED, Findings, Level
from harness.text import printable_line


def doctor_view(found: Sequence[Findings], best: Findings | None) -> RenderableType:
    """Every sandbox that was tried, layer by layer; then which of them is used.

    Args:
        found: strongest first.
        best: the one that is used; None where none holds.
    """
    tried = [each for each in found if each.layers]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("escape tried against")
    for each in tried:
        table.add_column(str(each.isolation))
    for layer in dict.fromkeys(layer for each in tried for layer in each.layers):
        table.add_row(layer, *(_cell(each, layer) for each in tried))
    parts: list[RenderableType] = [table]
    parts += (
        Text(f"{each.isolation} cannot be had: {printable_line(each.broken)}")
        for each in found
        if not each.holds
    )
    if best is None:
        parts.append(Text("no sandbox: nothing is judged here without --unsafe-no-sandbox"))
        return Group(*parts)
    parts.append(Text(f"in use: {best.isolation}", style="bold"))
    if best.isolation.level is not Level.NAMESPACES:
        parts.append(Text(f"missing: {MISSING[best.isolation.level]}"))
    return Group(*parts)


def _cell(found: Findings, layer: str) -> Text:
    """Whether a layer held; what a level does not promise may be open."""
    escape = found.layers.get(layer)
    if escape is None:
        return Text("-")
    if not escape:
        return Text("held", style="green")
    if layer in PROMISED[found.isolation.level]:
        return Text(f"FAILED: {printable_line(escape)}", style="bold red")
    return Text("open", style="yellow")
