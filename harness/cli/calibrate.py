"""`harness calibrate`: how long a source's references take on this machine."""

from typing import Annotated

import typer

from harness.cli import judging_flags
from harness.cli import problem_flags as selecting


def calibrate(  # noqa: PLR0917 - the flags of a command
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A source, as NAME[:WHERE].")],
    timing: judging_flags.Timing = "paired",
    recollect: Annotated[
        bool, typer.Option("--recollect", help="Time anew what has been timed before.")
    ] = False,
    rule: judging_flags.Rule = None,
    test_timeout: judging_flags.TestSeconds = None,
    memory: judging_flags.Memory = None,
    workers: judging_flags.Workers = None,
    require_isolation: judging_flags.RequireIsolation = "landlock",
    unsafe_no_sandbox: judging_flags.Unsafe = False,
    executor: judging_flags.Executor = "local",
    ray_address: judging_flags.RayAddress = None,
    as_json: judging_flags.AsJson = False,
    task: selecting.Task = None,
    filter_difficulty: selecting.FilterDifficulty = None,
    filter_tags: selecting.FilterTags = None,
    filter_platform: selecting.FilterPlatform = None,
    min_release_date: selecting.MinReleaseDate = None,
    max_release_date: selecting.MaxReleaseDate = None,
    exclude_known_issues: selecting.ExcludeKnownIssues = None,
    sample_size: selecting.SampleSize = None,
    sampling: selecting.Sampling = None,
    seed: selecting.Seed = None,
    skip_bad_rows: selecting.SkipBadRows = None,
) -> None:
    """Time a source's references, which solutions are then measured by (`--efficiency`).

    Times are kept for this machine: what was interrupted goes on, and what is unchanged is not
    timed again. A run does the same for the problems that it comes to.
    """
    flags = locals()
    wanted = selecting.given(benchmark=spec, **{name: flags[name] for name in selecting.FILTERS})
    from harness.features.calibrate.command import calibrate_source
    from harness.run.session.judging_session import judging

    how = judging(judging_flags.among(flags), by_reference=False)
    raise typer.Exit(
        calibrate_source(wanted, how, timing=timing, recollect=recollect, as_json=as_json)
    )
