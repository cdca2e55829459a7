"""`harness regrade`: a run's solutions judged again, without a model."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli import judging_flags


def regrade(  # noqa: PLR0917 - the flags of a command
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completing.runs)],
    out: Annotated[
        Path | None,
        typer.Option(help="The new run; one that was begun goes on. Default: RUN-regraded."),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "-b", "--benchmark", metavar="NAME[:WHERE]", help="Where the problems are by now."
        ),
    ] = None,
    as_json: judging_flags.AsJson = False,
    rule: judging_flags.Rule = None,
    test_timeout: judging_flags.TestTimeout = None,
    wall_timeout: judging_flags.WallTimeout = None,
    memory: judging_flags.Memory = None,
    workers: judging_flags.Workers = None,
    isolate_tests: judging_flags.OptIsolateTests = None,
    all_tests: judging_flags.AllTests = None,
    require_isolation: judging_flags.RequireIsolation = "landlock",
    unsafe_no_sandbox: judging_flags.Unsafe = False,
    executor: judging_flags.Executor = "local",
    ray_address: judging_flags.RayAddress = None,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Exit with 1 if pass@1 is lower: 0.6 or 60%."),
    ] = None,
) -> None:
    """Judge a run's solutions again, under another rule or other limits: a new run."""
    said = judging_flags.among(locals())
    from harness.features.regrade.command import regrade_run
    from harness.run.session.judging_session import judging
    from harness.terminal.run_outcome import read_rate

    how = judging(said)
    flags = {
        "benchmark": benchmark,
        "rule": rule,
        "test_timeout": test_timeout,
        "wall_timeout": wall_timeout,
        "memory": memory,
        "workers": workers,
        "isolate_tests": isolate_tests,
        "all_tests": all_tests,
        "require_isolation": require_isolation,
    }
    given = {key: value for key, value in flags.items() if value is not None}
    raise typer.Exit(
        regrade_run(
            run,
            out,
            given,
            unsafe=unsafe_no_sandbox,
            how=how,
            as_json=as_json,
            fail_under=read_rate(fail_under),
        )
    )
