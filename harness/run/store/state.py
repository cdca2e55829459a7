"""State of a run: done, running, stopped or pending."""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from harness.frozen import Frozen
from harness.run.store.directory import is_under_way
from harness.run.store.pending import NOT_NEEDED, NOT_RUN, Reason, pending_reasons, reason_text
from harness.run.store.planned_samples import planned_samples

Word = Literal["done", "running", "stopped", "pending"]


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
