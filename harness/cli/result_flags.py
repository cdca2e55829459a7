"""Flags that choose which results are shown, and in how much detail.

The filters are settings of a run, by the same names.
"""

from typing import Annotated

import typer

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
