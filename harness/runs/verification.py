"""Checking a source by its own references: what fails, what is slow, what has no tests."""

from collections.abc import Iterable, Mapping, Sequence

from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.models.protocol import Frozen
from harness.problem import Problem
from harness.runs.judging import Job, Judged, Options
from harness.runs.summary import counted
from harness.sandbox.limits import limits_of

SLOW = 0.5
"""A reference that needs more than this part of a test's CPU limit leaves others little room."""


class VerifiedReference(Frozen):
    """One reference solution, judged.

    Attributes:
        index: among the problem's references, from 0.
        slowest_s: CPU seconds of its slowest test.
        failed_test: the first that it fails, from 1.
        reason: what went wrong there.
    """

    index: int
    verdict: Verdict
    slowest_s: float
    failed_test: int | None = None
    reason: str = ""


class VerifiedProblem(Frozen):
    """A problem and its references.

    Attributes:
        limit_s: CPU seconds that a test may use.
        known_issues: why a reference may fail.
    """

    problem_id: str
    tests: int
    limit_s: float
    references: tuple[VerifiedReference, ...]
    known_issues: tuple[str, ...] = ()

    @property
    def unsound(self) -> bool:
        """Whether it has tests, and references of which none passes them all."""
        verdicts = {each.verdict for each in self.references} - INFRASTRUCTURE
        return bool(self.tests and verdicts) and Verdict.ACCEPTED not in verdicts

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


def reference_jobs(problems: Iterable[Problem], most: int | None) -> list[Job]:
    """The references to judge, at most so many of each problem."""
    codes = ((problem, code) for problem in problems for code in problem.references[:most])
    return [Job(number, problem, code) for number, (problem, code) in enumerate(codes)]


def verified(
    problems: Sequence[Problem],
    jobs: Sequence[Job],
    judged: Mapping[int, Judged],
    options: Options,
) -> list[VerifiedProblem]:
    """Each problem with what came of its references."""
    found: dict[str, list[VerifiedReference]] = {problem.id: [] for problem in problems}
    tests: dict[str, int] = {}
    seen: dict[str, int] = {}
    for job in jobs:
        index = seen.get(job.problem.id, 0)
        seen[job.problem.id] = index + 1
        if job.number in judged:
            grade = judged[job.number].grade
            found[job.problem.id].append(_reference(index, judged[job.number]))
            if grade.verdict not in INFRASTRUCTURE:
                tests[job.problem.id] = grade.public_total + grade.hidden_total
    return [
        VerifiedProblem(
            problem_id=problem.id,
            tests=tests[problem.id] if problem.id in tests else len(problem.tests.all()),
            limit_s=limits_of(problem.source, cpu_s=options.cpu_s).cpu_s,
            references=tuple(found[problem.id]),
            known_issues=problem.known_issues,
        )
        for problem in problems
    ]


def _reference(index: int, judged: Judged) -> VerifiedReference:
    grade = judged.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    reason = judged.cause
    if failed is not None and failed.difference is not None:
        reason = f"{failed.difference.expected!r} expected, {failed.difference.got!r} given"
    elif failed is not None:
        reason = (failed.error.strip().splitlines() or [""])[-1]
    return VerifiedReference(
        index=index,
        verdict=grade.verdict,
        slowest_s=max((test.cpu_s for test in grade.tests), default=0.0),
        failed_test=None if failed is None else failed.index + 1,
        reason=reason,
    )


def summarize_verification(problems: Sequence[VerifiedProblem]) -> Verification:
    """Sum a verification up."""
    references = [each for problem in problems for each in problem.references]
    return Verification(
        problems=len(problems),
        unsound=_ids(p for p in problems if p.unsound),
        slow=_ids(p for p in problems if p.slow),
        without_tests=_ids(p for p in problems if not p.tests),
        without_references=_ids(p for p in problems if not p.references),
        references=len(references),
        accepted=sum(each.verdict is Verdict.ACCEPTED for each in references),
        infrastructure=sum(each.verdict in INFRASTRUCTURE for each in references),
        verdicts=counted(each.verdict for each in references),
    )


def _ids(problems: Iterable[VerifiedProblem]) -> tuple[str, ...]:
    return tuple(problem.problem_id for problem in problems)
