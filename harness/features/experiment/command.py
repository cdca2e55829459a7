"""The command `harness experiment`: compare models and modes, ranked."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.agent.strategies.modes import LOOP, SHOT
from harness.cli import completion
from harness.cli.help_page import ADVANCED, HelpCommand, HelpGroup
from harness.cli.settings_flags import PROBLEMS, with_settings
from harness.cli.shared_flags import Notify, Observer, Source, with_progress_flags, with_source
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK
from harness.features.experiment.foretold import foretold, print_estimate
from harness.features.experiment.library import ExperimentRun
from harness.features.experiment.ranking import Ranking, rank
from harness.features.experiment.request import ExperimentRequest, as_flag
from harness.features.experiment.stopping_goal import goal_of
from harness.features.experiment.view import last_screen
from harness.features.observers.attach import Watcher, taking_leave, watchers_of
from harness.run.settings.found import found_settings
from harness.run.settings.given import Given
from harness.run.settings.keys import VariantKeys
from harness.run.settings.origins import Origin, found_in, found_line
from harness.run.settings.spec import RunSpec
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import TerminalReporter
from harness.terminal.run_progress import run_progress
from harness.text import printable_line

app = typer.Typer(cls=HelpGroup, rich_markup_mode=None)

MODEL = ("base_url", "api", "api_key_env", "header", "price", "prices")
BUDGET = ("max_cost", "max_tokens_total", "concurrency", "workers")

variant_option = partial(typer.Option, rich_help_panel="Variants")
stop_option = partial(typer.Option, rich_help_panel="When it may stop")
run_option = partial(typer.Option, rich_help_panel="Run")


@app.callback(invoke_without_command=True)
@with_settings(*PROBLEMS, *MODEL, *BUDGET, more=VariantKeys.__annotations__)
@with_progress_flags
def experiment(
    settings: Mapping[str, Any],
    *,
    context: typer.Context,
    source: Source = None,
    model: Annotated[
        list[str] | None,
        variant_option(
            "-m",
            "--model",
            help="A model, as `harness run -m` has it; repeat for several. Default: MODEL_ID, or "
            "the bundled recordings.",
            autocompletion=completion.models,
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        variant_option(
            "--mode",
            help="A mode, as `harness run --mode` has it; repeat for several. Default: "
            f"{SHOT.name} and {LOOP.name}.",
            metavar="STRATEGY",
            autocompletion=completion.strategies,
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        variant_option(
            "--prompt",
            help="A bundled prompt set, or a folder with one; repeat for several.",
            metavar="SET",
            autocompletion=completion.prompts,
        ),
    ] = None,
    shots: Annotated[
        str | None,
        variant_option(
            "--shots",
            help="Samples of a problem in single shot: a number, or auto for as many as the "
            "agent's spend buys. Default: auto where there is another mode.",
            metavar="auto|K",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        variant_option(
            "--vary",
            help="Variants for each of these values of a setting of `harness run`, such as "
            "reasoning_effort=low,high; with one value, that setting for all variants. Repeat.",
            metavar="KEY=A,B",
        ),
    ] = None,
    stop_when_decided: Annotated[
        bool,
        stop_option(
            "--stop-when-decided",
            help="Ask problems in a random order, both variants of each, and stop once they "
            "differ. For two variants.",
        ),
    ] = False,
    level: Annotated[
        float | None,
        stop_option(
            "--level",
            help="Chance to see a difference where there is none (0.05).",
            metavar="P",
        ),
        ADVANCED,
    ] = None,
    precision: Annotated[
        float | None,
        stop_option(
            "--precision",
            help="Stop once the interval of the difference is narrower than this.",
            metavar="POINTS",
        ),
        ADVANCED,
    ] = None,
    config: Annotated[
        Path | None,
        run_option(
            "-c",
            "--config",
            help="A larger grid, as YAML: keys of a run, and models, modes, prompts, samples, "
            "vary, variants, baseline.",
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        run_option(
            "-o",
            "--out",
            help="The experiment's directory; one that is there goes on. Default: a new one in "
            "runs/, or with the file's name.",
            metavar="DIR",
        ),
    ] = None,
    resume: Annotated[
        Path | None, run_option("--resume", help="Go on with an experiment.", metavar="DIR")
    ] = None,
    as_json: Annotated[bool, run_option("--json", help="Print one JSON object."), ADVANCED] = False,
    observer: Observer = None,
    notify: Notify = None,
    dry_run: Annotated[
        bool,
        run_option("--dry-run", help="Show the variants and what they may cost, and do nothing."),
    ] = False,
) -> None:
    """Compare ways to solve the same problems: an agent with single shots, model with model.

    Without flags the bundled recordings are played: no key, no network.
    """
    if context.invoked_subcommand is not None:
        return
    keys = with_source(settings, source)
    lists: dict[str, Any] = {
        name: value
        for name, value in (
            *(("models", model), ("modes", mode), ("prompts", prompt)),
            *(("shots", shots), ("vary", vary)),
        )
        if value
    }
    goal = goal_of(decided=stop_when_decided, level=level, precision=precision, say=as_flag)
    found = found_settings(os.environ, RunSpec.model_fields) if resume is None else Given({}, {})
    asked = ExperimentRequest.of(
        keys, lists, goal, config=config, out=out, resume=resume, found=found
    )
    origins = found_in((variant.spec for variant in asked.grid.variants), found)
    if line := found_line(origins, found):
        TerminalReporter(console(error=True)).notice(printable_line(line))
    watchers = watchers_of(observer, notify)
    code = run_experiment(asked, watchers, as_json=as_json, dry_run=dry_run, found=origins)
    raise typer.Exit(code)


@app.command(cls=HelpCommand)
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="An experiment's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the ranked table of an experiment again."""
    print_ranking(console(), rank(directory), as_json=as_json)


def run_experiment(
    asked: ExperimentRequest,
    watchers: Sequence[Watcher] = (),
    *,
    as_json: bool = False,
    dry_run: bool = False,
    found: Mapping[str, Origin] | None = None,
) -> int:
    """Start or resume an experiment, and print its ranking; return the exit code.

    Args:
        asked: which experiment, and when it may stop early.
        watchers: receive its events.
        as_json: whether to print one JSON object.
        dry_run: whether to print only the variants and an estimate of their cost.
        found: the settings that were found, which a dry run names.

    Raises:
        HarnessError: see `harness.experiment`.
    """
    out, err = console(), console(error=True)
    reporter = TerminalReporter(err)
    run = ExperimentRun(
        asked,
        reporter,
        run_progress(err, of_variant=True),
        reporter.notice,
        watchers=watchers,
    )
    run.controller.dry_run = dry_run
    prepared = run.prepare()
    if dry_run:
        variants = foretold(run.experiment, prepared)
        run.runs.close()
        print_estimate(out, variants, run.experiment, found or {}, as_json=as_json)
        return OK
    with taking_leave(run.watchers, err):
        run.carry_out(run.controller.carry_out)
        for line in run.remarks():
            err.print(line, soft_wrap=True)
    ranking = rank(asked.path)
    print_ranking(out, ranking, as_json=as_json)
    if run.controller.interrupts:
        return INTERRUPTED
    return INFRASTRUCTURE if run.runs.failed or ranking.measured_nothing else OK


def print_ranking(out: Console, ranking: Ranking, *, as_json: bool) -> None:
    """Print the answer and where the experiment is, or all of it as one JSON object."""
    if as_json:
        write_json(out, [ranking.model_dump_json()])
        return
    out.print(last_screen(ranking), crop=False)
    out.print(f"experiment directory: {printable_line(ranking.experiment)}", soft_wrap=True)
