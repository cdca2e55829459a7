"""`harness grade`: verdicts on solutions that somebody has."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion, judging_flags


def grade(  # noqa: PLR0917 - the flags of a command
    problems: Annotated[
        str,
        typer.Option(
            autocompletion=completion.benchmarks,
            metavar="NAME[:WHERE]",
            help="The problems, as for --benchmark.",
        ),
    ],
    solutions: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="JSONL of problem_id and code or answer (or output: a model's words), or "
            "LiveCodeBench's JSON; plain or gzipped.",
        ),
    ],
    as_json: judging_flags.AsJson = False,
    rule: judging_flags.Rule = None,
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="How code or an answer is found in a model's words: ours, or upstream's; lcb-cot "
            "for executions reasoned out.",
        ),
    ] = "harness",
    test_timeout: judging_flags.TestTimeout = None,
    wall_timeout: judging_flags.WallTimeout = None,
    memory: judging_flags.Memory = None,
    workers: judging_flags.Workers = None,
    isolate_tests: judging_flags.IsolateTests = False,
    all_tests: judging_flags.AllTests = None,
    require_isolation: judging_flags.RequireIsolation = "landlock",
    unsafe_no_sandbox: judging_flags.Unsafe = False,
    executor: judging_flags.Executor = "local",
    ray_address: judging_flags.RayAddress = None,
    efficiency: Annotated[
        bool,
        typer.Option(
            "--efficiency",
            help="Also time solutions that pass, beside the problems' references.",
        ),
    ] = False,
    timing: judging_flags.OptTiming = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Pass over malformed problem rows and count them."),
    ] = False,
) -> None:
    """Judge existing solutions; compare with published verdicts where the file has any."""
    flags = locals()
    from harness.features.grade.grade_solutions import grade_file
    from harness.run.session.judging_session import judging
    from harness.run.session.timing_session import asked_timing

    raise typer.Exit(
        grade_file(
            problems,
            solutions,
            judging(judging_flags.among(flags)),
            extract=extract,
            as_json=as_json,
            skip_bad_rows=skip_bad_rows,
            timing=asked_timing(timing, efficiency=efficiency),
        )
    )
