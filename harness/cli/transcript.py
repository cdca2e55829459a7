"""`harness transcript`: what was said, for a person to read."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing


def transcript(
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completing.runs)],
    sample: Annotated[
        str | None,
        typer.Argument(help="A problem's id, or ID#INDEX. Without it: the samples, one a line."),
    ] = None,
) -> None:
    """Print a sample's conversation, or list a run's samples."""
    from harness.features.show.transcript_command import find_transcript, sample_lines
    from harness.features.show.transcript_text import transcript_text
    from harness.run.store.transcripts import Transcripts
    from harness.terminal.summary_table import console

    out = console()
    with Transcripts(run) as transcripts:
        if sample is None:
            for line in sample_lines(run, transcripts):
                out.print(line, soft_wrap=True)
            return
        name = find_transcript(run, transcripts, sample)
        out.file.write(transcript_text(transcripts.events(name)) + "\n")
