"""Run of imported trajectories, whose revisions are all judged here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.agent.events import Graded
from harness.errors import DataError, NothingSelectedError, UsageError
from harness.features.import_.agreement import Compared, compared
from harness.features.import_.imported_sample import (
    ImportedSample,
    imported_sample,
    result_from,
    transcript_of,
)
from harness.features.import_.revisions import WRITE_TOOLS, WriteTool
from harness.features.import_.trajectory import Trajectory
from harness.features.import_.trajectory_file import TrajectoryFile
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.models.prices import Price
from harness.problem import Problem
from harness.run.plan.problem_kinds import judge_answer, rules_of
from harness.run.spec.problem_settings import MOST_SAMPLES
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.sources.problem_names import Names


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds the sample of each trajectory, the same at each reading of the file.

    Args:
        problems: problems to search.
        extract: a name of `ProblemKind.extractors`.
        tools: tools that take the solution.
    """

    problems: Sequence[Problem]
    extract: str
    tools: tuple[WriteTool, ...] = WRITE_TOOLS

    def samples(
        self, trajectories: Iterable[Trajectory], unmatched: Counter[str]
    ) -> Iterator[tuple[Trajectory, ImportedSample]]:
        """Yield each trajectory with its sample.

        Args:
            trajectories: trajectories of one file.
            unmatched: receives the names that fit no problem, or several.

        Raises:
            UsageError: the problems are of several kinds, or their kind has no such extraction
                rule.
            DataError: a sample occurs twice, or its revisions cannot be judged.
        """
        names, counts = Names(self.problems), Counter[str]()
        seen: dict[tuple[str, int], str] = {}
        first: Problem | None = None
        extract = None
        for trajectory in trajectories:
            candidates = names.candidates(trajectory.problem)
            if len(candidates) != 1:
                unmatched[trajectory.problem] += 1
                continue
            problem = candidates[0]
            if extract is None or first is None or problem.kind is not first.kind:
                extract = rules_of([first or problem, problem]).extractor(self.extract)
                first = problem
            index = counts[problem.id] if trajectory.index is None else trajectory.index
            counts[problem.id] += 1
            _check_index(seen, problem.id, index, trajectory.where)
            yield trajectory, imported_sample(trajectory, problem, index, self.tools, extract)


def _check_index(seen: dict[tuple[str, int], str], problem_id: str, index: int, where: str) -> None:
    if index >= MOST_SAMPLES:
        raise DataError(where, "sample", f"{index:,}; samples are numbered from 0")
    before = seen.setdefault((problem_id, index), where)
    if before != where or len(seen) > MOST_SAMPLES:
        what = f"sample {index} of {problem_id} is at {before} already"
        raise DataError(where, "sample", what)


@dataclass(slots=True)
class ModelsNamed:
    """Models and modes named by the trajectories of a file."""

    models: Counter[str] = field(default_factory=Counter[str])
    modes: Counter[str] = field(default_factory=Counter[str])

    def add(self, trajectory: Trajectory) -> None:
        """Count the model and mode of a trajectory."""
        self.models[trajectory.model] += 1
        self.modes[trajectory.mode] += 1

    def model(self, file: Path) -> str:
        """Return the only model; empty if none is named. Raises UsageError for several."""
        named = [name for name in self.models if name]
        if len(named) > 1:
            some = ", ".join(sorted(named)[:5])
            raise UsageError(
                f"{file} holds runs of {len(named)} models ({some:.200}): a run has one; split the "
                "file, or name all of them with --model"
            )
        return named[0] if named else ""

    def mode(self) -> str:
        """Return the mode if all trajectories name the same one; else an empty string."""
        return next(iter(self.modes)) if len(self.modes) == 1 else ""


