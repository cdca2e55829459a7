"""`harness view`: show runs in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion


def view(
    folder: Annotated[
        Path,
        typer.Argument(
            autocompletion=completion.runs,
            metavar="[DIR]",
            help="Where to look for runs, or a run.",
        ),
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port; 0: any that is free.")
    ] = 0,
    *,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Show runs, samples and transcripts in a browser on this machine; Ctrl-C ends it."""
    from harness.features.viewer.server import serve

    def say(address: str) -> None:
        typer.echo(f"Showing {folder} at\n\n  {address}\n")
        typer.echo("The address holds the key to them. Ctrl-C ends this.")

    serve(folder, port, show=open_browser, say=say)
