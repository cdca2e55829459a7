"""Check a benchmark by its references: failures, slow ones, missing tests."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from harness.errors import DataError
from harness.grading.jobs import CODE_HASH, Job, Judged, Options, ReferenceAt, code_hash
from harness.grading.reference_verdicts import Finding, keys_of
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.models.protocol import Frozen
from harness.problem import Problem
from harness.run.plan.problem_kinds import require_code_generation
from harness.run.summary.summary import counted

SLOW = 0.5
"""A reference that needs more than this part of a test's CPU limit leaves others little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedReference(Finding):
    """One reference solution, judged; `index` is its place among the problem's, from 0."""

    index: int


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
class References:
    """A problem's references, without their code.

    Attributes:
        available: how many the data have.
        keys: of the verdicts on those that are to be verified, by index.
    """

    problem: Problem
    available: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceJob(Job):
    """A reference to be judged; `key` is that of its verdict."""

    key: str


def list_references(
    problems: Sequence[Problem], most: int | None, options: Options
) -> list[References]:
    """The references to verify, at most so many of each problem.

    Raises:
        UsageError: a problem asks for something else than code.
        DataError: a problem's references cannot be decoded.
    """
    require_code_generation(problems)
    listed: list[References] = []
    for problem in problems:
        codes = [code_hash(code) for code in problem.programs()]
        listed.append(References(problem, len(codes), keys_of(problem, codes[:most], options)))
    return listed


def reference_jobs(listed: Iterable[References], known: Container[str] = ()) -> list[ReferenceJob]:
    """The references whose verdicts are not known, each text of a problem's once."""
    jobs: dict[str, ReferenceJob] = {}
    for each in listed:
        for index, key in enumerate(each.keys):
            if key not in known and key not in jobs:
                code = ReferenceAt(index, key[-CODE_HASH:])
                jobs[key] = ReferenceJob(len(jobs), each.problem, code, key)
    return list(jobs.values())


def finding(judged: Judged) -> Finding:
    """What is kept of a judged reference."""
    grade = judged.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    reason = judged.cause
    if failed is not None and failed.difference is not None:
        reason = f"{failed.difference.expected!r} expected, {failed.difference.got!r} given"
    elif failed is not None:
        reason = (failed.error.strip().splitlines() or [""])[-1]
    return Finding(
        verdict=grade.verdict,
        tests=grade.public_total + grade.hidden_total,
        slowest_s=max((test.cpu_s for test in grade.tests), default=0.0),
        failed_test=None if failed is None else failed.index + 1,
        reason=reason,
        isolation=grade.isolation,
    )


def verified(
    listed: Iterable[References], found: Mapping[str, Finding], options: Options
) -> list[VerifiedProblem]:
    """Each problem with what came of its references; `found` by the key of the verdict."""
    results: list[VerifiedProblem] = []
    for each in listed:
        references = tuple(
            VerifiedReference(index=index, **asdict(found[key]))
            for index, key in enumerate(each.keys)
            if key in found
        )
        results.append(
            VerifiedProblem(
                problem_id=each.problem.id,
                tests=_tests(each.problem, references),
                limit_s=options.limits(each.problem).cpu_s,
                available=each.available,
                references=references,
                known_issues=each.problem.known_issues,
            )
        )
    return results


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
