"""Run of imported trajectories, whose revisions are all judged here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from harness.agent.events import Graded
from harness.errors import DataError, NothingSelectedError, UsageError
from harness.features.grade.solutions import Published
from harness.features.import_.imported_sample import (
    WRITE_TOOLS,
    ImportedSample,
    WriteTool,
    imported_sample,
    result_from,
)
from harness.features.import_.trajectory import Trajectory
from harness.features.import_.trajectory_file import TrajectoryFile
from harness.figures import count
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, TestResult, Verdict
from harness.models.prices import Price
from harness.problem import Problem
from harness.run.plan.problem_kinds import rules_of
from harness.run.settings.problem_settings import MOST_SAMPLES
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.sources.problem_names import Names
from harness.text import printable_line

MOST_SHOWN = 20
_Key = tuple[str, str]  # a problem's id, and a program


class Compared(NamedTuple):
    """A solution with both a published verdict and one made here.

    Attributes:
        what: name of the sample, with the number of the revision if one is meant.
        solved: whether it passed here.
        grade: its grade; None for a revision judged by an earlier call, unless it is the final one.
    """

    what: str
    published: Published
    solved: bool
    grade: Grade | None

    @property
    def agrees(self) -> bool:
        """Whether both verdicts say passed, or both say failed."""
        return self.published.passed == self.solved


def compared(
    sample: ImportedSample, result: SampleResult, grades: Mapping[str, Grade]
) -> Iterator[Compared]:
    """Yield a sample's solutions with both verdicts: revisions, then the final one.

    Args:
        sample: a sample that was judged.
        result: its result.
        grades: grades by code, if this call judged it.
    """
    final = grades.get(sample.final) or _grade_of(result)
    for number, (each, step) in enumerate(zip(sample.revisions, result.steps, strict=False), 1):
        grade = final if each.code == sample.final else grades.get(each.code)
        if each.published is not None and step.solved is not None:
            what = f"{sample.name} revision {number}"
            yield Compared(what, each.published, step.solved, grade)
    if sample.published is not None and result.graded:
        yield Compared(sample.name, sample.published, result.solved, final)


def _grade_of(result: SampleResult) -> Grade:
    """Return the grade of a result, as far as it is stored."""
    return Grade(
        verdict=result.verdict,
        tests=tuple(
            TestResult(
                index=index,
                public=each.public,
                verdict=each.verdict,
                cpu_s=each.cpu_s,
                wall_s=each.wall_s,
            )
            for index, each in enumerate(result.tests)
        ),
        public_total=result.public_total,
        hidden_total=result.hidden_total,
    )


def agreement_lines(found: Iterable[Compared]) -> list[str]:
    """Return a line on how many published verdicts agree, then each that does not."""
    all_ = list(found)
    if not all_:
        return []
    others = [each for each in all_ if not each.agrees]
    lines = [f"{len(all_) - len(others):,} of {count(len(all_), 'published verdict')} agree"]
    lines += [printable_line(f"  {_line(each)}") for each in others[:MOST_SHOWN]]
    if len(others) > MOST_SHOWN:
        lines.append(f"  and {len(others) - MOST_SHOWN:,} more")
    return lines


def _line(each: Compared) -> str:
    theirs = "passed" if each.published.passed else "failed"
    told = each.published.verdict or each.published.note
    words = f"{each.what}: published {theirs}{f' ({told})' if told else ''}, here "
    grade = each.grade
    if grade is None:
        return words + ("passed" if each.solved else "failed")
    failed = next((test for test in grade.tests if not test.passed), None)
    at = ""
    if failed is not None:
        at = f" at {'public' if failed.public else 'hidden'} test {failed.index + 1}"
    total = grade.public_total + grade.hidden_total
    passed = grade.public_passed + grade.hidden_passed
    return f"{words}{grade.verdict}{at}, {passed} of {count(total, 'test')} passed"


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


class Reading(NamedTuple):
    """What a file holds, without conversations.

    Attributes:
        samples: the samples.
        unmatched: the names that fit no one problem, counted.
        models, modes: models and modes that the trajectories name; one may be empty.
    """

    samples: list[ImportedSample]
    unmatched: Counter[str]
    models: set[str]
    modes: set[str]

    def model(self, file: Path) -> str:
        """Return the only model; empty if none is named. Raises UsageError for several."""
        named = sorted(self.models - {""})
        if len(named) > 1:
            raise UsageError(
                f"{file} holds runs of {len(named)} models ({', '.join(named[:5]):.200}): a run "
                "has one; split the file, or name all of them with --model"
            )
        return named[0] if named else ""

    def mode(self) -> str:
        """Return the mode if all trajectories name the same one; else an empty string."""
        return next(iter(self.modes)) if len(self.modes) == 1 else ""


def read_samples(file: TrajectoryFile, finder: Finder) -> Reading:
    """Read the samples of a file, without their conversations.

    Raises:
        UsageError: the file cannot be opened, is empty, or has no such extraction rule.
        DataError: a row is malformed.
        NothingSelectedError: no trajectory is for one of the problems.
    """
    unmatched = Counter[str]()
    found = Reading([], unmatched, set(), set())
    for trajectory, sample in finder.samples(file.trajectories(), unmatched):
        found.models.add(trajectory.model)
        found.modes.add(trajectory.mode)
        found.samples.append(sample)
    if not found.samples:
        if not unmatched:
            raise UsageError(f"{file.path} holds no trajectory")
        raise NothingSelectedError(
            f"none of {unmatched.total():,} trajectories in {file.path} is for one of "
            f"{len(finder.problems):,} problems: the first is for {next(iter(unmatched))!r:.60}"
        )
    return found


@dataclass(slots=True)
class Judgements:
    """Grades of a run's revisions; a sample is committed when its last grade arrives.

    Args:
        directory: directory of the run.
        samples: samples to judge.
        price: the model's price, if known.

    Attributes:
        failures: name, verdict and cause of samples with an infrastructure failure.
    """

    directory: RunDirectory
    samples: Sequence[ImportedSample]
    price: Price | None = None
    failures: list[tuple[str, Verdict, str]] = field(default_factory=list[tuple[str, Verdict, str]])
    _jobs: list[Job] = field(default_factory=list[Job])
    _waiting: dict[_Key, list[ImportedSample]] = field(
        default_factory=dict[_Key, list[ImportedSample]]
    )
    _judged: dict[_Key, Judged] = field(default_factory=dict[_Key, Judged])
    _left: Counter[str] = field(default_factory=Counter[str])

    def jobs(self) -> list[Job]:
        """Return the jobs: each program of a problem once, sorted by problem."""
        for sample in self.samples:
            self._left[sample.name] = len(sample.codes)
            for code in sample.codes:
                key = (sample.problem.id, code)
                if key not in self._waiting:
                    self._jobs.append(Job(len(self._jobs), sample.problem, code))
                self._waiting.setdefault(key, []).append(sample)
        return sorted(self._jobs, key=lambda job: job.problem.id)

    def keep(self, judged: Judged) -> None:
        """Store a grade and commit the samples that it completes. Raises StorageError."""
        job = self._jobs[judged.number]
        key = (job.problem.id, str(job.code))
        self._judged[key] = judged
        for sample in self._waiting[key]:
            self._left[sample.name] -= 1
            if not self._left[sample.name]:
                self._commit(sample)

    def compared(
        self, samples: Iterable[ImportedSample], results: Iterable[SampleResult]
    ) -> Iterator[Compared]:
        """Yield the solutions of all judged samples that have a published verdict too.

        Args:
            samples: all samples of the file.
            results: results of the run, also those of earlier calls.
        """
        by_name = {result.sample: result for result in results}
        for sample in samples:
            if sample.name in by_name:
                yield from compared(sample, by_name[sample.name], self._grades(sample))

    def _grades(self, sample: ImportedSample) -> dict[str, Grade]:
        """Return a sample's grades by code, as far as this call judged them."""
        keys = [(sample.problem.id, code) for code in sample.codes]
        return {key[1]: self._judged[key].grade for key in keys if key in self._judged}

    def _commit(self, sample: ImportedSample) -> None:
        final = self._judged[sample.problem.id, sample.final]
        if final.grade.verdict in INFRASTRUCTURE:
            self.failures.append((sample.name, final.grade.verdict, final.cause))
            return
        with self.directory.transcript(sample.problem.id, sample.index) as write:
            write(Graded(grade=final.grade))
        self.directory.results.append(result_from(sample, self._grades(sample), self.price))
