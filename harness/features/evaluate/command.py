"""The command `harness run`: read its flags and start or resume a run."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.help_page import ADVANCED
from harness.cli.settings_flags import with_settings
from harness.cli.shared_flags import Notify, Observer, Source, with_progress_flags, with_source
from harness.errors import UsageError
from harness.run.settings.given import Given
from harness.run.settings.spec import RunSpec


@with_settings(*RunSpec.model_fields)
@with_progress_flags
def run(
    settings: Given,
    *,
    source: Source = None,
    agentic_mode: Annotated[
        bool,
        typer.Option(
            "--agentic-mode",
            help="Let the model iterate; the same as --mode agentic.",
            rich_help_panel="Mode",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Run directory; an existing run goes on. Default: a new one in runs/.",
            rich_help_panel="Run",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            help="Resume this run.",
            rich_help_panel="Run",
            metavar="RUN",
            autocompletion=completion.runs,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help="With --resume: only these of the pending samples: errored (begun before), "
            "unsolved (of problems without a solution), or ids. Repeat, or separate by commas.",
            rich_help_panel="Run",
            metavar="WHICH",
        ),
        ADVANCED,
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            help="YAML file with settings; flags and --set win over it.",
            rich_help_panel="Run",
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the summary as JSON.", rich_help_panel="Run"),
        ADVANCED,
    ] = False,
    fail_under: Annotated[
        str | None,
        typer.Option(
            "--fail-under",
            help="Exit with 1 if pass@1 is lower: 0.6 or 60%.",
            rich_help_panel="Run",
            metavar="RATE",
        ),
        ADVANCED,
    ] = None,
    observer: Observer = None,
    notify: Notify = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print what would be done and what it may cost, and do nothing.",
            rich_help_panel="Run",
        ),
    ] = False,
) -> None:
    """Solve problems with a model, and grade its solutions on all tests.

    Without flags it replays the bundled recordings: no key, no network.
    """
    from harness.sandbox.strongest import choose_early

    if not dry_run:
        choose_early()
    from harness.features.evaluate.start_or_resume import Running
    from harness.terminal.gate import read_rate

    flags = with_source(settings, source)
    if agentic_mode:
        mode = "agentic" if "mode" in flags.names else flags.get("mode", "agentic")
        if mode != "agentic":
            raise UsageError(f"--agentic-mode and --mode {mode} contradict each other; give one")
        flags = flags.with_flags(mode=mode)
    least, watchers = read_rate(fail_under), []
    if observer or notify:
        from harness.features.observers.attach import watchers_of

        watchers = watchers_of(observer, notify)
    running = Running(as_json=as_json, fail_under=least, watchers=watchers, dry_run=dry_run)
    if resume is not None:
        code = running.resume(resume, flags, out=out, config=config, only=only or ())
    else:
        code = running.start(flags, out=out, config=config, only=only or ())
    raise typer.Exit(code)
