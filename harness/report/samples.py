"""The samples of a run: listed, and found by what a person calls them."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from harness.agent.events import SampleStart
from harness.errors import RunDirectoryError, UsageError
from harness.report.text import printable_line
from harness.runs.directory import RESULTS, TRANSCRIPTS
from harness.runs.results import read_results
from harness.runs.transcript import read_events, sample_name


def find_transcript(run: Path, sample: str) -> Path:
    """The transcript of a sample: `ID`, `ID#INDEX`, or the id without its source.

    Raises:
        RunDirectoryError: the run has no transcripts.
        UsageError: there is no such sample, or several.
    """
    samples = _samples(run)
    wanted = sample if "#" in sample else f"{sample}#0"
    found = [name for name in samples if name == wanted or name.partition("/")[2] == wanted]
    if len(found) == 1:
        return samples[found[0]]
    if found:
        raise UsageError(f"{sample!r} names several samples: {', '.join(found)}")
    near = difflib.get_close_matches(wanted, samples, n=3, cutoff=0.4)
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UsageError(f"{run} has no sample {sample!r}{hint}")


def sample_lines(run: Path) -> Iterator[str]:
    """A line for every sample that was begun, with its verdict where it has one."""
    results = {result.sample: result for result in read_results(run / RESULTS)}
    for sample in _samples(run):
        result = results.get(sample)
        if result is None:
            yield printable_line(f"{sample}  pending")
        else:
            yield printable_line(
                f"{sample}  {result.verdict.replace('_', ' ')}  "
                f"{result.stop_reason.replace('_', ' ')}  calls {result.model_calls}"
            )


def _samples(run: Path) -> dict[str, Path]:
    """Every transcript of a run by its sample's name."""
    folder = run / TRANSCRIPTS
    if not folder.is_dir():
        raise RunDirectoryError(f"{run} is not a run: it has no {TRANSCRIPTS} folder")
    names: dict[str, Path] = {}
    for path in sorted(folder.glob("*.jsonl")):
        problem, _, index = unquote(path.stem).rpartition("-")
        start = next(read_events(path), None)  # the file's name may be shortened
        if isinstance(start, SampleStart):
            names[start.sample] = path
        elif index.isdigit():  # begun, and not a line written
            names[sample_name(problem, int(index))] = path
    return names
