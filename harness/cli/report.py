"""`harness report`: runs as one page, for a browser."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories.", metavar="RUN…", autocompletion=completing.runs),
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
    from harness.features.report.command import write_report
    from harness.terminal.summary_table import console

    write_report(runs, out, cutoff=cutoff, title=title)
    console().print(f"report: {out}", soft_wrap=True)
