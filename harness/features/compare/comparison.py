"""Compare runs with a baseline, paired by problem and by sample."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.differences.conditions import agents_told, conditions_differ
from harness.features.compare.differences.judging import changed_problems, unlike
from harness.features.compare.differences.settings import settings_differ, value_of
from harness.features.compare.flips import Flip, flips_of
from harness.features.compare.groups import Group, grouped
from harness.features.compare.speed import Faster
from harness.features.compare.spend import equal_spend
from harness.features.compare.spend_result import SpendComparison
from harness.figures import count
from harness.frozen import Frozen
from harness.registry import hooks
from harness.run.settings.spec import COMPARED
from harness.run.store.directory import refuse_experiment
from harness.run.store.origin import verdicts_of
from harness.run.store.pending import NOT_NEEDED
from harness.run.store.results import uncollected
from harness.run.summary.filtered_run import EVERYTHING, filtered_together
from harness.run.summary.loaded_run import (
    Bounds,
    Run,
    benchmark_words,
    bracket_of,
    pending_of,
    prices_as_of,
    read_run,
)
from harness.run.summary.summary import Summary, summarize
from harness.sources.selection import Selection
from harness.stats.holm import holm
from harness.stats.paired import Paired, compare_counts
from harness.stats.pass_at_k import Counts

SCHEMA = 1
LEVEL = 0.05
"""Significance level: p-values below it are called unlikely to be chance."""

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ComparedRun(Frozen):
    """One of the runs compared.

    Attributes:
        label: a letter, in the order given.
        settings: settings that can change a result; the default if the run is older than a key.
        verdicts: origin of the verdicts: `made here`, or `published` if the run was imported.
        summary: summary of the run.
        open: bounds of pass@1 given the pending samples.
        seconds: seconds of all samples together; None if unknown.
        paired: summary of the graded samples of the problems all runs have; None if those are all.
    """

    label: str
    path: str
    settings: dict[str, Any]
    verdicts: str
    summary: Summary
    open: Bounds
    seconds: float | None
    paired: Summary | None = None
    # Only for terminal output: the benchmark's name and release, and the filter, in words.
    benchmark: SkipJsonSchema[str] = Field(default="", exclude=True)
    filtered_by: SkipJsonSchema[str] = Field(default="", exclude=True)
    filter_notes: SkipJsonSchema[tuple[str, ...]] = Field(default=(), exclude=True)


class SamplePairs(Frozen):
    """Counts of sample pairs (same problem and index) by which run solved them."""

    both: int
    neither: int
    only_a: int
    only_b: int


class Pairwise(Frozen):
    """A run against the baseline, over the problems that both have.

    Attributes:
        baseline, label: the runs' letters. In `paired`, `samples`, `groups` and `flips` the
            baseline is `a` and the other run `b`.
        several: whether a problem has several samples in one of the runs.
        p_holm: p-value of the difference, corrected by Holm for the number of runs compared.
        groups: groups by difficulty, platform, tag and month of release.
        flips: problems that one of the runs did better on, the greatest difference first.
        faster: comparison of speed; None if not measured in both, or with different methods.
        unlike: reasons why the two are not fully comparable, in words.
        worse_at_best, worse_at_worst: whether the run is worse than the baseline if all pending
            samples turn out in its favour, and against it; equal if none is pending.
        differs: differing settings, versions and content, in words, other than the model, the
            mode and the prompt set.
        notes: further notes, in words.
        changed: problems left out because their tests or statements differ between the runs.
        spend: both runs at equal spend, the baseline as `a`; None if their spend is unknown.
        looked: interval of the difference at any look, in place of that of `paired`, if an
            experiment that may stop early asked for it.
        stopped_early: whether such an experiment asked another question.
    """

    baseline: str
    label: str
    paired: Paired
    several: bool
    samples: SamplePairs
    p_holm: float
    groups: dict[str, tuple[Group, ...]]
    flips: tuple[Flip, ...]
    faster: Faster | None = None
    unlike: tuple[str, ...]
    differs: tuple[str, ...] = ()
    worse_at_best: bool = False
    worse_at_worst: bool = False
    notes: tuple[str, ...]
    changed: tuple[str, ...]
    spend: SpendComparison | None = None
    looked: SkipJsonSchema[tuple[float, float] | None] = Field(default=None, exclude=True)
    stopped_early: SkipJsonSchema[bool] = Field(default=False, exclude=True)

    @property
    def worse(self) -> bool:
        """Whether the run is significantly worse than the baseline."""
        return is_worse(self.paired.difference, self.p_holm)


def is_worse(difference: float, p_value: float) -> bool:
    """Return whether a difference is negative and significant."""
    return difference < 0 and p_value < LEVEL


class Comparison(Frozen):
    """Runs, and each of them except the baseline compared with the baseline."""

    schema_version: int = SCHEMA
    baseline: str
    runs: tuple[ComparedRun, ...]
    versus: tuple[Pairwise, ...]


def compare_runs(
    runs: Sequence[Path | Run],
    baseline: Path | Run | None = None,
    at: Sequence[float] | None = None,
    only: Selection = EVERYTHING,
) -> Comparison:
    """Read runs and compare them with a baseline, paired by problem.

    Args:
        runs: directories of two runs or more, or the loaded runs.
        baseline: the baseline, by default the first; added first if not in `runs`.
        at: mean spends per problem to compare at; see `spend_comparison`.
        only: which problems count; all by default.

    Raises:
        RunDirectoryError: a path is not a run, or a run shares no graded problem with the baseline.
        NothingSelectedError: the filters leave no problem of a run.
        UsageError: there are too few or too many runs, or a spend cannot be compared.
    """
    keys = [_key(run) for run in runs]
    if baseline is not None and _key(baseline) not in keys:
        runs, keys = [baseline, *runs], [_key(baseline), *keys]
    if len(runs) > len(LABELS):
        raise UsageError(f"{len(runs)} runs are too many to compare; give {len(LABELS)} at most")
    if not runs[1:]:
        for path in (each for each in runs if not isinstance(each, Run)):
            refuse_experiment(path)
        raise UsageError("give two runs to compare")
    place = 0 if baseline is None else keys.index(_key(baseline))
    with uncollected():
        read = [each if isinstance(each, Run) else read_run(each) for each in runs]
        return compare_read(filtered_together(read, only), place, at)


def _key(run: Path | Run) -> object:
    """Return what tells a run from others: its path, or the loaded run that it is."""
    return run.resolve() if isinstance(run, Path) else id(run)


def compare_read(
    runs: Sequence[Run], first: int = 0, at: Sequence[float] | None = None
) -> Comparison:
    """Compare loaded runs with the one at index `first`.

    Raises:
        RunDirectoryError: a run shares no graded problem with the baseline.
        UsageError: a spend of `at` cannot be compared.
    """
    others = [place for place in range(len(runs)) if place != first]
    pairs = [_Pair(runs[first], runs[other], LABELS[first], LABELS[other]) for other in others]
    corrected = holm([pair.paired.p_value for pair in pairs])
    shared = {p for p in pairs[0].shared if all(p in pair.counts[0] for pair in pairs)}
    return Comparison(
        baseline=LABELS[first],
        runs=tuple(_side(LABELS[place], run, shared) for place, run in enumerate(runs)),
        versus=tuple(
            pair.versus(p, len(others), at) for pair, p in zip(pairs, corrected, strict=True)
        ),
    )


class NothingSharedError(RunDirectoryError):
    """Two runs share no graded problem.

    Attributes:
        findings: what features found in both.
    """

    def __init__(self, message: str, findings: Sequence[str]) -> None:
        super().__init__("; ".join((message, *findings)))
        self.findings = findings


class _Pair:
    """Two runs and the problems they share."""

    def __init__(self, a: Run, b: Run, label_a: str, label_b: str) -> None:
        self.a, self.b, self.labels = a, b, (label_a, label_b)
        self.changed = changed_problems(a, b)
        graded_a, graded_b = (
            {p: each for p, each in run.columns.counts.items() if p not in self.changed}
            for run in (a, b)
        )
        self.alone = len(graded_a.keys() - graded_b.keys()), len(graded_b.keys() - graded_a.keys())
        self.shared = [problem for problem in graded_a if problem in graded_b]
        if not self.shared:
            why = "all they share have changed" if self.changed else "no graded problem is in both"
            names = str(a.path), str(b.path)
            raise NothingSharedError(
                f"{a.path} and {b.path} cannot be compared: {why}",
                tuple(_findings(a, b, names)),
            )
        self.counts = _only(graded_a, self.shared), _only(graded_b, self.shared)
        self.paired = compare_counts(*self.counts)

    def versus(self, p_holm: float, comparisons: int, at: Sequence[float] | None) -> Pairwise:
        """Build the result for this pair, one of `comparisons` pairs."""
        a, b = self.counts
        worse = is_worse(self.paired.difference, p_holm)
        return Pairwise(
            baseline=self.labels[0],
            label=self.labels[1],
            paired=self.paired,
            several=any(samples > 1 for side in self.counts for samples, _ in side.values()),
            samples=_sample_pairs(*map(self._results, (self.a, self.b))),
            p_holm=p_holm,
            groups=grouped(self.a.columns, a, b),
            flips=tuple(flips_of(self.a, self.b, self.labels, self.counts)),
            faster=self._faster(),
            unlike=tuple(unlike(self.a, self.b, self.labels, self.changed)),
            differs=(*settings_differ(self.a, self.b), *conditions_differ(self.a, self.b)),
            worse_at_best=self._worse_if(comparisons, a=0, b=1, usual=worse),
            worse_at_worst=self._worse_if(comparisons, a=1, b=0, usual=worse),
            notes=tuple(self._notes()),
            changed=tuple(sorted(self.changed)),
            spend=equal_spend(self.a, self.b, at, self.labels),
        )

    def _faster(self) -> Faster | None:
        found = (each(self.a, self.b, set(self.shared)) for each in hooks("faster").values())
        return next(found, None)

    def _worse_if(self, comparisons: int, *, a: int, b: int, usual: bool) -> bool:
        """Return whether B is worse if pending samples of A count `a`, of B `b`.

        The p-value is corrected by Bonferroni, because the other comparisons stay unchanged.
        """
        lacking = self._lacking
        if not any(lacking):
            return usual
        planned = set(self.a.manifest["problems"]) & set(self.b.manifest["problems"])
        planned -= self.changed
        if not any(problem in planned for each in lacking for problem in each):
            return usual
        whole_a, whole_b = (
            _completed(run, each, planned, value)
            for run, each, value in zip((self.a, self.b), lacking, (a, b), strict=True)
        )
        difference = compare_counts(whole_a, whole_b)
        return is_worse(difference.difference, min(1.0, difference.p_value * comparisons))

    @cached_property
    def _lacking(self) -> tuple[dict[str, int], dict[str, int]]:
        """The pending samples of both runs, by problem."""
        return pending_of(self.a), pending_of(self.b)

    def _results(self, run: Run) -> dict[tuple[str, int], bool]:
        """Return whether each graded sample of the shared problems is solved."""
        shared, table = set(self.shared), run.columns
        rows = table.rows("problem_id", "index", "solved", places=table.graded)
        return {(problem, index): solved for problem, index, solved in rows if problem in shared}

    def _notes(self) -> Iterator[str]:
        for label, run in zip(self.labels, (self.a, self.b), strict=True):
            yield from (f"{label}: {note}" for note in run.filter_notes)
        for label, alone in zip(self.labels, self.alone, strict=True):
            if alone:
                yield f"{count(alone, 'problem')} of {label} left out: not graded in the other run"
        for label, run in zip(self.labels, (self.a, self.b), strict=True):
            if cause := run.manifest.get(NOT_NEEDED):
                yield f"samples of {label} that were not needed are left out: {cause}"
        uneven = sum(self.counts[0][p][0] != self.counts[1][p][0] for p in self.shared)
        if uneven:
            yield f"{count(uneven, 'problem')} with more samples in one of the runs; all count"
        yield from agents_told(self.a, self.b, self.labels)
        yield from _findings(self.a, self.b, self.labels)


def _findings(a: Run, b: Run, labels: tuple[str, str]) -> Iterator[str]:
    """Yield what features find in two runs."""
    for each in hooks("findings").values():
        yield from each(a, b, labels)


def _completed(
    run: Run, lacking: Mapping[str, int], planned: Collection[str], solved: int
) -> dict[str, Counts]:
    """Return a run's counts with each pending sample counted as `solved`, 1 or 0."""
    counts = {problem: each for problem, each in run.columns.counts.items() if problem in planned}
    for problem, number in lacking.items():
        if problem in planned:
            samples, right = counts.get(problem, (0, 0))
            counts[problem] = samples + number, right + number * solved
    return counts


