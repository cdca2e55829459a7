"""`harness experiment`: a grid of runs over the same problems, ranked."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import observer_flags

app = typer.Typer()


@app.callback(invoke_without_command=True)
def experiment(  # noqa: PLR0917 - the flags of a command
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            metavar="FILE",
            help="The grid, as YAML: keys of a run, and models, modes, prompts, samples, vary, "
            "cells, baseline.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The experiment's directory; one that is there goes on. Default: runs/, with the "
            "file's name.",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(metavar="USD", help="US dollars that all cells together may spend."),
    ] = None,
    max_tokens_total: Annotated[
        int | None,
        typer.Option(metavar="N", help="Input and output tokens that they may use."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    observer: observer_flags.Observer = None,
    notify: observer_flags.Notify = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the cells and what they may cost, and do nothing."),
    ] = False,
) -> None:
    """Run every cell of a grid over the same problems, and rank them against a baseline.

    The same command goes on with what was stopped, and does what a grown grid has more.
    """
    if context.invoked_subcommand is not None:
        return
    from harness.cli.settings_flags import given_settings
    from harness.errors import UsageError
    from harness.features.experiment.experiment_run import Experimenting
    from harness.features.observers.attach import watchers_of

    if config is None:
        raise UsageError("name a grid with -c FILE, or see `harness experiment show DIR`")
    flags = given_settings(max_cost=max_cost, max_tokens_total=max_tokens_total)
    experimenting = Experimenting(as_json=as_json, watchers=watchers_of(observer, notify))
    raise typer.Exit(experimenting.start(config, flags, out=out, dry_run=dry_run))


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="An experiment's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the ranked table of an experiment again."""
    from harness.features.experiment.experiment_run import print_ranking
    from harness.features.experiment.ranking import rank
    from harness.terminal.summary_table import console

    print_ranking(console(), rank(directory), as_json=as_json)
