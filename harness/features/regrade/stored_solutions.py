"""Grade a run's solutions again, with another rule or limits, as a new run.

No model is asked. The new run names its parent and takes over its transcripts, with the new grade
at their end: the conversations happened under the parent's limits. All revisions whose programs
the transcripts hold are graded, so that the rates by turn are of the same kind as the parent's.

A result holds only the final solution, and the hashes of all revisions. Their programs are looked
up by hash in the transcript. What is not found there, or has no hash in an older run, is unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from harness.agent.events import Event, Graded, Response, standing
from harness.agent.extraction.code import Extract
from harness.errors import RunDirectoryError
from harness.features.grade.sample_judgements import SampleToJudge
from harness.features.impossible.changed_tests import TestChange
from harness.features.impossible.impossible_result import with_impossible
from harness.grading.verdict import UNKNOWN, Grade
from harness.languages.program_key import code_hash
from harness.problem import Problem
from harness.run.store.directory import RESULTS, RunDirectory
from harness.run.store.results import SampleResult, graded, read_results
from harness.run.store.revision_programs import programs_of
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.tools.revision import Revision


class StoredSolution(NamedTuple):
    """A solution of the parent run, with its problem."""

    problem: Problem
    result: SampleResult


def stored_solutions(parent: Path, problems: Sequence[Problem]) -> list[StoredSolution]:
    """Return the solutions of a run, in the order of its results.

    Args:
        parent: directory of the run.
        problems: its problems as they are now.

    Raises:
        RunDirectoryError: the run has no results, or a problem is missing or has changed.
    """
    by_id = {problem.id: problem for problem in problems}
    stored: list[StoredSolution] = []
    for result in read_results(parent / RESULTS):
        problem = by_id.get(result.problem_id)
        if problem is None or problem.content_hash != result.problem_hash:
            what = "has changed since" if problem else "is no longer where it was when"
            raise RunDirectoryError(
                f"{result.problem_id} {what} {parent} was graded: its solutions were for another "
                "problem; start a new run"
            )
        stored.append(StoredSolution(problem, result))
    if not stored:
        raise RunDirectoryError(f"{parent} has no results to grade again")
    return stored


def regraded(result: SampleResult, grades: Mapping[str, Grade]) -> SampleResult:
    """Return the result with new grades in place of its old ones.

    Args:
        result: result of the old run.
        grades: grades by the hash of a program, with that of the final solution.
    """
    grade = grades[code_hash(result.code)]
    now = [grades.get(step.code_hash or "") for step in result.steps]
    every = None not in now  # else the results of test runs cannot be numbered
    return result.model_copy(
        update={
            **graded(grade),
            "steps": tuple(
                step.judged(each, _public_passed(step, each) if every else None)
                for step, each in zip(result.steps, now, strict=True)
            ),
        }
    )


def _public_passed(step: Revision, grade: Grade | None) -> int | None:
    """Return the number of public tests that a revision passes now, if the sample ran them."""
    if grade is None or grade.verdict in UNKNOWN or step.public_passed is None:
        return None
    return grade.public_passed


@dataclass(frozen=True)
class Regrading:
    """Reads the programs of the old run's samples, and writes the new run.

    Args:
        directory: directory of the new run.
        parent: directory of the old run.
        extract: the old run's rule that finds code in an answer.
        changes: the old run's changes of public tests, by problem id.
    """

    directory: RunDirectory
    parent: Path
    extract: Extract
    changes: Mapping[str, TestChange]

    @cached_property
    def _transcripts(self) -> Transcripts:
        return Transcripts(self.parent)

    def sample(self, each: StoredSolution) -> SampleToJudge:
        """Return a sample with the programs of its revisions, as far as they are found.

        Raises:
            RunDirectoryError: a transcript of the old run cannot be read.
        """
        problem, result = each.problem, each.result
        events = self._events(result) if result.steps else []
        answers = [event.response for event in events if isinstance(event, Response)]
        programs = programs_of(answers, result.steps, self.extract, problem.entry_point)
        codes = dict.fromkeys((*programs.values(), result.code))
        return SampleToJudge(result.sample, problem, [*codes], result.code)

    def _events(self, result: SampleResult) -> list[Event]:
        name = file_name(result.problem_id, result.index)
        there = self._transcripts.exists(name)
        return standing(self._transcripts.events(name)) if there else []

    def commit(self, before: SampleResult, grades: Mapping[str, Grade]) -> None:
        """Write a result with its new grades, by program. Raises StorageError."""
        events = [event for event in self._events(before) if not isinstance(event, Graded)]
        with self.directory.new_transcript(before.problem_id, before.index) as write:
            for event in (*events, Graded(grade=grades[before.code])):
                write(event)
        result = regraded(before, {code_hash(code): grade for code, grade in grades.items()})
        change = self.changes.get(result.problem_id)
        self.directory.results.append(with_impossible(result, change))
