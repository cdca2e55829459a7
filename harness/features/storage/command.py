"""`harness merge` and `harness pack`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion
from harness.features.storage.pack import Packed
from harness.text import count, printable_line


def merge(
    shards: Annotated[
        list[Path], typer.Argument(metavar="SHARD...", help="Runs made with --shard I/N.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The new run directory.")],
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Go without missing shards; their samples are pending."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Merge the shards of a run into one run.

    The shards stay as they are. Samples that are pending in one are pending in the run.
    """
    from harness.features.storage import merge as merging
    from harness.terminal.run_outcome import print_summary
    from harness.terminal.summary_table import console

    merged = merging.merge(shards, out, partial=partial)
    print_summary(console(), merged.summary, out, as_json=as_json)
    if merged.missing:
        missing = count(len(merged.missing), "shard")
        console(error=True).print(
            f"{missing} missing; go on without shards with: harness run --resume {out}",
            soft_wrap=True,
        )


def pack(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Make them files again.")] = False,
) -> None:
    """Put the transcripts of a run into one file, about a sixth of their size.

    They can be shown and played again as before. Those of samples that have no result yet stay as
    they are, and the run can be resumed.
    """
    from harness.features.storage import pack as packing
    from harness.terminal.summary_table import console

    line = unpacked_line(run, packing.unpack(run)) if undo else packed_line(run, packing.pack(run))
    console().print(line, soft_wrap=True)


def packed_line(run: Path, done: Packed) -> str:
    """Say how many transcripts were packed, the bytes saved, and how many were not."""
    name = printable_line(str(run))
    rest = f"; {count(done.left, 'transcript')} left out, not graded or very large"
    rest = rest if done.left else ""
    if not done.held:
        return f"{name}: nothing to pack{rest}"
    if not done.added:
        return f"{name}: nothing more to pack{rest}"
    return (
        f"{name}: {count(done.added, 'transcript')} packed; {done.held:,} together take "
        f"{done.packed:,} bytes instead of {done.size:,}{rest}"
    )


def unpacked_line(run: Path, files: int) -> str:
    """Say how many transcripts were unpacked."""
    return f"{printable_line(str(run))}: {count(files, 'transcript')} unpacked"
