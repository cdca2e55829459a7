"""Flags that several commands share: observers, selection of results, level of detail."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
]
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
"""Parameters of a command that filter results; settings of a run have the same names."""

Observer = Annotated[
    list[str] | None,
    typer.Option(
        "--observer",
        metavar="NAME",
        help="Tell a plug-in, or a function of your own as module:attribute, of the run and its "
        "samples; repeat.",
        autocompletion=completion.observers,
        rich_help_panel="Run",
    ),
]
Notify = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="URL",
        envvar="HARNESS_NOTIFY",
        help="Tell a webhook (Slack, Discord, or any that takes JSON) when the run begins, ends or "
        "fails; repeat. The address is not shown or stored.",
        rich_help_panel="Run",
    ),
]

_problems = partial(
    typer.Option,
    "-b",
    "--benchmark",
    "--problems",
    autocompletion=completion.benchmarks,
    metavar="NAME[:WHERE]",
)
Problems = Annotated[
    str, _problems(help="The problems that the solutions are of, as for `harness run`.")
]
"""Option that names the problems of given solutions."""
ServedProblems = Annotated[
    list[str] | None,
    _problems(
        help="Problems that requests may name, as for `harness run`; may be given several times. "
        "Without it, each request brings its tests."
    ),
]
"""Option that names the problems of a server."""
