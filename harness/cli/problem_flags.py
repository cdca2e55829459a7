"""The flags that say which problems: the same wherever problems are named."""

from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import completion

Benchmark = Annotated[
    str | None,
    typer.Option(
        "-b",
        "--benchmark",
        metavar="NAME[:WHERE]",
        help="livecodebench, leetcode, leetcodedataset, apps or mercury, from the hub; after a "
        "colon a release or split of it, @REVISION, or a PATH; jsonl:PATH; fixture: the bundled "
        "ones (default); or a plug-in's.",
        rich_help_panel="Problems",
        autocompletion=completion.benchmarks,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="fixture, huggingface[:WORD][@REVISION], or a path; LiveCodeBench's unless -b says.",
        rich_help_panel="Problems",
    ),
]
Task = Annotated[
    list[str] | None,
    typer.Option(
        "-t", "--task", metavar="ID", help="Just this one; repeat.", rich_help_panel="Problems"
    ),
]
FilterDifficulty = Annotated[
    list[str] | None,
    typer.Option(
        "--filter-difficulty",
        "--difficulties",
        help="easy, medium or hard, or the source's own word; repeat, or separate by commas.",
        rich_help_panel="Problems",
    ),
]
FilterTags = Annotated[
    list[str] | None,
    typer.Option(help="Problems that have all of these tags; repeat.", rich_help_panel="Problems"),
]
FilterPlatform = Annotated[
    list[str] | None,
    typer.Option(
        "--filter-platform",
        "--platforms",
        help="leetcode, atcoder, codeforces, …; repeat, or separate by commas.",
        rich_help_panel="Problems",
    ),
]
MinReleaseDate = Annotated[
    str | None,
    typer.Option(metavar="YYYY-MM-DD", help="Released then or later.", rich_help_panel="Problems"),
]
MaxReleaseDate = Annotated[
    str | None,
    typer.Option(metavar="YYYY-MM-DD", help="Released then or before.", rich_help_panel="Problems"),
]
ExcludeKnownIssues = Annotated[
    bool | None,
    typer.Option(
        "--exclude-known-issues",
        help="Leave out problems known to be judged wrongly.",
        rich_help_panel="Problems",
    ),
]
SampleSize = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--sample-size",
        "--limit",
        metavar="N",
        help="How many problems, after the filters.",
        rich_help_panel="Problems",
    ),
]
Sampling = Annotated[
    str | None,
    typer.Option(
        metavar="first|random|stratified",
        help="Which ones, when there are more.",
        rich_help_panel="Problems",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Of the sampling.", rich_help_panel="Problems")]
SkipBadRows = Annotated[
    bool | None,
    typer.Option(
        "--skip-bad-rows",
        help="Pass over malformed rows and count them, instead of stopping.",
        rich_help_panel="Problems",
    ),
]

# The parameters of all of them but `benchmark` and `source`.
FILTERS = (
    "task",
    "filter_difficulty",
    "filter_tags",
    "filter_platform",
    "min_release_date",
    "max_release_date",
    "exclude_known_issues",
    "sample_size",
    "sampling",
    "seed",
    "skip_bad_rows",
)
_COMMA_LISTS = ("filter_difficulty", "filter_platform")


def given(**flags: Any) -> dict[str, Any]:
    """The flags that were given, by key of the spec; `source` folded into `benchmark`."""
    values = {key: value for key, value in flags.items() if value is not None and value != []}
    for key in _COMMA_LISTS:
        if key in values:
            words = [word.strip() for item in values[key] for word in item.split(",")]
            values[key] = [word for word in words if word] or [""]
    source = values.pop("source", None)
    if source is not None:
        values["benchmark"] = _benchmark(values.get("benchmark"), source)
    return values


def _benchmark(benchmark: str | None, source: str) -> str:
    """`--source` in the spelling of the harnesses that had it: fixture, huggingface, or a path."""
    from harness.errors import UsageError

    name = (benchmark or "livecodebench").partition(":")[0]
    hub, _, revision = source.partition("@")
    if hub.partition(":")[0] == "huggingface":
        where = hub.partition(":")[2] + (f"@{revision}" if revision else "")
        return f"{name}:{where}" if where else name
    if source == "fixture":
        return "fixture"
    if not Path(source).exists() and not any(letter in source for letter in "*?["):
        raise UsageError(f"--source {source}: there is no such file")
    return f"{name}:{source}"
