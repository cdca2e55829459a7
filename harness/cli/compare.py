"""`harness compare`: two runs or more over the same problems."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing


def compare(  # noqa: PLR0917 - the flags of a command
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Two run directories, or more.",
            metavar="A B [C]...",
            autocompletion=completing.runs,
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(
            autocompletion=completing.runs,
            metavar="RUN",
            help="Which run the others stand against (the first).",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse runs that differ in anything that can change a result beside model, mode "
            "and prompt set: settings, judging, data, versions.",
        ),
    ] = False,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit with 1 if a run is significantly worse than the baseline: a lower pass@1, "
            "p < 0.05 (exact McNemar, or the sign-flip test where problems have several samples; "
            "corrected by Holm).",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print as GitHub's Markdown.")
    ] = False,
) -> None:
    """Compare runs, paired by problem: rates, difference, test, flips, tokens, cost and time."""
    from harness.features.compare.command import compare_and_print

    raise typer.Exit(
        compare_and_print(
            runs,
            baseline,
            strict=strict,
            fail_if_worse=fail_if_worse,
            as_json=as_json,
            as_markdown=as_markdown,
        )
    )
