"""`harness doctor`: which sandboxes, compilers and plug-ins work on this machine."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.cli.settings_flags import with_settings
from harness.features.info.plugin_states import READY, PluginState, plugin_states
from harness.frozen import Frozen
from harness.run.settings.spec import default_of
from harness.sandbox.isolation import CANDIDATES, MISSING, PROMISED, UNSAFE, Findings, Level
from harness.terminal.rich_tables import words_table
from harness.text import printable_line

SCHEMA = 1


class Compiler(Frozen):
    """Whether C++ can be compiled, and by what, or what to install."""

    found: bool
    words: str


class TriedSandbox(Frozen):
    """A level of isolation: what it means, which layers held, and how others were escaped."""

    level: Level
    means: str | None
    holds: bool
    why_not: str
    layers: dict[str, bool]
    escapes: dict[str, str]

    @classmethod
    def of(cls, found: Findings) -> "TriedSandbox":
        """Return what was found of one level."""
        return cls(
            level=found.isolation.level,
            means=found.isolation.means,
            holds=found.holds,
            why_not=found.broken,
            layers={layer: not escape for layer, escape in found.layers.items()},
            escapes={layer: escape for layer, escape in found.layers.items() if escape},
        )


class Machine(Frozen):
    """What `harness doctor --json` prints; `level` is that of the strongest sandbox that holds."""

    schema_version: int = SCHEMA
    level: Level | None
    cpp: Compiler
    sandboxes: tuple[TriedSandbox, ...]
    plugins: tuple[PluginState, ...]


@with_settings("require_isolation")
def doctor(
    settings: Mapping[str, Any],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try to escape from every sandbox that this machine offers; show what held.

    Installed plug-ins are listed, and loaded to see whether they can be used. Exits with 2 if no
    sandbox is as strong as --require-isolation says, or a plug-in cannot be used.
    """
    from harness.errors import OK, UsageError
    from harness.run.session.isolation import level
    from harness.sandbox.strongest import probe_isolation
    from harness.terminal.consoles import console, write_json

    least = level(settings.get("require_isolation", default_of("require_isolation")))
    findings = [probe_isolation(isolation) for isolation in (*CANDIDATES, UNSAFE)]
    best = next((each for each in findings if each.holds and each.isolation != UNSAFE), None)
    plugins = plugin_states()
    out = console()
    if as_json:
        machine = Machine(
            level=best.isolation.level if best else None,
            cpp=_compiler(),
            sandboxes=tuple(map(TriedSandbox.of, findings)),
            plugins=tuple(plugins),
        )
        write_json(out, [machine.model_dump_json()])
    else:
        out.print(doctor_view(findings, best))
        out.print(Text(f"C++: {printable_line(_compiler().words)}"))
        out.print(plugins_view(plugins))
    if best is None or best.isolation.level.rank < least.rank:
        raise UsageError(f"no sandbox of level {least} or above can be had here")
    unusable = any(each.state != READY for each in plugins)
    raise typer.Exit(UsageError.exit_code if unusable else OK)


def _compiler() -> Compiler:
    from harness.kinds.cpp.language import FLAGS, compiler
    from harness.languages.language import MissingCompilerError

    try:
        return Compiler(found=True, words=f"{compiler().version}; {FLAGS}")
    except MissingCompilerError as error:
        return Compiler(found=False, words=str(error))


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