def read_samples(
    file: TrajectoryFile, finder: Finder
) -> tuple[list[ImportedSample], Counter[str], ModelsNamed]:
    """Read the samples of a file, without their conversations.

    Returns:
        The samples, the counted names that fit no one problem, and the models and modes.

    Raises:
        UsageError: the file cannot be opened, is empty, or has no such extraction rule.
        DataError: a row is malformed.
        NothingSelectedError: no trajectory is for one of the problems.
    """
    unmatched, named = Counter[str](), ModelsNamed()
    samples: list[ImportedSample] = []
    for trajectory, sample in finder.samples(file.trajectories(), unmatched):
        named.add(trajectory)
        samples.append(sample)
    if not samples:
        if not unmatched:
            raise UsageError(f"{file.path} holds no trajectory")
        raise NothingSelectedError(
            f"none of {unmatched.total():,} trajectories in {file.path} is for one of "
            f"{len(finder.problems):,} problems: the first is for {next(iter(unmatched))!r:.60}"
        )
    return samples, unmatched, named


def write_transcripts(
    directory: RunDirectory, file: TrajectoryFile, finder: Finder, done: set[str], spec: RunSpec
) -> None:
    """Write the conversations of all samples without a result.

    Args:
        directory: directory of the run.
        file: file of the trajectories.
        finder: the same finder as at the first reading.
        done: names of samples that have a result.
        spec: spec of the run.

    Raises:
        StorageError: the disk refused to write.
        DataError: the file has changed since it was read.
    """
    for trajectory, sample in finder.samples(file.trajectories(), Counter()):
        if sample.name in done:
            continue
        with directory.new_transcript(sample.problem.id, sample.index) as write:
            for event in transcript_of(trajectory, sample, str(spec.model), spec.mode):
                write(event)


@dataclass(slots=True)
class Judgements:
    """Grades of a run's revisions; a sample is committed when its last grade arrives.

    Args:
        directory: directory of the run.
        samples: samples to judge.
        price: the model's price, if known.

    Attributes:
        compared: solutions with a verdict in the file.
        failures: name, verdict and cause of samples with an infrastructure failure.
    """

    directory: RunDirectory
    samples: Sequence[ImportedSample]
    price: Price | None = None
    compared: list[Compared] = field(default_factory=list[Compared])
    failures: list[tuple[str, Verdict, str]] = field(default_factory=list[tuple[str, Verdict, str]])
    _asked: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _waiting: dict[int, list[ImportedSample]] = field(
        default_factory=dict[int, list[ImportedSample]]
    )
    _grades: dict[int, Judged] = field(default_factory=dict[int, Judged])
    _left: Counter[str] = field(default_factory=Counter[str])

    def jobs(self) -> list[Job]:
        """Return the jobs: each program of a problem once, sorted by problem."""
        jobs: list[Job] = []
        for sample in self.samples:
            self._left[sample.name] = len(sample.codes)
            for code in sample.codes:
                key = (sample.problem.id, code)
                if key not in self._asked:
                    self._asked[key] = len(jobs)
                    jobs.append(Job(len(jobs), sample.problem, code))
                self._waiting.setdefault(self._asked[key], []).append(sample)
        return sorted(jobs, key=lambda job: job.problem.id)

    def keep(self, judged: Judged) -> None:
        """Store a grade and commit the samples that it completes. Raises StorageError."""
        self._grades[judged.number] = judged
        for sample in self._waiting[judged.number]:
            self._left[sample.name] -= 1
            if not self._left[sample.name]:
                self._commit(sample)

    def _commit(self, sample: ImportedSample) -> None:
        found = {code: self._grades[self._asked[sample.problem.id, code]] for code in sample.codes}
        final = found[sample.final]
        if final.grade.verdict in INFRASTRUCTURE:
            self.failures.append((sample.name, final.grade.verdict, final.cause))
            return
        grades: Mapping[str, Grade] = {code: judged.grade for code, judged in found.items()}
        self.compared += compared(sample, grades)
        with self.directory.transcript(sample.problem.id, sample.index) as write:
            write(Graded(grade=final.grade))
        self.directory.results.append(result_from(sample, grades, self.price))


def judge_answers(jobs: Iterable[Job]) -> Iterator[Judged]:
    """Yield the grades of answers, which need no sandbox. Raises DataError."""
    for job in jobs:
        yield Judged(job.number, judge_answer(job.problem, str(job.code)))


def with_problems(
    samples: Iterable[ImportedSample], problems: Iterable[Problem]
) -> list[ImportedSample]:
    """Return the samples with their problems replaced by these, by id."""
    by_id = {problem.id: problem for problem in problems}
    return [replace(each, problem=by_id[each.problem.id]) for each in samples]
