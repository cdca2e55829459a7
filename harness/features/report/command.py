"""`harness report`: read runs, write one HTML file."""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion
from harness.cli.settings_flags import RESULT_FILTERS, with_settings
from harness.errors import UsageError
from harness.features.experiment.experiment_file import FILE, read_experiment
from harness.features.experiment.ranking import Ranking, rank
from harness.features.report.page import report_page
from harness.run.summary.groups import EVERYTHING, filtered, read_filters
from harness.run.summary.loaded_run import read_run
from harness.sources.selection import Selection


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    cutoff: str | None,
    title: str,
    only: Selection = EVERYTHING,
) -> None:
    """Write the report of some runs.

    Args:
        runs: directories of runs, or of one experiment.
        out: the file to write; an existing file is replaced.
        cutoff: last month of the models' training, such as `2024-05`.
        title: title of the page.
        only: filter of problems.

    Raises:
        UsageError: the cut-off is not a month, or the file cannot be written.
        RunDirectoryError: a directory is not a run.
    """
    month = None if cutoff is None else _month(cutoff)
    if out.is_dir():
        raise UsageError(f"{out} is a directory; -o takes the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: there is no directory {out.parent}")
    ranking = ranking_of(runs)
    if ranking is not None:
        begun = {cell.name: Path(cell.run) for cell in ranking.cells if cell.planned}
        names = read_experiment(runs[0]).cells  # in the grid's order: the baseline comes first
        runs = [begun[name] for name in names if name in begun]
        if not runs:
            raise UsageError(f"{ranking.experiment}: no cell has begun")
        if only != EVERYTHING:
            raise UsageError("filters go with runs: name the cells of the experiment as runs")
    found = [filtered(read_run(run), only) for run in runs]
    page = report_page(found, title=title, cutoff=month, ranking=ranking)
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(out)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error


def ranking_of(paths: Sequence[Path]) -> Ranking | None:
    """Return the ranking if the path is an experiment; None if the paths are runs.

    Raises:
        UsageError: an experiment is given together with other paths.
    """
    experiments = [path for path in paths if (path / FILE).is_file()]
    if not experiments:
        return None
    if len(paths) > 1:
        raise UsageError(f"{experiments[0]} is an experiment: name it alone, or name runs")
    return rank(experiments[0])


def _month(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError as error:
        raise UsageError(f"--cutoff {text!r} is no month; write it as 2024-05") from error


@with_settings(*RESULT_FILTERS)
def report(
    settings: Mapping[str, Any],
    *,
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run directories, or one experiment's.",
            metavar="RUN...",
            autocompletion=completion.runs,
        ),
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
    only = read_filters(settings)
    from harness.terminal.summary_table import console

    write_report(runs, out, cutoff=cutoff, title=title, only=only)
    console().print(f"report: {out}", soft_wrap=True)
