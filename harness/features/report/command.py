"""What `harness report` does: runs are read, and their page is written whole or not at all."""

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.errors import UsageError
from harness.features.report.page import report_page
from harness.run.summary.loaded_run import read_run


def write_report(runs: Sequence[Path], out: Path, *, cutoff: str | None, title: str) -> None:
    """Write the report of some runs.

    Args:
        runs: their directories.
        out: the file; one that is there is replaced.
        cutoff: `2024-05`, the last month that the models were trained on.
        title: of the page.

    Raises:
        UsageError: the cut-off is no month, or the file cannot be written.
        RunDirectoryError: a directory is no run.
    """
    month = None if cutoff is None else _month(cutoff)
    if out.is_dir():
        raise UsageError(f"{out} is a directory; -o takes the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: there is no directory {out.parent}")
    page = report_page([read_run(run) for run in runs], title=title, cutoff=month)
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(out)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


def _month(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError as error:
        raise UsageError(f"--cutoff {text!r} is no month; write it as 2024-05") from error


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories.", metavar="RUN…", autocompletion=completion.runs),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The file to write.", metavar="FILE")
    ] = Path("report.html"),
    cutoff: Annotated[
        str | None,
        typer.Option(help="The last month the models were trained on.", metavar="YYYY-MM"),
    ] = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Report",
) -> None:
    """Write runs as one HTML file that opens offline: charts, comparison, a table of samples."""
    from harness.terminal.summary_table import console

    write_report(runs, out, cutoff=cutoff, title=title)
    console().print(f"report: {out}", soft_wrap=True)
