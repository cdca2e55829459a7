"""`harness verify`: what a source's own references say of it."""

from typing import Annotated

import typer

from harness.cli import judging_flags, selecting


def verify(  # noqa: PLR0917 - the flags of a command
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A source, as NAME[:WHERE].")],
    references: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most so many references of a problem. Default: all."),
    ] = None,
    rule: judging_flags.Rule = None,
    test_timeout: judging_flags.TestTimeout = None,
    wall_timeout: judging_flags.WallTimeout = None,
    memory: judging_flags.Memory = None,
    workers: judging_flags.Workers = None,
    isolate_tests: judging_flags.IsolateTests = False,
    all_tests: judging_flags.AllTests = None,
    require_isolation: judging_flags.RequireIsolation = "landlock",
    unsafe_no_sandbox: judging_flags.Unsafe = False,
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
    """Run a source's reference solutions: what fails, what is slow, what has no tests."""
    flags = selecting.given(
        benchmark=spec,
        task=task,
        filter_difficulty=filter_difficulty,
        filter_tags=filter_tags,
        filter_platform=filter_platform,
        min_release_date=min_release_date,
        max_release_date=max_release_date,
        exclude_known_issues=exclude_known_issues,
        sample_size=sample_size,
        sampling=sampling,
        seed=seed,
        skip_bad_rows=skip_bad_rows,
    )
    from harness.cli.judging import judging
    from harness.cli.verifying import verify_source

    raise typer.Exit(
        verify_source(
            flags,
            judging(
                rule=rule,
                test_timeout=test_timeout,
                wall_timeout=wall_timeout,
                memory=memory,
                isolate_tests=isolate_tests,
                all_tests=all_tests,
                workers=workers,
                require_isolation=require_isolation,
                unsafe_no_sandbox=unsafe_no_sandbox,
            ),
            most=references,
            as_json=as_json,
        )
    )
