"""Lines on the samples of a run that have no grade, and how to resume them."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.agent.strategies.modes import mode_named
from harness.figures import count, words
from harness.grading.verdict import Verdict
from harness.models.providers import REFERENCES, REPLAY_PREFIX
from harness.run.store.origin import IMPORT_AGAIN, is_imported
from harness.run.store.pending import UNDER_WAY, reason_text
from harness.run.summary.loaded_run import Run
from harness.run.summary.summary import Summary
from harness.text import printable_line


def pending_lines(summary: Summary, run: Run, cause: str) -> Iterator[str]:
    """Yield lines on samples without a grade: why, and how to resume them."""
    waiting = {why: number for why, number in summary.pending.items() if why != UNDER_WAY}
    if waiting:
        reasons = ", ".join(f"{reason_text(why)} ({n:,})" for why, n in waiting.items())
        many = sum(waiting.values())
        verb = "is" if many == 1 else "are"
        way = f"Resume: harness run --resume {printable_line(str(run.path))}"
        done = {result.problem_id for result in run.results}
        left = (each for each in run.manifest["problems"] if each not in done)
        other = without_answer(run.manifest, waiting, run.path, next(left, "ID"))
        way = other[:1].upper() + other[1:] or way
        if is_imported(run.manifest):
            way = f"An imported run cannot be resumed{IMPORT_AGAIN}"
        yield f"{many:,} of {count(summary.planned, 'sample')} {verb} pending: {reasons}. {way}"
    if cause:
        yield f"the most frequent cause: {printable_line(cause)}"
    if summary.pending.get(UNDER_WAY):
        yield f"{count(summary.pending[UNDER_WAY], 'sample')} running; not counted below"
    if summary.stopped is not None:
        because = f": {printable_line(summary.stopped.cause)}" if summary.stopped.cause else ""
        yield f"stopped early, {words(summary.stopped.reason)}{because}"


def without_answer(
    manifest: Mapping[str, Any], reasons: Iterable[str], path: Path, problem: str
) -> str:
    """Return what to do where nobody answers a run that is resumed; empty if resuming helps.

    Args:
        manifest: the run's manifest.
        reasons: why samples are pending.
        path: directory of the run.
        problem: id of a problem with a pending sample.
    """
    spec = manifest.get("spec", {})
    model = spec.get("model") or ""
    if {*reasons} != {Verdict.MODEL_ERROR}:
        return ""
    if (begun_by := mode_named(spec.get("mode")).begun_by) != "run":
        words = (begun_by, "--problem", problem, "--out", str(path))
        command = f"harness {shlex.join(words)}"
        return f"connect an agent: {printable_line(command)}"
    if model.startswith(REPLAY_PREFIX):
        return "a recording cannot answer more when it is resumed: name a model with -m"
    return "leave such problems out, or name a model with -m" if model == REFERENCES else ""
