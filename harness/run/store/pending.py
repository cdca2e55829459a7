"""Why samples of a run are pending."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.agent.attempt import RunStop
from harness.agent.events import NotGraded, PutOff, SampleEnd
from harness.errors import RunDirectoryError
from harness.run.store.planned_samples import in_rounds, samples_by_problem
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import Transcripts

NOT_RUN, INTERRUPTED, UNDER_WAY = "not_run", "interrupted", "under_way"

NOT_NEEDED = "not_needed"
"""Reason of samples that an experiment has no need of; set in the manifest."""

MOST_READ = 20_000
"""Number of transcripts of pending samples to read; others count as interrupted."""

LONGEST_CAUSE = 300

UNGRADED_ENDS = frozenset({"model_error", "cost_limit", "token_limit"})
"""Ends after which a sample without a result must be done again.

After other ends only its grade is missing.
"""


class Reason(NamedTuple):
    """Why a sample is pending.

    Attributes:
        word: `not_run`, `not_needed`, `under_way`, `interrupted`, or how it ended: a verdict of
            infrastructure, or a limit of the run.
        cause: message of the provider or the sandbox; empty if there is none.
    """

    word: str
    cause: str = ""


NEVER_RUN = Reason(NOT_RUN)


def reason_text(word: str) -> str:
    """Return the text for a reason, to follow the number of samples."""
    texts = {
        "budget": "stopped by the budget",
        "outage": "stopped by an outage",
    }
    return texts.get(word, word.replace("_", " "))


def pending_reasons(
    run: Path, manifest: Mapping[str, Any], done: Collection[str], *, running: bool
) -> Iterator[tuple[str, Reason]]:
    """Yield the name of each planned sample without a result, and why it is pending."""
    transcripts = Transcripts(run)
    begun = set(transcripts.names())
    never = Reason(NOT_NEEDED) if manifest.get(NOT_NEEDED) else NEVER_RUN
    read = 0
    for problem_id, index in in_rounds(samples_by_problem(manifest)):
        name = sample_name(problem_id, index)
        if name in done:
            continue
        file = _file_name(problem_id, index)
        if file not in begun:
            yield name, never
            continue
        read += 1
        reason = _why(transcripts, file) if read <= MOST_READ else Reason(INTERRUPTED)
        going = running and reason.word == INTERRUPTED
        yield name, Reason(UNDER_WAY) if going else reason


def _why(transcripts: Transcripts, name: str) -> Reason:
    try:
        last = transcripts.last_event(name)
    except RunDirectoryError:
        last = None
    if isinstance(last, NotGraded):
        return Reason(str(last.verdict), _line(last.cause))
    if isinstance(last, PutOff):
        return _why_put_off(last)
    if isinstance(last, SampleEnd) and last.stop_reason in UNGRADED_ENDS:
        return Reason(last.stop_reason, _line(last.error))
    return Reason(INTERRUPTED)


def _why_put_off(event: PutOff) -> Reason:
    """Return the limit the sample waits for; only provider failures have a cause."""
    if event.reason == RunStop.INTERRUPT:
        return Reason(INTERRUPTED)
    return Reason(event.reason, "" if event.reason == RunStop.BUDGET else _line(event.cause))


def _line(text: str) -> str:
    """Return the first line of an error, shortened."""
    return text.strip().split("\n", 1)[0][:LONGEST_CAUSE]


def _file_name(problem_id: str, index: int) -> str:
    """Return a transcript's name; empty for an invalid id, which has no transcript."""
    try:
        return file_name(problem_id, index)
    except UnicodeEncodeError:
        return ""
