"""Runs that `harness ls` lists, and changes of scores over time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import to_json

from harness.errors import RunDirectoryError
from harness.frozen import Frozen
from harness.run.store.directory import RESULTS, read_manifest
from harness.run.store.files import reason_of
from harness.run.store.planned_samples import planned_samples, samples_by_problem
from harness.run.store.results import read_results
from harness.run.store.state import RunState, Word, state_of
from harness.run.summary.loaded_run import read_run, stored_summary
from harness.run.summary.summary import Summary
from harness.stats.paired import score_interval
from harness.stats.pass_at_k import Counts, share
from harness.stats.rates import Rate

SCHEMA = 1
SIGNIFICANT = 0.05


class ListedRun(Frozen):
    """Facts on a run for one line.

    Attributes:
        samples: most samples of a problem.
        samples_done: mean number of samples of a problem that have a result.
        selection: hash of its problems and tests; runs with the same hash can be compared.
        beyond: Beyond@1; None if no efficiency was measured.
        state: `done`, `running`, `stopped` by an error, or `pending`.
        pending: number of samples without a result.
        reason: the state in one line.
        created: start of the run, in UTC; None if unknown.
    """

    path: str
    model: str
    mode: str
    prompt: str
    problems: int
    samples: int
    samples_done: float
    selection: str
    pass_at_1: Rate | None
    beyond: Rate | None
    cost: float | None
    state: Word
    pending: int
    reason: str = ""
    created: datetime | None


class RunChange(Frozen):
    """Comparison of a run with an earlier one of the same selection.

    Attributes:
        against: path of the earlier run.
        problems: number of problems graded in both.
        better, worse: number of problems solved more often, or less often, than before.
        difference: difference of pass@1 over these problems.
        p_value: two-sided p-value of the difference, by the score test.
        notes: other differences, which may explain the change.
    """

    against: str
    problems: int
    better: int
    worse: int
    difference: float
    p_value: float
    notes: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """`regression` or `improvement` if the change is significant; else empty."""
        if self.p_value >= SIGNIFICANT or not self.difference:
            return ""
        return "regression" if self.difference < 0 else "improvement"


class TrendedRun(Frozen):
    """One run of a trend; `change` since an earlier one, if any; `word` as in `RunChange`."""

    run: SkipJsonSchema[ListedRun] = Field(exclude=True)
    path: str
    pass_at_1: Rate | None
    change: RunChange | None
    word: str | None

    @classmethod
    def of(cls, run: ListedRun, change: RunChange | None) -> Self:
        """Return a run with its change."""
        word = change.word if change else None
        return cls(run=run, path=run.path, pass_at_1=run.pass_at_1, change=change, word=word)


class Trend(Frozen):
    """Runs of one selection, the oldest first."""

    selection: str
    problems: int
    runs: tuple[TrendedRun, ...]


class ShownRuns(Frozen):
    """What `harness ls --json` prints; the trends with `--trend`."""

    schema_version: int = SCHEMA
    runs: tuple[ListedRun, ...]
    trends: Annotated[tuple[Trend, ...] | None, Field(exclude_if=lambda trends: trends is None)] = (
        None
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs found, the newest first, and errors for unreadable ones."""

    runs: tuple[ListedRun, ...]
    unreadable: tuple[str, ...]


def list_runs(paths: Iterable[Path]) -> Listing:
    """Read the runs at these paths, from their summaries if these are up to date."""
    runs: list[ListedRun] = []
    unreadable: list[str] = []
    for path in paths:
        try:
            runs.append(_listed(path))
        except RunDirectoryError as error:
            unreadable.append(str(error))
        except OSError as error:
            unreadable.append(f"{error.filename or path} cannot be read: {reason_of(error)}")
    newest = sorted(runs, key=lambda run: (_began(run), run.path), reverse=True)
    return Listing(tuple(newest), tuple(unreadable))


