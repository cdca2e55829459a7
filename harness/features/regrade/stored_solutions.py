"""Grade a run's solutions again, with another rule or limits, as a new run.

No model is asked. The new run names its parent and takes over its transcripts, with the new grade
at their end: the conversations happened under the parent's limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.agent.events import Event, Graded, standing
from harness.errors import RunDirectoryError
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.problem import Problem
from harness.run.plan.problem_kinds import ProblemKind, judge_answer
from harness.run.store.directory import RESULTS, RunDirectory
from harness.run.store.results import SampleResult, Step, outcomes, read_results
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Stored:
    """A solution of the parent run, with its problem."""

    problem: Problem
    result: SampleResult


def stored_solutions(parent: Path, problems: Sequence[Problem]) -> list[Stored]:
    """Return the solutions of a run, in the order of its results.

    Args:
        parent: directory of the run.
        problems: its problems as they are now.

    Raises:
        RunDirectoryError: the run has no results, or a problem is missing or has changed.
    """
    by_id = {problem.id: problem for problem in problems}
    stored: list[Stored] = []
    for result in read_results(parent / RESULTS):
        problem = by_id.get(result.problem_id)
        if problem is None or problem.content_hash != result.problem_hash:
            what = "has changed since" if problem else "is no longer where it was when"
            raise RunDirectoryError(
                f"{result.problem_id} {what} {parent} was graded: its solutions were for another "
                "problem; start a new run"
            )
        stored.append(Stored(problem, result))
    if not stored:
        raise RunDirectoryError(f"{parent} has no results to grade again")
    return stored


def jobs_of(stored: Sequence[Stored]) -> list[Job]:
    """Return jobs for the judge, sorted by problem; numbers are indices in `stored`."""
    jobs = [Job(number, each.problem, each.result.code) for number, each in enumerate(stored)]
    return sorted(jobs, key=lambda job: job.problem.id)


def judged_here(stored: Sequence[Stored], rules: ProblemKind) -> list[Judged]:
    """Return the grades of answers, which need no sandbox; none for programs."""
    if rules.runs_code:
        return []
    return [
        Judged(number, judge_answer(each.problem, each.result.code))
        for number, each in enumerate(stored)
    ]


def regraded(result: SampleResult, grade: Grade) -> SampleResult:
    """Return the result with this grade in place of its old one."""
    return result.model_copy(
        update={
            "verdict": grade.verdict,
            "public_passed": grade.public_passed,
            "public_total": grade.public_total,
            "hidden_passed": grade.hidden_passed,
            "hidden_total": grade.hidden_total,
            "tests": outcomes(grade),
            "judged_again": grade.judged_again,
            "solved_by_rule": grade.solved_by_rule,
            "isolation": grade.isolation,
            "peak_bytes": grade.peak_bytes,
            "steps": _steps(result, grade),
        }
    )


def _steps(result: SampleResult, grade: Grade) -> tuple[Step, ...]:
    """Return the steps with new grades: unknown if there are several revisions.

    A single revision is the final solution, so it has the new grade.
    """
    judged = grade.verdict is not Verdict.UNGRADED
    only = grade.solved if judged and len(result.steps) == 1 else None
    now = {"solved": only, "public_passed": None, "passes_public": None}
    return tuple(step.model_copy(update=now) for step in result.steps)


class Regrading:
    """Writer of a regraded run.

    Args:
        directory: directory of the new run.
        parent: directory of the old run.
        stored: solutions of the old run.
    """

    def __init__(self, directory: RunDirectory, parent: Path, stored: Sequence[Stored]) -> None:
        self._directory = directory
        self._stored = stored
        self._transcripts = Transcripts(parent)
        self.changed: list[tuple[SampleResult, SampleResult]] = []
        self.failures: list[tuple[str, Verdict, str]] = []

    def keep(self, judged: Judged) -> None:
        """Commit a grade; infrastructure failures stay pending. Raises StorageError."""
        before = self._stored[judged.number].result
        if judged.grade.verdict in INFRASTRUCTURE:
            self.failures.append((before.sample, judged.grade.verdict, judged.cause))
            return
        now = regraded(before, judged.grade)
        self._take_over(before, judged.grade)
        self._directory.results.append(now)
        if now.verdict is not before.verdict:
            self.changed.append((before, now))

    def _take_over(self, result: SampleResult, grade: Grade) -> None:
        name = file_name(result.problem_id, result.index)
        events: list[Event] = []
        if self._transcripts.exists(name):
            said = standing(self._transcripts.events(name))
            events = [event for event in said if not isinstance(event, Graded)]
        with self._directory.new_transcript(result.problem_id, result.index) as write:
            for event in (*events, Graded(grade=grade)):
                write(event)

    def close(self) -> None:
        """Close the parent's transcripts."""
        self._transcripts.close()
