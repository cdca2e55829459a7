"""`harness pack`: a run's transcripts in one small file."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing


def pack(
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completing.runs)],
    undo: Annotated[bool, typer.Option("--undo", help="Make them files again.")] = False,
) -> None:
    """Put the transcripts of a run into one file, about a sixth of their size.

    They can be shown and played again as before. Those of samples that have no result yet stay as
    they are, and the run can be resumed.
    """
    from harness.cli.packing import packed_line, unpacked_line
    from harness.features.storage import pack as packing
    from harness.terminal.summary_table import console

    line = unpacked_line(run, packing.unpack(run)) if undo else packed_line(run, packing.pack(run))
    console().print(line, soft_wrap=True)
