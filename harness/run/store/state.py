"""State and origin of a run: done, running or pending, and why; by which versions, and by whom."""

import platform
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from harness.agent.attempt import RunStop
from harness.agent.events import NotGraded, PutOff, SampleEnd
from harness.errors import RunDirectoryError
from harness.models.protocol import Frozen
from harness.run.settings.problem_settings import planned_samples
from harness.run.store.directory import is_under_way
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcript_contents import requests_of
from harness.run.store.transcripts import Transcripts
from harness.version import __version__

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

PUBLISHED, HERE = "published", "made here"
IMPORT_AGAIN = "; the same import judges what the log has"
"""What becomes of an imported run's pending samples, after a clause that names them."""

KEYS = ("harness", "git_revision", "python")


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
        word: `done`, also if the samples left are not needed; `running` while a process is working
            on it; `stopped` if an error left samples pending; `pending` if they are pending for
            another reason.
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
            return ", ".join(("done", *self._reasons()))
        if self.word == "running":
            return f"running {self.done:,}/{self.planned:,}"
        if self.word == "stopped":
            return f"stopped {self.done:,}/{self.planned:,}: {self.cause}"
        return f"pending {self.planned - self.done:,}: {', '.join(self._reasons())}"

    def _reasons(self) -> list[str]:
        return [f"{n:,} {reason_text(word)}" for word, n in self.pending.items()]


def reason_text(word: str) -> str:
    """Return the text for a reason, to follow the number of samples."""
    told = {
        "budget": "stopped by the budget",
        "outage": "stopped by an outage",
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
    word: Word = "done" if set(pending) == {NOT_NEEDED} else "stopped" if cause else "pending"
    return RunState(
        word="running" if running else word,
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


def verdicts_of(manifest: Mapping[str, Any]) -> str:
    """Return the origin of a run's verdicts: `published` or `made here`."""
    match manifest:
        case {"imported": {"verdicts": str(whose)}}:
            return whose
        case _:
            return HERE


def as_judged_here(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the import entry of a regraded run; empty if the run is not imported."""
    imported = manifest.get("imported")
    return {"imported": {**imported, "verdicts": HERE}} if imported else {}


def is_imported(manifest: Mapping[str, Any]) -> bool:
    """Whether another program made the run, so that it cannot be resumed."""
    return isinstance(manifest.get("imported"), dict)


def version_now() -> dict[str, Any]:
    """Return the current versions in the format of `run.json`."""
    return {
        "harness": __version__,
        "git_revision": git_revision(),
        "python": platform.python_version(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the versions a run was made with, in order, even for older formats."""
    stored = manifest.get("versions")
    if isinstance(stored, list):
        entries = cast("list[Any]", stored)
        return [cast("dict[str, Any]", each) for each in entries if isinstance(each, dict)]
    machine = manifest.get("machine")
    python = cast("dict[str, Any]", machine).get("python") if isinstance(machine, dict) else None
    first = {key: manifest.get(key) for key in KEYS[:2]}
    return [{**first, "python": python, "since": manifest.get("created")}]


def versions_after(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the versions of a resumed run, with a new entry if they have changed."""
    before, now = versions_of(manifest), version_now()
    last = before[-1] if before else {}
    same = all(last.get(key) == now[key] for key in KEYS)
    return before if same else [*before, now]


def versions_together(manifests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions of several runs, without duplicates."""
    found = {
        tuple(str(each.get(key)) for key in KEYS): each
        for manifest in manifests
        for each in reversed(versions_of(manifest))
    }
    return [*found.values()]


def version_change(manifest: Mapping[str, Any]) -> str:
    """Describe how the versions differ from the run's last ones; empty if equal."""
    *_, last = versions_of(manifest) or [{}]
    now = version_now()
    changed = [
        f"{name} {_short(last.get(key))}, now {_short(now[key])}"
        for key, name in zip(KEYS, ("harness", "revision", "Python"), strict=True)
        if last.get(key) != now[key]
    ]
    return f"the run was made under {'; '.join(changed)}" if changed else ""


def _short(value: object) -> str:
    return "unknown" if value is None else str(value)[:12]


@cache
def git_revision() -> str | None:
    """Return the git revision of the running checkout; None if it is not one."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
