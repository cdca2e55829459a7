"""`harness problems`: what there is, or one problem in full."""

from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli import problem_flags as selecting


def problems(  # noqa: PLR0917 - the flags of a command
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC|ID]",
            autocompletion=completing.benchmarks,
            help="A source, as NAME[:WHERE], or a problem's id (of --benchmark, or a bundled one).",
        ),
    ] = None,
    benchmark: selecting.Benchmark = None,
    source: selecting.Source = None,
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
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the JSON Schema of a row of jsonl:PATH, and leave."),
    ] = False,
) -> None:
    """List problems, or show one."""
    if schema:
        import json

        from harness.sources.jsonl import schema as row_schema

        typer.echo(json.dumps(row_schema(), indent=2))
        return
    flags = selecting.given(
        **{name: value for name, value in locals().items() if name not in {"what", "schema"}}
    )
    from harness.features.info.problems import list_problems

    list_problems(what, flags)
