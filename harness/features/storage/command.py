"""`harness merge`: the shards of a run, put together."""

from pathlib import Path
from typing import Annotated

import typer


def merge(
    shards: Annotated[
        list[Path], typer.Argument(metavar="SHARD...", help="Runs made with --shard I/N.")
    ],
    out: Annotated[Path, typer.Option(help="The run that is made of them.")],
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Go without missing shards; their samples are pending."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Make one run of the shards of a run, as if it had never been parted.

    The shards stay as they are. What is pending in one is pending in the run, which can be resumed.
    """
    from harness.cli.summaries import print_summary
    from harness.features.storage import merge as merging
    from harness.terminal.summary_table import console
    from harness.text import count

    merged = merging.merge(shards, out, partial=partial)
    print_summary(console(), merged.summary, out, as_json=as_json)
    if merged.missing:
        missing = count(len(merged.missing), "shard")
        console(error=True).print(
            f"{missing} missing; go on without shards with: harness run --resume {out}",
            soft_wrap=True,
        )
