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
from harness.run.spec.shard import planned_samples
from harness.run.store.discovery import is_under_way
from harness.run.store.request_log import requests_of
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import Transcripts

Word = Literal["done", "running", "stopped", "pending"]
NOT_RUN, INTERRUPTED, UNDER_WAY = "not_run", "interrupted", "under_way"
NOT_NEEDED = "not_needed"
"""Of samples that an experiment left out because it was decided; the manifest says so."""
MOST_READ = 20_000
"""Transcripts of pending samples that are looked into; the others count as interrupted."""
LONGEST_CAUSE = 300
UNGRADED_ENDS = frozenset({"model_error", "cost_limit", "token_limit"})
"""Ends after which a sample without a result stays pending; after others only its grade is missing.
"""


class Reason(NamedTuple):
    """Why a sample is pending.

    Attributes:
        word: `not_run`, `not_needed`, `under_way`, `interrupted`, or how it ended: a verdict of
            infrastructure, or a limit of the run.
        cause: what the provider or the sandbox said; empty where it said nothing.
    """

    word: str
    cause: str = ""


NEVER_RUN = Reason(NOT_RUN)


class RunState(Frozen):
    """How far a run is.

    Attributes:
        word: `done`; `running` while a process is at work on it; `stopped` where an error left
            samples pending; `pending` where they wait for no error's sake.
        planned, done: samples.
        pending: the others, by why they are pending.
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
    """Return why samples are pending as it stands behind their number."""
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
        run: its directory.
        manifest: what `run.json` says.
        done: the names of the samples that have a result.
        reasons: of the pending samples by name, where they are known already.
        running: whether a process is at work on it, where that is known already.
    """
    planned = planned_samples(manifest)
    if len(done) >= planned:
        return RunState(word="done", planned=planned, done=len(done), pending={})
    if running is None:
        running = is_under_way(run)
    if reasons is None:
        reasons = dict(pending_reasons(run, manifest, done, running=running))
    pending = Counter(reason.word for reason in reasons.values())
    missing = planned - len(done) - pending.total()  # of shards that were not merged
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
        except RunDirectoryError:  # a damaged pack says nothing of pending samples
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
    """Which limit of the run the sample waits for. Only a provider's failure has a cause."""
    if event.reason == RunStop.INTERRUPT:
        return Reason(INTERRUPTED)
    return Reason(event.reason, "" if event.reason == RunStop.BUDGET else _line(event.cause))


def _line(text: str) -> str:
    """The first line of an error, bounded."""
    return text.strip().split("\n", 1)[0][:LONGEST_CAUSE]


def _file_name(problem_id: str, index: int) -> str:
    """A transcript's name; empty for an id that is no text, of which nothing was ever written."""
    try:
        return file_name(problem_id, index)
    except UnicodeEncodeError:
        return ""


def unheard_requests(run: Path, done: Iterable[SampleResult]) -> int:
    """How many requests of samples without a result nobody heard the answer to.

    Raises:
        RunDirectoryError: its pack is damaged.
    """
    finished = {file_name(result.problem_id, result.index) for result in done}
    found = 0
    with Transcripts(run) as transcripts:
        for name in set(transcripts.names()) - finished:
            with suppress(RunDirectoryError):
                found += sum(each.estimated for each in requests_of(transcripts.events(name)))
    return found
