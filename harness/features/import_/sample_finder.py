"""Find the sample that each trajectory of a file belongs to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import DataError, NothingSelectedError, UsageError
from harness.features.import_.imported_sample import (
    WRITE_TOOLS,
    ImportedSample,
    WriteTool,
    imported_sample,
)
from harness.features.import_.trajectory import Trajectory
from harness.features.import_.trajectory_file import TrajectoryFile
from harness.languages import PYTHON
from harness.problem import Problem
from harness.run.plan.problem_kinds import rules_of
from harness.run.settings.problem_settings import MOST_SAMPLES
from harness.sources.problem_names import Names


class Finder(NamedTuple):
    """Finds the sample of each trajectory, the same at each reading of the file.

    Args:
        problems: problems to search.
        extract: a name of `ProblemKind.extractors`.
        tools: tools that take the solution.
        language: language of the solutions.
    """

    problems: Sequence[Problem]
    extract: str
    tools: tuple[WriteTool, ...] = WRITE_TOOLS
    language: str = PYTHON

    def samples(
        self, trajectories: Iterable[Trajectory], unmatched: Counter[str]
    ) -> Iterator[tuple[Trajectory, ImportedSample]]:
        """Yield each trajectory with its sample; count names that fit no problem, or several.

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
                rules = rules_of([first or problem, problem], self.language)
                extract = rules.extractor(self.extract)
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


class FoundSamples(NamedTuple):
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


def read_samples(file: TrajectoryFile, finder: Finder) -> FoundSamples:
    """Read the samples of a file, without their conversations.

    Raises:
        UsageError: the file cannot be opened, is empty, or has no such extraction rule.
        DataError: a row is malformed.
        NothingSelectedError: no trajectory is for one of the problems.
    """
    unmatched = Counter[str]()
    samples_found = FoundSamples([], unmatched, set(), set())
    for trajectory, sample in finder.samples(file.trajectories(), unmatched):
        samples_found.models.add(trajectory.model)
        samples_found.modes.add(trajectory.mode)
        samples_found.samples.append(sample)
    if not samples_found.samples:
        if not unmatched:
            raise UsageError(f"{file.path} holds no trajectory")
        raise NothingSelectedError(
            f"none of {unmatched.total():,} trajectories in {file.path} is for one of "
            f"{len(finder.problems):,} problems: the first is for {next(iter(unmatched))!r:.60}"
        )
    return samples_found