def trends(runs: Iterable[ListedRun]) -> Iterator[Trend]:
    """Yield the trend of each selection, the one with the newest run first.

    A run whose results cannot be read has no change, and no other run is compared with it.
    """
    by_selection: defaultdict[str, list[ListedRun]] = defaultdict(list)
    for run in runs:
        by_selection[run.selection].append(run)
    for selection, of_it in by_selection.items():
        ordered = sorted(of_it, key=lambda run: (_began(run), run.path))
        solved = [_solved(run) for run in ordered]
        limits = [_limits(run) for run in ordered]
        changes: list[RunChange | None] = []
        for place, run in enumerate(ordered):
            before = _before(ordered[:place], run, solved)
            if before is None or not solved[place]:
                changes.append(None)
                continue
            notes = ("other limits",) if limits[before] != limits[place] else ()
            changes.append(_change(ordered[before].path, solved[before], solved[place], notes))
        yield Trend(
            selection=selection,
            problems=ordered[0].problems,
            runs=tuple(map(TrendedRun.of, ordered, changes)),
        )


def _before(
    earlier: Sequence[ListedRun], run: ListedRun, solved: Sequence[dict[str, Counts]]
) -> int | None:
    """Return the index of the earlier run to compare with.

    It is the last one of the same model, mode and prompt, else the last of any.
    """
    graded = [place for place in range(len(earlier)) if solved[place]]
    alike = [place for place in graded if _kind(earlier[place]) == _kind(run)]
    return max(alike or graded, default=None)


def _kind(run: ListedRun) -> tuple[str, str, str]:
    return run.model, run.mode, run.prompt


def _change(
    against: str, before: dict[str, Counts], now: dict[str, Counts], notes: tuple[str, ...]
) -> RunChange | None:
    shared = before.keys() & now.keys()
    if not shared:
        return None
    pairs = [(share(before[problem]), share(now[problem])) for problem in sorted(shared)]
    better, worse = sum(y > x for x, y in pairs), sum(y < x for x, y in pairs)
    score = score_interval(
        pairs, min(sum(side[problem][0] for problem in shared) for side in (before, now))
    )
    return RunChange(
        against=against,
        problems=len(shared),
        better=better,
        worse=worse,
        difference=score.difference,
        p_value=score.p_value,
        notes=notes,
    )


def _solved(run: ListedRun) -> dict[str, Counts]:
    try:
        return read_run(Path(run.path)).columns.counts
    except RunDirectoryError:
        return {}


def _limits(run: ListedRun) -> Any:
    manifest = read_manifest(Path(run.path))
    return manifest.get("test_limits"), manifest["spec"].get("rule")


def _began(run: ListedRun) -> datetime:
    return run.created or datetime.min.replace(tzinfo=UTC)


def _listed(path: Path) -> ListedRun:
    manifest = read_manifest(path)
    try:
        spec, problems = manifest["spec"], manifest["problems"]
        samples = max(samples_by_problem(manifest).values(), default=1)
        model, mode = str(spec["model"]), str(spec["mode"])
        prompt = str(manifest["prompt"].get("name", ""))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunDirectoryError(f"{path}: its run.json is not as a run's") from error
    summary = stored_summary(path, planned_samples(manifest)) or read_run(path, manifest).summary
    state = _state(path, manifest, summary)
    return ListedRun(
        path=str(path),
        model=model,
        mode=mode,
        prompt=prompt,
        problems=len(problems),
        samples=samples,
        samples_done=(summary.graded + summary.ungraded) / max(1, len(problems)),
        selection=sha256(to_json(sorted(problems.items()))).hexdigest()[:12],
        pass_at_1=summary.pass_at_1,
        beyond=getattr(summary.efficiency, "beyond", None),
        cost=summary.cost,
        state=state.word,
        pending=0 if state.word == "done" else max(0, state.planned - state.done),
        reason=state.text,
        created=_time(manifest.get("created")),
    )


def _state(path: Path, manifest: Mapping[str, Any], summary: Summary) -> RunState:
    """Return the run's state; results are read only if the summary is not complete."""
    if summary.graded + summary.ungraded >= planned_samples(manifest):
        done = summary.graded + summary.ungraded
        return RunState(word="done", planned=done, done=done, pending={})
    return state_of(path, manifest, {each.sample for each in read_results(path / RESULTS)})


def _time(text: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
