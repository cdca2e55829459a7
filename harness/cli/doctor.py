"""`harness doctor`: which sandbox can be had here, shown by trying to get out of each."""

import json
from typing import Annotated

import typer

from harness.cli import judging_flags


def doctor(
    require_isolation: judging_flags.RequireIsolation = "landlock",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try to escape from every sandbox that can be had here; show what held.

    Exits with 2 where none is as strong as --require-isolation says.
    """
    from harness.cli.exit_codes import OK
    from harness.cli.isolating import level
    from harness.errors import UsageError
    from harness.features.info.doctor import doctor_view
    from harness.sandbox.isolation import CANDIDATES, UNSAFE
    from harness.sandbox.strongest import try_out
    from harness.terminal.summary_table import console, write_json

    least = level(require_isolation)
    found = [try_out(isolation) for isolation in (*CANDIDATES, UNSAFE)]
    best = next((each for each in found if each.holds and each.isolation != UNSAFE), None)
    out = console()
    if as_json:
        dump = {
            "level": best.isolation.level if best else None,
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
    if best is None or best.isolation.level.rank < least.rank:
        raise UsageError(f"no sandbox of level {least} or above can be had here")
    raise typer.Exit(OK)
