"""`harness transcript`: find a sample and print its conversation."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

import typer

from harness.agent.events import SampleStart
from harness.cli import completion
from harness.errors import RunDirectoryError, UsageError
from harness.run.store.directory import RESULTS
from harness.run.store.results import read_results
from harness.run.store.transcript import sample_name
from harness.run.store.transcripts import FOLDER, Transcripts
from harness.text import printable_line


def find_transcript(run: Path, transcripts: Transcripts, sample: str) -> str:
    """Return the file name of a sample's transcript.

    The sample is given as `ID`, `ID#INDEX`, or by its id without the source.

    Raises:
        RunDirectoryError: the run has no transcripts.
        UsageError: there is no such sample, or several.
    """
    samples = _samples(run, transcripts)
    wanted = sample if "#" in sample else f"{sample}#0"
    found = [name for name in samples if name == wanted or name.partition("/")[2] == wanted]
    if len(found) == 1:
        return samples[found[0]]
    if found:
        raise UsageError(f"{sample!r} names several samples: {', '.join(found)}")
    near = difflib.get_close_matches(wanted, samples, n=3, cutoff=0.4)
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UsageError(f"{run} has no sample {sample!r}{hint}")


def sample_lines(run: Path, transcripts: Transcripts) -> Iterator[str]:
    """Yield a line for each sample that has started, with its verdict if graded."""
    results = {result.sample: result for result in read_results(run / RESULTS)}
    for sample in _samples(run, transcripts):
        result = results.get(sample)
        if result is None:
            yield printable_line(f"{sample}  pending")
        else:
            yield printable_line(
                f"{sample}  {result.verdict.replace('_', ' ')}  "
                f"{result.stop_reason.replace('_', ' ')}  calls {result.model_calls}"
            )


def _samples(run: Path, transcripts: Transcripts) -> dict[str, str]:
    """Return the file names of a run's transcripts, by sample."""
    found = transcripts.names()
    if not found and not (run / FOLDER).is_dir():
        raise RunDirectoryError(f"{run} is not a run: it has no {FOLDER}")
    samples: dict[str, str] = {}
    for name in found:
        problem, _, index = unquote(name.removesuffix(".jsonl")).rpartition("-")
        start = next(transcripts.events(name), None)  # the file name may be shortened
        if isinstance(start, SampleStart):
            samples[start.sample] = name
        elif index.isdigit():  # started, but no line written
            samples[sample_name(problem, int(index))] = name
    return samples


def transcript(
    run: Annotated[Path, typer.Argument(help="A run directory.", autocompletion=completion.runs)],
    sample: Annotated[
        str | None,
        typer.Argument(help="A problem's id, or ID#INDEX. Without it: the samples, one a line."),
    ] = None,
) -> None:
    """Print a sample's conversation, or list a run's samples."""
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
