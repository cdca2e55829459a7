"""The flags `--observer` and `--notify`."""

from typing import Annotated

import typer

from harness.cli import completion

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
