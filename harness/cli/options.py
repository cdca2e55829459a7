"""A flag of a command, under a heading of its help."""

from collections.abc import Callable
from typing import Any

import typer


def option(
    *names: str,
    help: str,  # noqa: A002 - as typer calls it
    panel: str,
    metavar: str | None = None,
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    """What `typer.Option` takes, in short; `complete` offers words for an unfinished one."""
    return typer.Option(
        *names, help=help, rich_help_panel=panel, metavar=metavar, autocompletion=complete
    )