def _only(counts: dict[str, Counts], shared: Sequence[str]) -> dict[str, Counts]:
    return {problem: counts[problem] for problem in shared}


def _sample_pairs(a: dict[tuple[str, int], bool], b: dict[tuple[str, int], bool]) -> SamplePairs:
    pairs = [(solved, b[sample]) for sample, solved in a.items() if sample in b]
    return SamplePairs(
        both=pairs.count((True, True)),
        neither=pairs.count((False, False)),
        only_a=pairs.count((True, False)),
        only_b=pairs.count((False, True)),
    )


def _side(label: str, run: Run, shared: Collection[str]) -> ComparedRun:
    dated = prices_as_of(run.manifest)
    ids = run.columns["problem_id"]
    paired = [place for place in run.columns.graded if ids[place] in shared]
    return ComparedRun(
        label=label,
        path=str(run.path),
        settings={key: value_of(run.spec, key) for key in COMPARED},
        verdicts=verdicts_of(run.manifest),
        summary=run.summary,
        open=bracket_of(run),
        seconds=sum(run.columns["seconds"]) or None,  # 0 if imported
        paired=(
            summarize([run.results[n] for n in paired], len(paired), prices_as_of=dated)
            if len(paired) < len(run.results)
            else None
        ),
        benchmark=benchmark_words(run.spec.get("benchmark")),
        filtered_by=run.filtered_by,
        filter_notes=run.filter_notes,
    )
