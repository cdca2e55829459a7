"""The command `harness rm`: delete runs, after a question."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion


def rm(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run directories.", autocompletion=completion.runs),
    ],
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete runs with all their files, after a question.

    Nothing is deleted if one of them cannot be.
    """
    from rich.filesize import decimal

    from harness.errors import UsageError
    from harness.figures import count
    from harness.run.store.deletion import delete_run, refusal, size_of
    from harness.run.store.directory import MANIFEST, read_manifest
    from harness.terminal.consoles import console
    from harness.text import printable_line

    named = {run.resolve(): run for run in runs}
    for run in named.values():
        if not (run / MANIFEST).is_file():
            read_manifest(run)  # says what it is instead
        if why := refusal(run):
            raise UsageError(f"{run}: {why}")
    out = console()
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("harness rm asks first, and there is no terminal; give --yes")
        for run in named.values():
            out.print(f"{printable_line(str(run))}  {decimal(size_of(run))}", soft_wrap=True)
        if not _agreed(f"Delete {count(len(named), 'run')}? [y/N] "):
            out.print("nothing is deleted")
            return
    for run in named.values():
        delete_run(run, str(run))
        out.print(f"deleted {printable_line(str(run))}", soft_wrap=True)


def _agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in {"y", "yes"}
    except EOFError:
        return False
