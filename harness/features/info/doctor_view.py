"""The tables of `harness doctor`."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.features.info.plugin_states import PluginState
from harness.sandbox.isolation import MISSING, PROMISED, Findings, Level
from harness.terminal.rich_tables import words_table
from harness.text import printable_line


def doctor_view(findings: Sequence[Findings], best: Findings | None) -> RenderableType:
    """Show every sandbox that was tried, layer by layer, and which one is used.

    Args:
        findings: findings, the strongest sandbox first.
        best: findings of the sandbox in use; None if none holds.
    """
    tried = [each for each in findings if each.layers]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("layer attacked")
    for each in tried:
        table.add_column(str(each.isolation))
    for layer in dict.fromkeys(layer for each in tried for layer in each.layers):
        table.add_row(layer, *(_cell(each, layer) for each in tried))
    parts: list[RenderableType] = [table]
    parts += (
        [Text("held: the attack failed; open: this sandbox does not stop it\n")] if tried else []
    )
    parts += (
        Text(f"sandbox {each.isolation} is not available: {printable_line(each.broken)}")
        for each in findings
        if not each.holds
    )
    if best is None:
        parts.append(Text("no sandbox: nothing is judged here without --unsafe-no-sandbox"))
        return Group(*parts)
    parts.append(Text(f"in use: {best.isolation}", style="bold"))
    if best.isolation.level is not Level.NAMESPACES:
        parts.append(Text(f"missing: {MISSING[best.isolation.level]}"))
    return Group(*parts)


def plugins_view(plugins: Sequence[PluginState]) -> RenderableType:
    """Show the installed plug-ins, and whether each can be used."""
    if not plugins:
        return Text("plug-ins: none")
    rows = [
        (each.kind, each.name, f"{each.package} {each.version}", each.state) for each in plugins
    ]
    return words_table(("plug-in", "name", "package", "state"), rows)


def _cell(findings: Findings, layer: str) -> Text:
    """Show whether a layer held; a layer that the level does not promise may be open."""
    escape = findings.layers.get(layer)
    if escape is None:
        return Text("-")
    if not escape:
        return Text("held", style="green")
    if layer in PROMISED[findings.isolation.level]:
        return Text(f"FAILED: {printable_line(escape)}", style="bold red")
    return Text("open", style="yellow")
