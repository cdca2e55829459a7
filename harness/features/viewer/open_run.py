"""A run that the viewer shows, kept up to date; its URL, and why it is not deleted."""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import RunDirectoryError
from harness.features.viewer.result_index import ResultRow, Rows
from harness.models.prices.price_lists import ListedPrice
from harness.run.store import deletion
from harness.run.store.directory import MANIFEST, RESULTS, find_runs, is_under_way, read_manifest
from harness.run.store.pending import NEVER_RUN, Reason, pending_reasons
from harness.run.store.planned_samples import planned_samples, samples_by_problem
from harness.run.store.results import limits_of_the_run
from harness.run.store.state import RunState, state_of
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import FOLDER
from harness.run.summary.loaded_run import price_in, stored_summary
from harness.run.summary.summary import Summary

EXPERIMENT = "experiment.json"
MOST_SAMPLES = 200_000
"""Most samples of a run that are listed."""


class RunPlace(NamedTuple):
    """A run's directory.

    Attributes:
        key: id of the run in URLs, which does not show its path.
        name: path below the served folder, or the run's own name if it is that folder.
        group: path of the experiment or folder that contains it; empty for the served folder.
        experiment: whether that is an experiment.
    """

    key: str
    path: Path
    name: str
    group: str
    experiment: bool


class ListedRuns(NamedTuple):
    """The runs below a folder; `cut` is true if the search ended before it saw all."""

    places: tuple[RunPlace, ...]
    cut: bool


def find_places(root: Path) -> ListedRuns:
    """Find the runs below a folder, with `harness.run.store.directory`."""
    runs = find_runs(root)
    return ListedRuns(tuple(_place(root, path) for path in runs.paths), runs.cut)


def _place(root: Path, path: Path) -> RunPlace:
    own = path == root
    parent = path.parent
    return RunPlace(
        key=key_of(str(path.resolve())),
        path=path,
        name=path.resolve().name if own else path.relative_to(root).as_posix(),
        group="" if own or parent == root else parent.relative_to(root).as_posix(),
        experiment=not own and (parent / EXPERIMENT).is_file(),
    )


def key_of(name: str) -> str:
    """Return a short hash of a name, for URLs: no part of a URL is ever a path."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def refusal(root: Path, place: RunPlace) -> str:
    """Say why a run cannot be deleted; empty if it can."""
    path, folder = place.path, root.resolve()
    if path.resolve() == folder:
        return "It is the folder that is served: delete it yourself."
    if not path.is_symlink() and not path.resolve().is_relative_to(folder):
        return "It lies outside the folder that is served."
    return deletion.refusal(path)


@dataclass(frozen=True, slots=True)
class Item:
    """A sample of a run, finished or not.

    Attributes:
        key: id of the sample in URLs.
        row: row of its result; None if it has none yet.
        reason: reason why it is pending, if it has no result.
    """

    key: str
    sample: str
    problem_id: str
    index: int
    row: ResultRow | None
    reason: Reason = NEVER_RUN

    @property
    def title(self) -> str:
        """The problem's title, or its id if the title is unknown."""
        return self.row.title if self.row else self.problem_id

    @property
    def state(self) -> str:
        """The verdict, what was done about an impossible test, or why there is neither."""
        if self.row is not None:
            done = self.row.impossible
            return str(self.row.verdict) if done is None else f"impossible_{done.outcome}"
        return self.reason.word


class OpenRun:
    """A run as of its last refresh.

    Attributes:
        manifest: content of `run.json`.
        items: samples by key: those with a result in the order they ended, then the others.
    """

    def __init__(self, place: RunPlace) -> None:
        self.place = place
        self.manifest: dict[str, Any] = {}
        self.items: dict[str, Item] = {}
        self.rows = Rows(place.path / RESULTS)
        self._stamp: tuple[Any, ...] = ()
        self._keys: dict[str, str] = {}
        self.state = RunState(word="pending", planned=0, done=0, pending={})

    @property
    def path(self) -> Path:
        """The run's directory."""
        return self.place.path

    @property
    def spec(self) -> dict[str, Any]:
        """The stored spec, by its keys."""
        return self.manifest["spec"]

    @property
    def planned(self) -> int:
        """Number of planned samples."""
        return planned_samples(self.manifest)

    @property
    def done(self) -> int:
        """Number of samples with a result."""
        return len(self.rows.of)

    @property
    def summary(self) -> Summary | None:
        """The run's summary; None if it has none, or results came since."""
        return stored_summary(self.path, self.planned)

    @property
    def version(self) -> str:
        """Hash that changes when something shown may have changed."""
        return key_of(repr(self._stamp))

    @property
    def price(self) -> ListedPrice | None:
        """Price of tokens; None if unknown."""
        with suppress(RunDirectoryError):
            return price_in(self.path, self.manifest)
        return None

    def refresh(self) -> None:
        """Read what has changed.

        Raises:
            RunDirectoryError: the directory is not, or no longer, a run.
        """
        stamp = stamp_of(self.path)
        if stamp == self._stamp:
            return
        self.manifest = read_manifest(self.path)
        self.rows.refresh(self.price, limits_of_the_run(self.manifest))
        running = is_under_way(self.path)
        done, reasons = self.rows.of, dict[str, Reason]()
        if len(done) < self.planned:
            reasons = dict(pending_reasons(self.path, self.manifest, done, running=running))
        self.state = state_of(self.path, self.manifest, done, reasons, running=running)
        self.items = {item.key: item for item in self._listed(reasons)}
        self._stamp = stamp

    def _listed(self, reasons: Mapping[str, Reason]) -> list[Item]:
        done = [
            Item(self._key(name), name, row.problem_id, row.index, row)
            for name, row in self.rows.of.items()
        ]
        for problem_id, number in samples_by_problem(self.manifest).items():
            for index in range(number):
                name = sample_name(problem_id, index)
                reason = reasons.get(name)
                if reason is not None and len(done) < MOST_SAMPLES:
                    done.append(Item(self._key(name), name, problem_id, index, None, reason))
        return done

    def _key(self, name: str) -> str:
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = key_of(name)
        return key


def stamp_of(path: Path) -> tuple[Any, ...]:
    """Return a value that changes with a run: times and sizes of files, and the lock."""
    names = (MANIFEST, RESULTS, FOLDER)
    return (*(_stat(path / name) for name in names), is_under_way(path))


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def transcript_name(problem_id: str, index: int) -> str:
    """Return the name of a sample's transcript; empty if the id is not valid text."""
    try:
        return file_name(problem_id, index)
    except UnicodeEncodeError:  # lone surrogates: no such file exists
        return ""
