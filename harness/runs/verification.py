"""Checking a source by its own references: what fails, what is slow, what has no tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import DataError
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.models.protocol import Frozen
from harness.problem import Problem
from harness.runs.judging import Job, Judged, Options
from harness.runs.summary import counted

SLOW = 0.5
"""A reference that needs more than this part of a test's CPU limit leaves others little room."""


class VerifiedReference(Frozen):
    """One reference solution, judged.

    Attributes:
        index: among the problem's references, from 0.
        tests: how many the problem has.
        slowest_s: CPU seconds of its slowest test.
        failed_test: the first that it fails, from 1.
        reason: what went wrong there.
        isolation: the level of the sandbox.
    """

    index: int
    verdict: Verdict
    tests: int
    slowest_s: float
    failed_test: int | None = None
    reason: str = ""
    isolation: str = ""


class VerifiedProblem(Frozen):
    """A problem and its references.

    Attributes:
        tests: how many it has; None where they were not decoded, or cannot be.
        limit_s: CPU seconds that a test may use.
        available: how many references the data have; an interrupt leaves some of them unjudged.
        known_issues: why a reference may fail.
    """

    problem_id: str
    tests: int | None
    limit_s: float
    available: int
    references: tuple[VerifiedReference, ...]
    known_issues: tuple[str, ...] = ()

    @property
    def unsound(self) -> bool:
        """Whether it has tests, and references of which none passes them all."""
        verdicts = {each.verdict for each in self.references} - INFRASTRUCTURE
        return bool(verdicts - {Verdict.UNGRADED}) and Verdict.ACCEPTED not in verdicts

    @property
    def slow(self) -> bool:
        """Whether even the quickest reference that passes needs much of the limit."""
        passed = [r.slowest_s for r in self.references if r.verdict is Verdict.ACCEPTED]
        return bool(passed) and min(passed) > SLOW * self.limit_s


class Verification(Frozen):
    """A source, verified.

    Attributes:
        problems: how many; `unsound` of them have references and none that passes, `slow` only
            references that need more than half a test's limit, `without_tests` and
            `without_references` none to judge by.
        references: how many were judged; `verdicts` says how.
        infrastructure: could not be judged.
    """

    problems: int
    unsound: tuple[str, ...]
    slow: tuple[str, ...]
    without_tests: tuple[str, ...]
    without_references: tuple[str, ...]
    references: int
    accepted: int
    infrastructure: int
    verdicts: dict[str, int]
    isolation: dict[str, int]


@dataclass(frozen=True, slots=True)
class ReferenceJob(Job):
    """A reference to be judged; `index` is its place among its problem's."""

    index: int = 0


def reference_jobs(problems: Iterable[Problem], most: int | None) -> list[ReferenceJob]:
    """The references to judge, at most so many of each problem."""
    codes = (
        (problem, code, index)
        for problem in problems
        for index, code in enumerate(problem.programs()[:most])
    )
    return [
        ReferenceJob(number, problem, code, index)
        for number, (problem, code, index) in enumerate(codes)
    ]


def verified_reference(job: ReferenceJob, judged: Judged) -> VerifiedReference:
    """What is kept of a judged reference."""
    grade = judged.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    reason = judged.cause
    if failed is not None and failed.difference is not None:
        reason = f"{failed.difference.expected!r} expected, {failed.difference.got!r} given"
    elif failed is not None:
        reason = (failed.error.strip().splitlines() or [""])[-1]
    return VerifiedReference(
        index=job.index,
        verdict=grade.verdict,
        tests=grade.public_total + grade.hidden_total,
        slowest_s=max((test.cpu_s for test in grade.tests), default=0.0),
        failed_test=None if failed is None else failed.index + 1,
        reason=reason,
        isolation=grade.isolation,
    )


def verified(
    problems: Sequence[Problem],
    jobs: Sequence[ReferenceJob],
    found: Mapping[int, VerifiedReference],
    options: Options,
) -> list[VerifiedProblem]:
    """Each problem with what came of its references."""
    references: dict[str, list[VerifiedReference]] = {problem.id: [] for problem in problems}
    for job in jobs:
        if job.number in found:
            references[job.problem.id].append(found[job.number])
    return [
        VerifiedProblem(
            problem_id=problem.id,
            tests=_tests(problem, references[problem.id]),
            limit_s=options.limits(problem).cpu_s,
            available=len(problem.programs()),
            references=tuple(references[problem.id]),
            known_issues=problem.known_issues,
        )
        for problem in problems
    ]


def _tests(problem: Problem, references: Sequence[VerifiedReference]) -> int | None:
    """How many tests a problem has, where that is known or cheap to find out."""
    counts = [each.tests for each in references if each.verdict not in INFRASTRUCTURE]
    if counts:
        return counts[0]
    # One that has hidden tests alone is rare; one with public tests is not without.
    if problem.tests.public:
        return None
    try:
        return len(problem.tests.load_hidden())
    except DataError:
        return None


def summarize_verification(problems: Sequence[VerifiedProblem]) -> Verification:
    """Sum a verification up."""
    references = [each for problem in problems for each in problem.references]
    return Verification(
        problems=len(problems),
        unsound=_ids(p for p in problems if p.unsound),
        slow=_ids(p for p in problems if p.slow),
        without_tests=_ids(p for p in problems if p.tests == 0),
        without_references=_ids(p for p in problems if not p.available),
        references=len(references),
        accepted=sum(each.verdict is Verdict.ACCEPTED for each in references),
        infrastructure=sum(each.verdict in INFRASTRUCTURE for each in references),
        verdicts=counted(each.verdict for each in references),
        isolation=counted(each.isolation for each in references if each.isolation),
    )


def _ids(problems: Iterable[VerifiedProblem]) -> tuple[str, ...]:
    return tuple(problem.problem_id for problem in problems)
