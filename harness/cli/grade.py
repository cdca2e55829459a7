"""`harness grade`: verdicts on solutions that somebody has."""

from pathlib import Path
from typing import Annotated

import typer

RULES = "lcb|tokens|apps_legacy"


def grade(  # noqa: PLR0917 - the flags of a command
    problems: Annotated[
        str, typer.Option(metavar="NAME[:WHERE]", help="The problems, as for --benchmark.")
    ],
    solutions: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="JSONL of problem_id and code (or output: a model's words), or LiveCodeBench's "
            "JSON; plain or gzipped.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar=RULES, help="How outputs are compared, in place of each problem's own way."
        ),
    ] = None,
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb", help="How code is found in a model's words: ours, or upstream's."
        ),
    ] = "harness",
    test_timeout: Annotated[
        float | None, typer.Option(metavar="S", help="CPU seconds per test.")
    ] = None,
    memory: Annotated[
        int | None, typer.Option(metavar="MIB", help="Memory of one test in MiB.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Judging processes. Default: the cores.")
    ] = None,
    isolate_tests: Annotated[
        bool, typer.Option("--isolate-tests", help="A process for every test.")
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Pass over malformed problem rows and count them."),
    ] = False,
) -> None:
    """Judge existing solutions; compare with published verdicts where the file has any."""
    from harness.cli.grading import grade_file
    from harness.cli.judging import options

    raise typer.Exit(
        grade_file(
            problems,
            solutions,
            options(rule, test_timeout, memory, isolate=isolate_tests),
            extract=extract,
            as_json=as_json,
            skip_bad_rows=skip_bad_rows,
            workers=workers,
        )
    )
