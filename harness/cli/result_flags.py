"""Flags that select results and the level of detail.

The filters have the same names as the settings of a run.
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
"""Parameters of a command that filter results."""
