"""The state of a run: done, running, stopped or pending, and why."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.agent.attempt import RunStop
from harness.agent.events import NotGraded, PutOff, SampleEnd
from harness.errors import RunDirectoryError
from harness.models.protocol import Frozen
from harness.run.spec.problem_settings import planned_samples
from harness.run.store.directory import is_under_way
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcript_contents import requests_of
from harness.run.store.transcripts import Transcripts

Word = Literal["done", "running", "stopped", "pending"]
NOT_RUN, INTERRUPTED, UNDER_WAY = "not_run", "interrupted", "under_way"
NOT_NEEDED = "not_needed"
"""Reason of samples an experiment left out as decided; set in the manifest."""
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


class RunState(Frozen):
    """Progress of a run.

    Attributes:
        word: `done`; `running` while a process is working on it; `stopped` if an error left
            samples pending; `pending` if they are pending for another reason.
        planned, done: number of samples.
        pending: number of pending samples by reason.
        cause: the most frequent error of pending samples.
    """

    word: Word
    planned: int
    done: int
    pending: dict[str, int]
    cause: str = ""

    @property
    def text(self) -> str:
        """The state in one line."""
        if self.word == "done":
            return "done"
        if self.word == "running":
            return f"running {self.done:,}/{self.planned:,}"
        if self.word == "stopped":
            return f"stopped {self.done:,}/{self.planned:,}: {self.cause}"
        reasons = ", ".join(f"{n:,} {reason_text(word)}" for word, n in self.pending.items())
        return f"pending {self.planned - self.done:,}: {reasons}"


def reason_text(word: str) -> str:
    """Return the text for a reason, to follow the number of samples."""
    told = {
        "budget": "stopped by the budget",
        "outage": "stopped by an outage",
        NOT_NEEDED: "not needed, as the experiment was decided",
    }
    return told.get(word, word.replace("_", " "))


def state_of(
    run: Path,
    manifest: Mapping[str, Any],
    done: Collection[str],
    reasons: Mapping[str, Reason] | None = None,
    *,
    running: bool | None = None,
) -> RunState:
    """Return the state of a run.

    Args:
        run: the run directory.
        manifest: contents of `run.json`.
        done: names of the samples with a result.
        reasons: reasons of the pending samples by name, if already known.
        running: whether a process is working on it, if already known.
    """
    planned = planned_samples(manifest)
    if len(done) >= planned:
        return RunState(word="done", planned=planned, done=len(done), pending={})
    if running is None:
        running = is_under_way(run)
    if reasons is None:
        reasons = dict(pending_reasons(run, manifest, done, running=running))
    pending = Counter(reason.word for reason in reasons.values())
    missing = planned - len(done) - pending.total()  # in shards that were not merged
    pending += Counter({NOT_RUN: max(0, missing)})
    causes = Counter(reason.cause for reason in reasons.values() if reason.cause)
    cause = causes.most_common(1)[0][0] if causes else ""
    return RunState(
        word="running" if running else "stopped" if cause else "pending",
        planned=planned,
        done=len(done),
        pending=dict(pending.most_common()),
        cause=cause,
    )


def pending_reasons(
    run: Path, manifest: Mapping[str, Any], done: Collection[str], *, running: bool
) -> Iterator[tuple[str, Reason]]:
    """Yield the name of each planned sample without a result, and why it is pending."""
    with Transcripts(run) as transcripts:
        try:
            begun = set(transcripts.names())
        except RunDirectoryError:  # reasons are unknown with a damaged pack
            begun = set[str]()
        never = Reason(NOT_NEEDED) if manifest.get(NOT_NEEDED) else NEVER_RUN
        read = 0
        for index in range(manifest["spec"]["samples_per_problem"]):
            for problem_id in manifest["problems"]:
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


def unheard_requests(run: Path, done: Iterable[SampleResult]) -> int:
    """Return the number of requests of unfinished samples whose answer was lost.

    Raises:
        RunDirectoryError: the pack is damaged.
    """
    finished = {file_name(result.problem_id, result.index) for result in done}
    found = 0
    with Transcripts(run) as transcripts:
        for name in set(transcripts.names()) - finished:
            with suppress(RunDirectoryError):
                found += sum(each.estimated for each in requests_of(transcripts.events(name)))
    return found
