"""`harness ls`: list runs and the trend of their scores."""

from pathlib import Path
from typing import Annotated

import typer


def ls(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where to look, folders below it included.")
    ] = Path("runs"),
    trend: Annotated[
        bool,
        typer.Option(
            "--trend",
            help="How scores went over time, for runs of the same problems and tests. Each is "
            "compared with the run before it of the same model, mode and prompt, or where there "
            "is none with the one before of any, by the score test, paired by problem; "
            "p < 0.05, which is not adjusted for many runs, is marked as regression or "
            "improvement.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List runs with their scores, the newest first."""
    from datetime import UTC, datetime

    from pydantic_core import to_json

    from harness.errors import RunDirectoryError
    from harness.features.show.run_list import list_runs, trends
    from harness.features.show.run_list_view import runs_view, trend_view
    from harness.run.store.discovery import find_runs
    from harness.terminal.summary_table import console, write_json
    from harness.text import printable_line

    if not folder.is_dir():
        raise RunDirectoryError(f"{folder} is no folder; name the one that your runs are in")
    listing = list_runs(find_runs(folder).paths)
    out = console()
    for complaint in listing.unreadable:
        console(error=True).print(printable_line(complaint), soft_wrap=True)
    found = list(trends(listing.runs)) if trend else []
    if as_json:
        told = {
            "runs": listing.runs,
            "trends": [
                {
                    "selection": each.selection,
                    "problems": each.problems,
                    "runs": [
                        {"path": run.path, "pass_at_1": run.pass_at_1, "change": change}
                        | ({"word": change.word} if change else {})
                        for run, change in each.runs
                    ],
                }
                for each in found
            ],
        }
        write_json(out, [to_json(told if trend else {"runs": listing.runs}).decode()])
    elif not listing.runs:
        out.print(f"no runs in {printable_line(str(folder))}")
    elif trend:
        for each in found:
            for part in trend_view(each, folder):
                out.print(part)
    else:
        out.print(runs_view(listing.runs, folder, datetime.now(UTC)))
