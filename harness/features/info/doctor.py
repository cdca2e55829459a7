"""`harness doctor`: which sandboxes, compilers and plug-ins work on this machine."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from harness.cli.settings_flags import with_settings
from harness.features.info.doctor_view import doctor_view, plugins_view
from harness.run.settings.spec import default_of
from harness.sandbox.isolation import CANDIDATES, UNSAFE
from harness.text import printable_line


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
    from harness.features.info.plugin_states import READY, plugin_states
    from harness.run.session.isolation import level
    from harness.sandbox.strongest import probe_isolation
    from harness.terminal.consoles import console, write_json

    least = level(settings.get("require_isolation", default_of("require_isolation")))
    findings = [probe_isolation(isolation) for isolation in (*CANDIDATES, UNSAFE)]
    best = next((each for each in findings if each.holds and each.isolation != UNSAFE), None)
    plugins = plugin_states()
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
                for each in findings
            ],
            "plugins": [each._asdict() for each in plugins],
        }
        write_json(out, [json.dumps(dump)])
    else:
        out.print(doctor_view(findings, best))
        out.print(Text(f"C++: {printable_line(_compiler()['words'])}"))
        out.print(plugins_view(plugins))
    if best is None or best.isolation.level.rank < least.rank:
        raise UsageError(f"no sandbox of level {least} or above can be had here")
    unusable = any(each.state != READY for each in plugins)
    raise typer.Exit(UsageError.exit_code if unusable else OK)


def _compiler() -> dict[str, Any]:
    """Return whether C++ can be compiled, and by what, or what to install."""
    from harness.languages.cpp import FLAGS, compiler
    from harness.languages.language import MissingCompilerError

    try:
        return {"found": True, "words": f"{compiler().version}; {FLAGS}"}
    except MissingCompilerError as error:
        return {"found": False, "words": str(error)}
