"""`harness import`: an evaluation that others published, as a run."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli.judging_flags import AsJson


def import_(  # noqa: PLR0917 - the flags of a command
    file: Annotated[
        Path,
        typer.Argument(
            help="LiveCodeBench's _eval_all.json, or any file that `harness grade` takes; plain or "
            "gzipped.",
        ),
    ],
    problems: Annotated[
        str,
        typer.Option(
            autocompletion=completing.benchmarks,
            metavar="NAME[:WHERE]",
            help="The problems, as for --benchmark.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory to make.")],
    model: Annotated[
        str | None, typer.Option(help="Who wrote the solutions. Default: from the file's name.")
    ] = None,
    mode: Annotated[
        str, typer.Option(help="How they were sought, as for `harness run --mode`.")
    ] = "single_shot",
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="How code is found in a model's words, where the file has no code.",
        ),
    ] = "harness",
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Pass over malformed problem rows and count them."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a run of published solutions and their published verdicts, to compare and report.

    Nothing is run: `harness regrade RUN` then judges the same solutions here.
    """
    from harness.features.import_.command import import_file

    raise typer.Exit(
        import_file(
            problems,
            file,
            out,
            {"model": model, "mode": mode, "extract": extract, "skip_bad_rows": skip_bad_rows},
            as_json=as_json,
        )
    )
