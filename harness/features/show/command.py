"""`harness show`: print the samples and the summary of a stored run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.cli.result_flags import FILTERS, By, Details
from harness.cli.settings_flags import with_settings
from harness.run.summary.result_filter import read_filters


@with_settings(*FILTERS)
def show(
    settings: Mapping[str, Any],
    *,
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completion.runs)],
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="WHICH",
            help="Just these samples: solved, unsolved, pending, overfit (passed the public tests "
            "and failed a hidden one), or a verdict such as time_limit; repeat, or separate by "
            "commas.",
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="COLUMN",
            help="number (default), problem, difficulty, status, or the largest first: turns, "
            "time, tokens, cost.",
        ),
    ] = "number",
    details: Details = False,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print a run's samples and its summary, as they are on disk now."""
    chosen = read_filters(settings)
    from pydantic_core import to_json

    from harness.features.show.chosen_samples import shown_samples
    from harness.run.store.directory import RESULTS
    from harness.run.summary.groups import rates_by, read_kinds
    from harness.run.summary.loaded_run import read_run
    from harness.run.summary.result_filter import filtered
    from harness.terminal.run_screen import groups_view, hints, run_screen
    from harness.terminal.sample_table import sample_table
    from harness.terminal.summary_table import console, summary_view, write_json
    from harness.text import count

    kinds = read_kinds(by or ())
    found = filtered(read_run(run), chosen)
    samples = shown_samples(found, only or (), sort)
    out = console()
    if as_json:
        told = {
            "run": str(run),
            **({"filtered_by": found.filtered_by} if found.filtered_by else {}),
            "state": {**found.state.model_dump(mode="json"), "text": found.state.text},
            "repeated_lines": found.repeated,
            "summary": found.summary.model_dump(mode="json"),
            "samples": [sample.as_json() for sample in samples],
        }
        if kinds:
            told["by"] = {kind: rates_by(found.results, kind) for kind in kinds}
        write_json(out, [to_json(told).decode()])
        return
    if found.repeated:
        lines = count(found.repeated, "line")
        out.print(f"{lines} of {RESULTS} name a sample again; the last line of each counts")
    if samples:
        out.print(sample_table(sample.row for sample in samples))
    else:
        out.print("no such sample")
    if details:
        out.print(summary_view(found.summary))
        kinds = kinds or ("tag", "month")
    for part in groups_view(found.results, kinds):
        out.print(part)
    out.print(run_screen(found))
    for line in hints(str(run), samples=False)[details:]:
        out.print(line, crop=False)
