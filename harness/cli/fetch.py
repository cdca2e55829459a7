"""`harness fetch`: bring a source's data from the hub ahead of its use."""

from typing import Annotated

import typer

from harness.cli import completion as completing


def fetch(
    spec: Annotated[
        str,
        typer.Argument(
            autocompletion=completing.benchmarks,
            metavar="SPEC",
            help="A source on the hub, as NAME[:WORD][@REVISION]: livecodebench:v6.",
        ),
    ],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Take the hash of every file anew; replace altered ones."),
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update", help="Take the newest commit, not the one that was fetched first."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fill the cache: afterwards the source loads without a network."""
    from harness.features.info.fetch import fetch_source

    fetch_source(spec, verify=verify, update=update, as_json=as_json)
