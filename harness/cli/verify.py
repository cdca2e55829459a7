"""`harness verify`: what a source's own references say of it."""

from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli import judging_flags
from harness.cli import problem_flags as selecting


def verify(  # noqa: PLR0917 - the flags of a command
    spec: Annotated[
        str,
        typer.Argument(
            autocompletion=completing.benchmarks, metavar="SPEC", help="A source, as NAME[:WHERE]."
        ),
    ],
    references: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most so many references of a problem. Default: all."),
    ] = None,
    generated: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Also compare a problem's references on N inputs that its own generator makes "
            "(Mercury's have one), 1 to 1,000; made anew each time.",
        ),
    ] = None,
    rule: judging_flags.Rule = None,
    test_timeout: judging_flags.TestSeconds = None,
    wall_timeout: judging_flags.WallTimeout = None,
    memory: judging_flags.Memory = None,
    workers: judging_flags.Workers = None,
    isolate_tests: judging_flags.IsolateTests = False,
    all_tests: judging_flags.AllTests = None,
    require_isolation: judging_flags.RequireIsolation = "landlock",
    unsafe_no_sandbox: judging_flags.Unsafe = False,
    executor: judging_flags.Executor = "local",
    ray_address: judging_flags.RayAddress = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Judge what has been judged before anew as well.")
    ] = False,
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
    """Run a source's reference solutions: what fails, what is slow, what has no tests.

    Verdicts are kept: what was interrupted goes on, and what is unchanged is not judged again.
    """
    flags = locals()
    wanted = selecting.given(benchmark=spec, **{name: flags[name] for name in selecting.FILTERS})
    from harness.features.verify.command import verify_source
    from harness.run.session.judging_session import judging

    how = judging(judging_flags.among(flags), by_reference=False)
    code = verify_source(
        wanted, how, most=references, inputs=generated, fresh=fresh, as_json=as_json
    )
    raise typer.Exit(code)
