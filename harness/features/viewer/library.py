"""All runs below a folder, cached until they change."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.features.viewer.open_run import (
    Item,
    ListedRuns,
    OpenRun,
    RunPlace,
    find_places,
    key_of,
    stamp_of,
    transcript_name,
)
from harness.features.viewer.query import sums
from harness.features.viewer.transcript_index import Entries, TranscriptIndex, entries_of
from harness.run.store.directory import read_manifest
from harness.run.store.planned_samples import planned_samples
from harness.run.store.state import RunState
from harness.run.summary.loaded_run import benchmark_words, stored_summary
from harness.stats.rates import Rate

LOOKED_FOR_S = 1.0
"""Least seconds between searches for runs."""
REST = 20
"""Multiple of a search's time until the next one, to search large folders rarely."""
MOST_OPEN = 16
MOST_TAPES = 8
MOST_OTHERS = 20
"""Most other runs that a sample's page links to."""


class Listed(NamedTuple):
    """A run in the list; if it is unreadable, `error` says why and the rest is empty."""

    key: str
    name: str
    group: str
    experiment: bool
    model: str = ""
    mode: str = ""
    prompt: str = ""
    created: str = ""
    data: str = ""
    planned: int = 0
    done: int = 0
    rate: Rate | None = None
    cost: float | None = None
    running: bool = False
    state: RunState | None = None
    error: str = ""


class Talk(NamedTuple):
    """A sample's transcript; `there` is false if it has none."""

    tape: TranscriptIndex
    entries: Entries
    there: bool


class Elsewhere(NamedTuple):
    """A problem in another run: key and state of its first sample there."""

    run: Listed
    sample: str
    state: str


