"""The commands `harness tune` and `harness tune show`."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli import completion
from harness.cli.help_page import ADVANCED, HelpCommand, HelpGroup
from harness.cli.settings_flags import with_settings
from harness.cli.shared_flags import Source, with_progress_flags, with_source
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK
from harness.features.experiment.foretold import VariantEstimate, money
from harness.features.observers.observer_events import watched
from harness.features.tune.outcome import TuneOutcome, outcome_of
from harness.features.tune.split import Sizes
from harness.features.tune.tune_file import TuneOptions
from harness.features.tune.tuning import TuneRequest, Tuning
from harness.features.tune.view import tune_view
from harness.figures import number_range
from harness.frozen import Frozen
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import PreparedRun
from harness.run.settings.spec import RunSpec
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import TerminalReporter
from harness.terminal.summary_table import facts
from harness.text import printable_line

SCHEMA = 1
LEFT_OUT = frozenset(
    {
        *("agent_command", "agent_read", "agent_env", "agent_memory", "agent_without_namespace"),
        *("batch", "efficiency", "run_tests", "shard", "timing"),
        *("language", "cpp_flags"),
    }
)
"""Settings of a run that do not go with many small runs, or leave nothing to score."""

KEYS = tuple(key for key in RunSpec.model_fields if key not in LEFT_OUT)

app = typer.Typer(cls=HelpGroup, rich_markup_mode=None)

search_option = partial(typer.Option, rich_help_panel="Search")
run_option = partial(typer.Option, rich_help_panel="Run")


@app.callback(invoke_without_command=True)
@with_settings(*KEYS)
@with_progress_flags
def tune(
    settings: Mapping[str, Any],
    *,
    typer_context: typer.Context,
    source: Source = None,
    reflection_model: Annotated[
        str | None,
        search_option(
            "--reflection-model",
            help="The model that proposes templates. Default: the model itself.",
            autocompletion=completion.models,
        ),
    ] = None,
    reflection_base_url: Annotated[
        str | None,
        search_option(
            "--reflection-base-url",
            help="Base URL of the reflection model. Default: that of the model.",
            metavar="URL",
        ),
        ADVANCED,
    ] = None,
    train: Annotated[
        int | None,
        search_option(
            "--train",
            help="Problems whose failures the reflection model sees. Default: 30, or a quarter.",
            min=2,
        ),
        ADVANCED,
    ] = None,
    selection: Annotated[
        int | None,
        search_option(
            "--selection",
            help="Problems that choose among candidates. Default: 30, or a quarter.",
            min=2,
        ),
        ADVANCED,
    ] = None,
    test: Annotated[
        int | None,
        search_option(
            "--test",
            help="Problems asked once, at the end. Default: 60, or a half.",
            min=2,
        ),
    ] = None,
    test_from: Annotated[
        datetime | None,
        search_option(
            "--test-from",
            help="First release date of the test problems; the others are older.",
            formats=["%Y-%m-%d"],
            metavar="DATE",
        ),
        ADVANCED,
    ] = None,
    max_evaluations: Annotated[
        int | None,
        search_option(
            "--max-evaluations",
            help="Most samples of candidates in the search. Default: 300 without a budget.",
            min=1,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        run_option(
            "-o",
            "--out",
            help="The tuning's directory; one that is there goes on. Default: a new one in runs/.",
            metavar="DIR",
        ),
    ] = None,
    resume: Annotated[
        Path | None, run_option("--resume", help="Go on with a tuning.", metavar="DIR")
    ] = None,
    as_json: Annotated[bool, run_option("--json", help="Print one JSON object."), ADVANCED] = False,
    dry_run: Annotated[
        bool,
        run_option("--dry-run", help="Show the split and what it may cost, and do nothing."),
    ] = False,
) -> None:
    """Search for a prompt set with which a model solves more problems, and measure the gain.

    The gain is measured on problems that the search never saw.
    """
    if typer_context.invoked_subcommand is not None:
        return
    flags = with_source(settings, source)
    options = TuneOptions(
        reflection_model=reflection_model,
        reflection_base_url=reflection_base_url,
        sizes=Sizes(train=train, selection=selection, test=test),
        test_from=None if test_from is None else test_from.date(),
        max_evaluations=max_evaluations,
    )
    asked = TuneRequest.of(flags, options, out, resume)
    raise typer.Exit(run_tuning(asked, as_json=as_json, dry_run=dry_run))


@app.command(cls=HelpCommand)
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A tuning's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the candidates of a tuning, their scores and the gain."""
    print_outcome(console(), outcome_of(directory), as_json=as_json)


def run_tuning(asked: TuneRequest, *, as_json: bool = False, dry_run: bool = False) -> int:
    """Begin or go on with a tuning, and print what it came to; return the exit code.

    Raises:
        HarnessError: a setting cannot be used, another process is at work on it, or a write failed.
    """
    out, err = console(), console(error=True)
    reporter = TerminalReporter(err)
    controller = RunController(reporter, watched(None, progress=None))
    controller.dry_run = dry_run

    def tell(line: str) -> None:
        reporter.notice(printable_line(line))

    tuning = Tuning(asked, controller, tell)
    prepared = tuning.prepare()
    tuning.close(prepared)
    if dry_run:
        _print_estimate(out, tuning, prepared, as_json=as_json)
        return OK
    controller.announce(prepared)
    outcome = tuning.carry_out()
    for line in tuning.remarks(outcome):
        err.print(printable_line(line), soft_wrap=True)
    print_outcome(out, outcome, as_json=as_json)
    if outcome.ended == "interrupted":
        return INTERRUPTED
    return INFRASTRUCTURE if outcome.ended == "pending" else OK


def print_outcome(out: Console, outcome: TuneOutcome, *, as_json: bool) -> None:
    """Print the tree of candidates and the sentence, or all of it as one JSON object."""
    if as_json:
        write_json(out, [outcome.model_dump_json()])
        return
    out.print(tune_view(outcome), crop=False)


class ForetoldTuning(Frozen):
    """What `harness tune --dry-run --json` prints: problems of each part, and two estimates."""

    schema_version: int = SCHEMA
    split: dict[str, int]
    start: VariantEstimate
    test: VariantEstimate


def _print_estimate(out: Console, tuning: Tuning, prepared: PreparedRun, *, as_json: bool) -> None:
    """Print the split, and what the start and the test part may cost."""
    split = tuning.tune.split
    asked = set(split.selection)
    samples = [each for each in prepared.plan.samples if each[0].id in asked]
    start = VariantEstimate.of("the start", prepared._replace(samples=samples))
    test = replace(start.times(2 * len(split.test) / len(split.selection)), name="the test part")
    parts = {part: len(ids) for part, ids in split}
    if as_json:
        write_json(out, [ForetoldTuning(split=parts, start=start, test=test).model_dump_json()])
        return
    rows = [
        ("problems", ", ".join(f"{number} {part}" for part, number in parts.items())),
        ("the start", _requests(start)),
        ("the test part", _requests(test)),
        ("the search", "until --max-evaluations, or what the test part leaves of a budget"),
    ]
    out.print(facts(rows))


def _requests(part: VariantEstimate) -> str:
    cost = "cost unknown" if part.cost is None else money(part.cost)
    return f"{number_range(*part.requests)} requests, {cost}"
