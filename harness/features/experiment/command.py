"""The command `harness experiment`: compare models and modes, ranked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.cli.app import HelpCommand, HelpGroup
from harness.cli.settings_flags import PROBLEMS, Source, with_settings, with_source
from harness.cli.shared_flags import Notify, Observer

app = typer.Typer(cls=HelpGroup, rich_markup_mode=None)

MODEL = ("base_url", "api", "api_key_env", "header", "price", "prices")
BUDGET = ("max_cost", "max_tokens_total", "concurrency", "workers")

ARMS, STOP, RUN = "Cells", "When it may stop", "Run"


@app.callback(invoke_without_command=True)
@with_settings(*PROBLEMS, *MODEL, *BUDGET)
def experiment(
    settings: Mapping[str, Any],
    *,
    context: typer.Context,
    source: Source = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--model",
            help="A model, as `harness run -m` has it; repeat for several. Default: MODEL_ID, or "
            "the bundled recordings.",
            rich_help_panel=ARMS,
            autocompletion=completion.models,
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            "--mode",
            help="A mode, as `harness run --mode` has it; repeat for several. Default: "
            "single_shot and agentic.",
            rich_help_panel=ARMS,
            metavar="STRATEGY",
            autocompletion=completion.strategies,
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt",
            help="A bundled prompt set, or a folder with one; repeat for several.",
            rich_help_panel=ARMS,
            metavar="SET",
            autocompletion=completion.prompts,
        ),
    ] = None,
    shots: Annotated[
        str | None,
        typer.Option(
            "--shots",
            help="Samples of a problem in single shot: a number, or auto for as many as the "
            "agent's spend buys. Default: auto where there is another mode.",
            rich_help_panel=ARMS,
            metavar="auto|K",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Cells for each of these values of a setting of `harness run`, such as "
            "reasoning_effort=low,high; with one value, that setting for all cells. Repeat.",
            rich_help_panel=ARMS,
            metavar="KEY=A,B",
        ),
    ] = None,
    stop_when_decided: Annotated[
        bool,
        typer.Option(
            "--stop-when-decided",
            help="Ask problems in a random order, both cells of each, and stop once they differ. "
            "For two cells.",
            rich_help_panel=STOP,
        ),
    ] = False,
    level: Annotated[
        float | None,
        typer.Option(
            "--level",
            help="Chance to see a difference where there is none (0.05).",
            rich_help_panel=STOP,
            metavar="P",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            help="Stop once the interval of the difference is narrower than this.",
            rich_help_panel=STOP,
            metavar="POINTS",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            help="A larger grid, as YAML: keys of a run, and models, modes, prompts, samples, "
            "vary, cells, baseline.",
            rich_help_panel=RUN,
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="The experiment's directory; one that is there goes on. Default: a new one in "
            "runs/, or with the file's name.",
            rich_help_panel=RUN,
            metavar="DIR",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", help="Go on with an experiment.", rich_help_panel=RUN, metavar="DIR"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=RUN)
    ] = False,
    observer: Observer = None,
    notify: Notify = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the cells and what they may cost, and do nothing.",
            rich_help_panel=RUN,
        ),
    ] = False,
) -> None:
    """Compare ways to solve the same problems: an agent with single shots, model with model.

    Without flags the bundled recordings are played: no key, no network.
    """
    if context.invoked_subcommand is not None:
        return
    keys = with_source(dict(settings), source)
    cells: dict[str, Any] = {
        name: value
        for name, value in (
            *(("models", model), ("modes", mode), ("prompts", prompt)),
            *(("shots", shots), ("vary", vary)),
        )
        if value
    }
    from harness.features.experiment.experiment_run import Experimenting
    from harness.features.experiment.invocation import goal_of, invocation
    from harness.features.observers.attach import watchers_of

    goal = goal_of(decided=stop_when_decided, level=level, precision=precision)
    asked = invocation(keys, cells, goal, config=config, out=out, resume=resume)
    experimenting = Experimenting(as_json=as_json, watchers=watchers_of(observer, notify))
    raise typer.Exit(experimenting.start(asked, dry_run=dry_run))


@app.command(cls=HelpCommand)
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="An experiment's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the ranked table of an experiment again."""
    from harness.features.experiment.experiment_run import print_ranking
    from harness.features.experiment.ranking import rank
    from harness.terminal.summary_table import console

    print_ranking(console(), rank(directory), as_json=as_json)
