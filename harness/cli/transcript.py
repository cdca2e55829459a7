"""`harness transcript`: what was said, for a person to read."""

from pathlib import Path
from typing import Annotated

import typer


def transcript(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    sample: Annotated[
        str | None,
        typer.Argument(help="A problem's id, or ID#INDEX. Without it: the samples, one a line."),
    ] = None,
) -> None:
    """Print a sample's conversation, or list a run's samples."""
    from harness.report.conversation import transcript_text
    from harness.report.samples import find_transcript, sample_lines
    from harness.report.tables import console

    out = console()
    if sample is None:
        for line in sample_lines(run):
            out.print(line, soft_wrap=True)
        return
    from harness.runs.transcript import read_events

    out.file.write(transcript_text(read_events(find_transcript(run, sample))) + "\n")
