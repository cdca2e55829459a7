"""The flags that say which results are shown, and in what detail: the same wherever they are read.

The filters are those of `harness.cli.problem_flags`, which a run is begun with.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import problem_flags

if TYPE_CHECKING:
    from harness.sources.selection import Selection

Details = Annotated[
    bool,
    typer.Option(
        "--details", help="All figures: settings, turns, tokens, groups, re-checks.",
        rich_help_panel="What is shown",
    ),
]  # fmt: skip
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="KIND",
        help="Rates by difficulty, platform, tag or month; repeat, or separate by commas.",
        rich_help_panel="What is shown",
    ),
]

FILTERS = (
    *("filter_difficulty", "filter_tags", "filter_platform"),
    *("min_release_date", "max_release_date", "exclude_known_issues"),
)
"""The parameters of a command that are filters of results."""


def selection(parameters: Mapping[str, Any]) -> "Selection":
    """Read the filters among a command's parameters.

    Raises:
        UsageError: a value is none that the filter takes.
    """
    from harness.run.summary.result_filter import read_filters

    given = {key: parameters.get(key) for key in FILTERS}
    return read_filters(problem_flags.given(**given))
