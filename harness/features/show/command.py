"""`harness show`: the table of a run, afterwards."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion


def show(
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
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print a run's samples and its summary, as they are on disk now."""
    from pydantic_core import to_json
    from rich.text import Text

    from harness.features.show.chosen_samples import shown_samples
    from harness.run.store.directory import RESULTS
    from harness.run.summary.loaded_run import read_run
    from harness.terminal.sample_table import sample_table
    from harness.terminal.summary_table import console, summary_view, write_json
    from harness.text import count, printable_line

    found = read_run(run)
    samples = shown_samples(found, only or (), sort)
    out = console()
    if as_json:
        told = {
            "run": str(run),
            "state": {**found.state.model_dump(mode="json"), "text": found.state.text},
            "repeated_lines": found.repeated,
            "summary": found.summary.model_dump(mode="json"),
            "samples": [sample.as_json() for sample in samples],
        }
        write_json(out, [to_json(told).decode()])
        return
    spec = found.spec
    told = f"{spec['model']}, {spec['mode']}, prompt {found.manifest['prompt']['name']}"
    out.print(Text(printable_line(told)))
    if found.state.word != "done":
        out.print(Text(printable_line(found.state.text), style="bold"))
    if found.repeated:
        lines = count(found.repeated, "line")
        out.print(f"{lines} of {RESULTS} name a sample again; the last line of each counts")
    if samples:
        out.print(sample_table(sample.row for sample in samples))
    else:
        out.print("no such sample")
    out.print(summary_view(found.summary))
