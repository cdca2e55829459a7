"""`harness doctor`: which sandboxes work on this machine."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.cli.settings_flags import with_settings
from harness.run.settings.spec import default_of
from harness.sandbox.isolation import CANDIDATES, MISSING, PROMISED, UNSAFE, Findings, Level
from harness.text import printable_line


def doctor_view(found: Sequence[Findings], best: Findings | None) -> RenderableType:
    """Show every sandbox that was tried, layer by layer, and which one is used.

    Args:
        found: findings, the strongest sandbox first.
        best: findings of the sandbox in use; None if none holds.
    """
    tried = [each for each in found if each.layers]
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
    """Show whether a layer held; a layer that the level does not promise may be open."""
    escape = found.layers.get(layer)
    if escape is None:
        return Text("-")
    if not escape:
        return Text("held", style="green")
    if layer in PROMISED[found.isolation.level]:
        return Text(f"FAILED: {printable_line(escape)}", style="bold red")
    return Text("open", style="yellow")


@with_settings("require_isolation")
def doctor(
    settings: Mapping[str, Any],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try to escape from every sandbox that this machine offers; show what held.

    Exits with 2 if none is as strong as --require-isolation says.
    """
    from harness.errors import OK, UsageError
    from harness.run.session.judging_session import level
    from harness.sandbox.strongest import probe_isolation
    from harness.terminal.summary_table import console, write_json

    least = level(settings.get("require_isolation", default_of("require_isolation")))
    found = [probe_isolation(isolation) for isolation in (*CANDIDATES, UNSAFE)]
    best = next((each for each in found if each.holds and each.isolation != UNSAFE), None)
    out = console()
    if as_json:
        dump = {
            "level": best.isolation.level if best else None,
            "cpp": _compiler(),
            "sandboxes": [
                {
                    "level": each.isolation.level,
                    "means": each.isolation.means,
                    "holds": each.holds,
                    "why_not": each.broken,
                    "layers": {layer: not escape for layer, escape in each.layers.items()},
                    "escapes": {layer: escape for layer, escape in each.layers.items() if escape},
                }
                for each in found
            ],
        }
        write_json(out, [json.dumps(dump)])
    else:
        out.print(doctor_view(found, best))
        out.print(Text(f"C++: {printable_line(_compiler()['words'])}"))
    if best is None or best.isolation.level.rank < least.rank:
        raise UsageError(f"no sandbox of level {least} or above can be had here")
    raise typer.Exit(OK)


def _compiler() -> dict[str, Any]:
    """Return whether C++ can be compiled, and by what, or what to install."""
    from harness.languages.cpp import FLAGS, compiler
    from harness.languages.language import MissingCompilerError

    try:
        return {"found": True, "words": f"{compiler().version}; {FLAGS}"}
    except MissingCompilerError as error:
        return {"found": False, "words": str(error)}
