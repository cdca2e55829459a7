"""`harness export`: a run in other programs' formats."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing

FORMATS = ("csv", "parquet", "junit", "lcb", "inspect", "openai-messages")


def export(
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completing.runs)],
    to: Annotated[str, typer.Option("--to", metavar="|".join(FORMATS), help="The format.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to; standard output if not given, but for parquet and inspect. For lcb a "
            "folder gets all of LiveCodeBench's files, a file its _eval_all.json.",
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--benchmark",
            metavar="NAME[:WHERE]",
            help="For lcb, which needs their statements: where the problems are by now.",
        ),
    ] = None,
) -> None:
    """Write a run's samples for a spreadsheet, a data frame, CI, or another harness.

    csv, parquet: a row a sample. junit: a test case a sample, pending ones as errors. lcb:
    LiveCodeBench's output files. inspect: Inspect's .eval log. openai-messages: JSONL, a
    conversation a sample.
    """
    from harness.features.export.command import export_run

    export_run(run, to, out, benchmark)
