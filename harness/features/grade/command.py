"""`harness grade`: judge existing solutions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.settings_flags import JUDGING, with_settings
from harness.cli.shared_flags import AsJson, Problems, among, with_progress_flags


@with_settings(*JUDGING, "cpp_flags", "timing", "skip_bad_rows")
@with_progress_flags
def grade(
    settings: Mapping[str, Any],
    *,
    problems: Problems,
    solutions: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="JSONL of problem_id and code or answer (or output: the model's text), or "
            "LiveCodeBench's JSON; plain or gzipped.",
        ),
    ],
    extract: Annotated[
        str,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="Rule that finds code or an answer in the model's text; lcb-cot for executions "
            "that are reasoned out.",
        ),
    ] = "harness",
    efficiency: Annotated[
        bool,
        typer.Option(
            "--efficiency",
            help="Also time solutions that pass, beside the problems' references.",
        ),
    ] = False,
    as_json: AsJson = False,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Exit with 1 if pass@1 is lower: 0.6 or 60%."),
    ] = None,
    agree_under: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Exit with 1 if a smaller share agrees with the published verdicts: 1 or 95%.",
        ),
    ] = None,
) -> None:
    """Judge existing solutions; compare with published verdicts where the file has any."""
    from harness.efficiency.measurement import asked_timing
    from harness.features.grade.grade_run import GradeGates, grade_file
    from harness.run.session.judging_session import judging
    from harness.terminal.gate import read_rate

    raise typer.Exit(
        grade_file(
            problems,
            solutions,
            judging(among(settings, (*JUDGING, "cpp_flags"))),
            extract=extract,
            as_json=as_json,
            skip_bad_rows=settings.get("skip_bad_rows", False),
            timing=asked_timing(settings.get("timing"), efficiency=efficiency),
            gates=GradeGates(read_rate(fail_under), read_rate(agree_under, "--agree-under")),
        )
    )
