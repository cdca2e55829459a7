"""Grade a run's solutions again, with another rule or limits, as a new run.

No model is asked. The new run names its parent and takes over its transcripts, with the new grade
at their end: the conversations happened under the parent's limits. All revisions whose programs
the transcripts hold are graded, so that the rates by turn are of the same kind as the parent's.

A result holds only the final solution; its steps say at which turn each revision was written. The
revisions of a turn are the programs in its tool calls, or else the code in its answer. They are
used only where there are as many as there are steps of that turn.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.agent.attempt import ChosenBy
from harness.agent.events import Event, Graded, Response, ToolResult, standing
from harness.agent.extraction.code import Extract
from harness.errors import RunDirectoryError
from harness.features.impossible.changed_tests import TestChange
from harness.features.impossible.impossible_result import with_impossible
from harness.grading.answer_judge import judge_answer
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.problem import Problem
from harness.run.store.call_arguments import program
from harness.run.store.directory import RESULTS, RunDirectory
from harness.run.store.results import (
    SampleResult,
    Step,
    outcomes,
    read_results,
)
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.text import writable
from harness.tools.run_code import RunCode

Codes = tuple[str | None, ...]
GRADED = (
    *("verdict", "public_passed", "public_total", "hidden_passed", "hidden_total"),
    *("judged_again", "solved_by_rule", "score", "isolation", "peak_bytes"),
)
"""Fields of a result that are those of its grade."""


def revision_codes(
    result: SampleResult, events: Iterable[Event], extract: Extract, entry_point: str | None
) -> Codes:
    """Return the program of each step of a sample; None where it is unknown.

    Args:
        result: the result of the sample.
        events: the valid events of its transcript; empty if there is none.
        extract: the run's rule that finds code in an answer.
        entry_point: name of the problem's function, if it has one.
    """
    by_turn = _by_turn(events, extract, entry_point)
    wanted = Counter(step.turn for step in result.steps)
    left = {
        turn: iter(codes if len(codes := by_turn.get(turn, ())) == number else [None] * number)
        for turn, number in wanted.items()
    }
    return _with_final(result, [next(left[step.turn]) for step in result.steps])


def _by_turn(
    events: Iterable[Event], extract: Extract, entry_point: str | None
) -> dict[int, Sequence[str | None]]:
    """Return the programs written in each turn: by tools, else in the answer."""
    written: dict[int, dict[str, str]] = defaultdict(dict)
    texts: dict[int, str] = {}
    for event in events:
        match event:
            case Response(turn=turn, response=answer):
                texts[turn] = answer.text
                for call in answer.tool_calls:
                    code = None if call.name == RunCode.name else program(call)
                    if code is not None:
                        written[turn][call.id] = writable(code)
            case ToolResult(turn=turn, result=result) if result.is_error:
                written[turn].pop(result.call_id, None)
            case _:
                pass
    codes: dict[int, Sequence[str | None]] = {}
    for turn, text in texts.items():
        prose = () if written[turn] else (extract(text, entry_point).code,)
        codes[turn] = [*written[turn].values()] or [code for code in prose if code]
    return codes


def _with_final(result: SampleResult, codes: list[str | None]) -> Codes:
    """Put the final solution, which is one of the revisions, in its place."""
    if not codes or not result.code or result.code in codes:
        return tuple(codes)
    unknown = [place for place, code in enumerate(codes) if code is None]
    if not unknown:  # the transcript is of another conversation
        nothing: list[str | None] = [None] * len(codes)
        codes, unknown = nothing, [*range(len(codes))]
    final = unknown[0] if len(unknown) == 1 else _final_place(result)
    if codes[final] is None:
        codes[final] = result.code
    return tuple(codes)


def _final_place(result: SampleResult) -> int:
    """Return the index of the step that was the final solution, by the rule that chose it."""
    passed = [step.public_passed or 0 for step in result.steps]
    if result.chosen_by is ChosenBy.MOST_PUBLIC_TESTS:
        return passed.index(max(passed))
    if result.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS and result.public_total in passed:
        return len(passed) - 1 - passed[::-1].index(result.public_total)
    return len(passed) - 1


@dataclass(frozen=True, slots=True)
class StoredSolution:
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


def answers_judged(jobs: Iterable[Job]) -> Iterator[Judged]:
    """Yield the grades of answers, which need no sandbox. Raises DataError."""
    for job in jobs:
        yield Judged(job.number, judge_answer(job.problem, str(job.code)))


def regraded(result: SampleResult, codes: Codes, grades: Mapping[str, Grade]) -> SampleResult:
    """Return the result with new grades in place of its old ones.

    Args:
        result: result of the old run.
        codes: program of each of its steps; None if unknown.
        grades: grades by program, with that of the final solution.
    """
    grade = grades[result.code]
    steps = zip(result.steps, codes, strict=True)
    every = None not in codes  # else the results of test runs cannot be numbered
    return result.model_copy(
        update={
            **{name: getattr(grade, name) for name in GRADED},
            "tests": outcomes(grade),
            "steps": tuple(
                _regraded(step, None if code is None else grades[code], tested=every)
                for step, code in steps
            ),
        }
    )


def _regraded(step: Step, grade: Grade | None, *, tested: bool) -> Step:
    """Return a step with another grade; unknown without one, or where judging it failed.

    Args:
        step: the step as it was graded before.
        grade: its grade now; None if its program is unknown.
        tested: whether its run of the public tests, if there was one, is kept.
    """
    passed = passes = solved = None
    if grade is not None and grade.verdict not in {Verdict.UNGRADED, *INFRASTRUCTURE}:
        solved = grade.solved
        passes = grade.public_passed == grade.public_total if grade.public_total else None
        passed = grade.public_passed if tested and step.public_passed is not None else None
    return step.model_copy(
        update={"public_passed": passed, "passes_public": passes, "solved": solved}
    )


@dataclass(slots=True)
class _RejudgedSample:
    """A sample that is judged again: the programs of its steps, and grades so far."""

    codes: Codes
    grades: dict[str, Grade] = field(default_factory=dict[str, Grade])


class Regrading:
    """Judges the revisions of samples again, and writes the new run.

    Args:
        directory: directory of the new run.
        parent: directory of the old run.
        stored: solutions of the old run.
        extract: the old run's rule that finds code in an answer.
        changes: the old run's changes of public tests, by problem id.
    """

    def __init__(
        self,
        directory: RunDirectory,
        parent: Path,
        stored: Sequence[StoredSolution],
        extract: Extract,
        changes: Mapping[str, TestChange],
    ) -> None:
        self._directory = directory
        self._changes = changes
        self._stored = stored
        self._extract = extract
        self._transcripts = Transcripts(parent)
        self._jobs: list[tuple[int, Job]] = []
        self._samples: dict[int, _RejudgedSample] = {}
        self._left = Counter[int]()
        self.failures: list[tuple[str, Verdict, str]] = []

    def jobs(self) -> list[Job]:
        """Return the programs to judge, sorted by problem: each once per sample.

        Raises:
            RunDirectoryError: a transcript of the old run cannot be read.
        """
        for place, each in enumerate(self._stored):
            codes = self._codes(each)
            self._samples[place] = _RejudgedSample(codes)
            known = dict.fromkeys((*codes, each.result.code))
            for code in known:
                if code is not None:
                    job = Job(len(self._jobs), each.problem, code)
                    self._jobs.append((place, job))
                    self._left[place] += 1
        return sorted((job for _, job in self._jobs), key=lambda job: job.problem.id)

    def _codes(self, each: StoredSolution) -> Codes:
        if not each.result.steps:
            return ()
        events = self._events(each.result)
        return revision_codes(each.result, events, self._extract, each.problem.entry_point)

    def _events(self, result: SampleResult) -> list[Event]:
        name = file_name(result.problem_id, result.index)
        there = self._transcripts.exists(name)
        return standing(self._transcripts.events(name)) if there else []

    def keep(self, judged: Judged) -> None:
        """Store a grade and commit the sample that it completes. Raises StorageError.

        A sample whose final solution was not judged, because of the infrastructure, stays pending.
        """
        place, job = self._jobs[judged.number]
        before, sample = self._stored[place].result, self._samples[place]
        sample.grades[str(job.code)] = judged.grade
        if job.code == before.code and judged.grade.verdict in INFRASTRUCTURE:
            self.failures.append((before.sample, judged.grade.verdict, judged.cause))
        self._left[place] -= 1
        if self._left[place]:
            return
        del self._samples[place]
        grade = sample.grades[before.code]
        if grade.verdict not in INFRASTRUCTURE:
            self._take_over(before, grade)
            result = regraded(before, sample.codes, sample.grades)
            change = self._changes.get(result.problem_id)
            self._directory.results.append(with_impossible(result, change))

    def _take_over(self, result: SampleResult, grade: Grade) -> None:
        events = [event for event in self._events(result) if not isinstance(event, Graded)]
        with self._directory.new_transcript(result.problem_id, result.index) as write:
            for event in (*events, Graded(grade=grade)):
                write(event)