class Library:
    """The runs below a folder. Not thread-safe.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._listing: tuple[float, ListedRuns] | None = None
        self._open: OrderedDict[str, OpenRun] = OrderedDict()
        self._tapes: OrderedDict[tuple[str, str, bool], tuple[TranscriptIndex, int, Entries]] = (
            OrderedDict()
        )
        self._listed: dict[str, tuple[tuple[Any, ...], Listed]] = {}
        self._states: dict[str, tuple[tuple[Any, ...], dict[str, tuple[str, str]]]] = {}

    def listing(self) -> ListedRuns:
        """Return the runs, from a search that is not too old."""
        began = time.monotonic()
        if self._listing is None or began > self._listing[0]:
            places = find_places(self.root)
            now = time.monotonic()
            self._listing = now + max(LOOKED_FOR_S, REST * (now - began)), places
        return self._listing[1]

    def place(self, key: str) -> RunPlace:
        """Return where the run of a key is. Raises KeyError."""
        for place in self.listing().places:
            if place.key == key:
                return place
        raise KeyError(key)

    def forget(self) -> None:
        """Search for runs again, as one was deleted."""
        self._listing = None
        self._open.clear()

    def elsewhere(self, run: OpenRun, item: Item) -> list[Elsewhere]:
        """Return the same problem in other runs, the newest first, at most `MOST_OTHERS`."""
        elsewhere: list[Elsewhere] = []
        for listed in self.listed():
            if listed.key == run.place.key or listed.error:
                continue
            if len(elsewhere) == MOST_OTHERS:
                break
            states = self._states_of(listed)
            if item.problem_id in states:
                sample, state = states[item.problem_id]
                elsewhere.append(Elsewhere(listed, sample, state))
        return elsewhere

    def _states_of(self, listed: Listed) -> dict[str, tuple[str, str]]:
        """Return key and state of the first sample of each problem of a run."""
        place = self.place(listed.key)
        stamp = stamp_of(place.path)
        kept = self._states.get(place.key)
        if kept is None or kept[0] != stamp:
            states: dict[str, tuple[str, str]] = {}
            for item in self._refreshed(place).items.values():
                states.setdefault(item.problem_id, (item.key, item.state))
            kept = self._states[place.key] = stamp, states
        return kept[1]

    def version(self) -> str:
        """Return a hash that changes when the list may have changed."""
        return key_of(repr([(place.key, stamp_of(place.path)) for place in self.listing().places]))

    def listed(self) -> list[Listed]:
        """Return all runs, grouped by folder, the newest first."""
        runs = [self._line(place) for place in self.listing().places]
        runs.sort(key=lambda run: (run.created, run.name), reverse=True)
        newest = {run.group: at for at, run in reversed(list(enumerate(runs)))}
        return sorted(runs, key=lambda run: (run.group != "", newest[run.group]))

    def _line(self, place: RunPlace) -> Listed:
        stamp = stamp_of(place.path)
        kept = self._listed.get(place.key)
        if kept is None or kept[0] != stamp:
            kept = self._listed[place.key] = stamp, self._read(place)
        return kept[1]

    def _read(self, place: RunPlace) -> Listed:
        here = place.key, place.name, place.group, place.experiment
        try:
            return self._summed(place, here)
        except HarnessError as error:
            return Listed(*here, error=str(error))

    def _summed(self, place: RunPlace, here: tuple[str, str, str, bool]) -> Listed:
        manifest = read_manifest(place.path)
        planned = planned_samples(manifest)
        summary = stored_summary(place.path, planned)
        if summary is not None and summary.graded + summary.ungraded >= planned:
            state = RunState(word="done", planned=planned, done=planned, pending={})
            done, rate, cost = summary.graded + summary.ungraded, summary.pass_at_1, summary.cost
        else:
            run = self._refreshed(place)
            state = run.state
            summed = sums(run.items.values())
            done, rate, cost = summed.done, summed.rate, summed.cost
        return Listed(
            *here,
            model=str(manifest["spec"].get("model", "")),
            mode=str(manifest["spec"].get("mode", "")),
            prompt=str(manifest["prompt"].get("name", "")),
            created=created(manifest),
            data=benchmark_words(manifest["spec"].get("benchmark")),
            planned=planned,
            done=done,
            rate=rate,
            cost=cost,
            running=state.word == "running",
            state=state,
        )

    def run(self, key: str) -> OpenRun:
        """Return a run, refreshed.

        Raises:
            KeyError: there is no run of that key.
            RunDirectoryError: the run cannot be read.
        """
        return self._refreshed(self.place(key))

    def _refreshed(self, place: RunPlace) -> OpenRun:
        run = self._open.setdefault(place.key, OpenRun(place))
        self._open.move_to_end(place.key)
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        run.refresh()
        return run

    def talk(self, run: OpenRun, item: Item) -> Talk:
        """Return a sample's transcript, refreshed. Raises RunDirectoryError."""
        where = run.place.key, item.key, item.row is None
        name = transcript_name(item.problem_id, item.index)
        tape, lines, entries = self._tapes.pop(
            where, (TranscriptIndex(run.path, name), -1, Entries((), {}))
        )
        there = tape.refresh()
        if tape.changes != lines:
            entries = entries_of(tape, run.rows.whole(item.sample).steps if item.row else ())
        self._tapes[where] = tape, tape.changes, entries
        while len(self._tapes) > MOST_TAPES:
            self._tapes.popitem(last=False)
        return Talk(tape, entries, there)


def winners(runs: Sequence[Listed]) -> dict[str, list[Listed]]:
    """Return each group's runs with the highest rate: several if they are equal."""
    best_of: dict[str, list[Listed]] = {}
    for run in runs:
        best = best_of.setdefault(run.group, [])
        if run.rate is None or (best and best[0].rate and best[0].rate.value > run.rate.value):
            continue
        equal = bool(best and best[0].rate and best[0].rate.value == run.rate.value)
        best_of[run.group] = [*best, run] if equal else [run]
    return best_of


def created(manifest: dict[str, Any]) -> str:
    """Return the start time of a run, from its manifest."""
    return str(manifest.get("created", ""))[:16].replace("T", " ")
