"""`harness grade`: judge existing solutions, of a file or of a run."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.cli.settings_flags import JUDGING, with_settings
from harness.cli.shared_flags import AsJson, GradedProblems, among, with_progress_flags
from harness.errors import UsageError
from harness.registry import REGRADE, feature
from harness.run.settings.given import Given
from harness.run.settings.spec import given_as, read_spec


@with_settings(*JUDGING, "cpp_flags", "timing", "skip_bad_rows")
@with_progress_flags
def grade(
    settings: Given,
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            help="A run, whose solutions are graded once more, as a new run.",
            autocompletion=completion.runs,
            show_default=False,
        ),
    ] = None,
    *,
    problems: GradedProblems = None,
    solutions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSONL of problem_id and code or answer (or output: the model's text), or "
            "LiveCodeBench's JSON; plain or gzipped.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="With RUN: the new run; one that was begun goes on. Default: RUN-regraded.",
        ),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option(
            metavar="harness|lcb|lcb-cot",
            help="Rule that finds code or an answer in the model's text; lcb-cot for executions "
            "that are reasoned out. Default: harness.",
        ),
    ] = None,
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
    """Judge existing solutions; compare with published verdicts where the file has any.

    With RUN, the solutions of a run are graded once more, under other limits or another rule, as a
    new run; no model is asked. Then `-b` says where its problems are now.
    """
    if run is not None:
        given = {
            "--solutions": solutions,
            "--extract": extract,
            "--efficiency": efficiency or None,
            **{given_as(key, settings): settings.get(key) for key in ("timing", "skip_bad_rows")},
            "--agree-under": agree_under,
        }
        if ignored := [flag for flag, value in given.items() if value is not None]:
            raise UsageError(f"{ignored[0]} goes with a file of solutions, not with a run")
        if problems is not None:
            settings = settings.with_flags(benchmark=problems)
        regrade = feature(REGRADE, "grade RUN")
        raise typer.Exit(regrade(run, out, settings, as_json=as_json, fail_under=fail_under))
    if problems is None or solutions is None:
        raise UsageError("give -b and --solutions FILE, or a run to grade once more")
    if out is not None:
        raise UsageError("--out goes with a run that is graded once more; redirect the output")
    from harness.features.efficiency.measurement import asked_timing
    from harness.features.grade.grade_run import GradeGates, grade_file
    from harness.run.session.judging_session import judging
    from harness.terminal.gate import read_rate

    raise typer.Exit(
        grade_file(
            problems,
            solutions,
            judging(among(settings, (*JUDGING, "cpp_flags"))),
            extract=extract or "harness",
            as_json=as_json,
            skip_bad_rows=read_spec(None, among(settings, ["skip_bad_rows"])).skip_bad_rows,
            timing=asked_timing(settings.get("timing"), efficiency=efficiency),
            gates=GradeGates(read_rate(fail_under), read_rate(agree_under, "--agree-under")),
        )
    )
