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
"""Part of a test's CPU limit; slower references leave solutions little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedReference(Finding):
    """One judged reference; `index` is its index among the problem's, from 0."""

    index: int


class VerifiedProblem(Frozen):
    """A problem and its judged references.

    Attributes:
        tests: number of tests; None if they were not decoded, or cannot be.
        limit_s: CPU seconds that a test may use.
        available: number of references in the data; after an interrupt some are unjudged.
        known_issues: known issues of the problem, which may make a reference fail.
    """

    problem_id: str
    tests: int | None
    limit_s: float
    available: int
    references: tuple[VerifiedReference, ...]
    known_issues: tuple[str, ...] = ()

    @property
    def unsound(self) -> bool:
        """Whether it has tests and references, but no reference passes all tests."""
        verdicts = {each.verdict for each in self.references} - INFRASTRUCTURE
        return bool(verdicts - {Verdict.UNGRADED}) and Verdict.ACCEPTED not in verdicts

    @property
    def slow(self) -> bool:
        """Whether even the fastest passing reference needs more than `SLOW` of the limit."""
        passed = [r.slowest_s for r in self.references if r.verdict is Verdict.ACCEPTED]
        return bool(passed) and min(passed) > SLOW * self.limit_s


class Verification(Frozen):
    """Summary of a verified source.

    Attributes:
        problems: number of problems.
        unsound: problems with references of which none passes.
        slow: problems whose references all need more than half of a test's limit.
        without_tests, without_references: problems that have none.
        references: number of judged references; `verdicts` counts them by verdict.
        infrastructure: number of references that could not be judged.
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
        available: number of references in the data.
        keys: keys of the verdicts on the references to verify, by index.
    """

    problem: Problem
    available: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceJob(Job):
    """A reference to judge; `key` is the key of its verdict."""

    key: str


def list_references(
    problems: Sequence[Problem], most: int | None, options: Options
) -> list[References]:
    """Return the references to verify, at most `most` of each problem.

    Raises:
        UsageError: a problem asks for something other than code.
        DataError: a problem's references cannot be decoded.
    """
    require_code_generation(problems)
    listed: list[References] = []
    for problem in problems:
        codes = [code_hash(code) for code in problem.programs()]
        listed.append(References(problem, len(codes), keys_of(problem, codes[:most], options)))
    return listed


def reference_jobs(listed: Iterable[References], known: Container[str] = ()) -> list[ReferenceJob]:
    """Return jobs for references without a known verdict, equal programs once."""
    jobs: dict[str, ReferenceJob] = {}
    for each in listed:
        for index, key in enumerate(each.keys):
            if key not in known and key not in jobs:
                code = ReferenceAt(index, key[-CODE_HASH:])
                jobs[key] = ReferenceJob(len(jobs), each.problem, code, key)
    return list(jobs.values())


def finding(judged: Judged) -> Finding:
    """Return the facts to store about a judged reference."""
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
    """Return each problem with its findings; `found` has them by key of the verdict."""
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
    """Return a problem's number of tests, if it is known or cheap to find out."""
    counts = [each.tests for each in references if each.verdict not in INFRASTRUCTURE]
    if counts:
        return counts[0]
    # Problems with only hidden tests are rare; those with public tests need no count.
    if problem.tests.public:
        return None
    try:
        return len(problem.tests.load_hidden())
    except DataError:
        return None


def summarize_verification(problems: Sequence[VerifiedProblem]) -> Verification:
    """Summarize a verification."""
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
