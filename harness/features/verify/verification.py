"""Check a benchmark by its references: failures, slow ones, missing tests."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import NamedTuple

from rich.console import Group, RenderableType

from harness.errors import DataError
from harness.figures import count, counts, words
from harness.frozen import Frozen
from harness.grading.jobs import Job, Options, ReferenceAt
from harness.grading.reference_verdicts import Finding, keys_of
from harness.grading.verdict import INFRASTRUCTURE, ROUNDING, UNKNOWN, Verdict
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.languages.language import MissingCompilerError
from harness.languages.program_key import CODE_HASH, code_hash
from harness.problem import PARTIAL, Problem, Reference
from harness.run.plan.languages import refusal
from harness.run.plan.problem_kinds import require_code_generation
from harness.run.summary.facts import no_hidden_tests, sandbox_level
from harness.run.summary.summary import counted, without_hidden
from harness.terminal.rich_tables import facts, words_table
from harness.text import first_few

SCHEMA = 1
SMALL_ROW = 1 << 16
"""Most bytes of a row that is decoded only to count its tests."""
SLOW = 0.5
"""Part of a test's CPU limit; slower references leave solutions little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedReference(Finding):
    """One judged reference.

    Attributes:
        index: its index among the problem's `known_solutions()`, from 0.
        language: its language.
        name: its name in the data; empty without one.
        expected: verdicts expected of a known-wrong solution; empty for a reference.
        expected_points: fewest and most points expected of it; None for any.
        by_grader: whether what is expected is the verdict of its problem's grader.
    """

    index: int
    language: str = PYTHON
    name: str = ""
    expected: tuple[str, ...] = ()
    expected_points: tuple[float, float] | None = None
    by_grader: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether the problem's grader decides, and accepts it with a part of the points."""
        failed = self.verdict not in INFRASTRUCTURE | {Verdict.ACCEPTED}
        return self.by_grader and self.accepted_by_grader and failed

    @property
    def accepted(self) -> bool:
        """Whether it is accepted, as the data mean it."""
        return self.verdict is Verdict.ACCEPTED or self.is_partial

    @property
    def as_expected(self) -> bool:
        """Whether the data expect this verdict, and these points."""
        outcomes = {Verdict.ACCEPTED, PARTIAL} if self.is_partial else {self.verdict}
        expected = self.expected or (Verdict.ACCEPTED,)
        return not outcomes.isdisjoint(expected) and self.has_its_points

    @property
    def has_its_points(self) -> bool:
        """Whether its points are those that the data expect, as far as they say."""
        if self.expected_points is None or self.points is None:
            return True
        low, high = self.expected_points
        rounding = ROUNDING * max(1.0, abs(high))
        return low - rounding <= self.points <= high + rounding


class VerifiedProblem(Frozen):
    """A problem and its judged references.

    Attributes:
        tests: number of tests; None if they were not decoded, or cannot be.
        hidden: number of hidden ones among them; None if unknown likewise.
        limit_s: CPU seconds that a test may use.
        available: number of references in the data; after an interrupt some are unjudged.
        known_issues: known issues of the problem, which may make a reference fail.
        rejected: known-wrong solutions, judged.
        rejected_limit_s: CPU seconds that a test of these may use.
    """

    problem_id: str
    tests: int | None
    hidden: int | None
    limit_s: float
    available: int
    references: tuple[VerifiedReference, ...]
    known_issues: tuple[str, ...] = ()
    rejected: tuple[VerifiedReference, ...] = ()
    rejected_limit_s: float | None = None

    @property
    def unsound(self) -> bool:
        """Whether it has tests and references, but no reference passes all tests."""
        verdicts = {each.verdict for each in self.references} - INFRASTRUCTURE
        accepted = any(each.accepted for each in self.references)
        return bool(verdicts - {Verdict.UNGRADED}) and not accepted

    @property
    def slow(self) -> bool:
        """Whether even the fastest passing reference needs more than `SLOW` of the limit."""
        passed = [r.slowest_passed_s for r in self.references if r.accepted]
        return bool(passed) and min(passed) > SLOW * self.limit_s


class Verification(Frozen):
    """Summary of a verified source.

    Attributes:
        problems: number of problems.
        unsound: problems with references of which none passes.
        slow: problems whose references all need more than half of a test's limit.
        without_tests, without_references: problems that have none.
        no_hidden: number of problems whose tests are all public.
        references: number of judged references; `verdicts` counts them by verdict.
        accepted: number of references that are accepted; `partial` of these have a part of the
            points, and the grader of their problem accepts them.
        infrastructure: number of references and known-wrong solutions that could not be judged.
        rejected: number of judged known-wrong solutions.
        rejected_as_expected: number of those with a verdict that the data expect.
        wrongly_accepted: number of those that pass every test.
        judged: number of references and known-wrong solutions with a verdict.
        contradicted: number of those whose verdict or points the data do not expect.
    """

    problems: int
    unsound: tuple[str, ...]
    slow: tuple[str, ...]
    without_tests: tuple[str, ...]
    without_references: tuple[str, ...]
    no_hidden: int
    references: int
    accepted: int
    infrastructure: int
    verdicts: dict[str, int]
    isolation: dict[str, int]
    rejected: int = 0
    rejected_as_expected: int = 0
    wrongly_accepted: int = 0
    judged: int = 0
    contradicted: int = 0
    partial: int = 0

    @property
    def as_expected(self) -> float:
        """Share of the judged solutions whose verdict is the expected one; 0 without any."""
        return (self.judged - self.contradicted) / self.judged if self.judged else 0.0


class VerifiedSource(Frozen):
    """What `harness verify --json` prints."""

    schema_version: int = SCHEMA
    problems: tuple[VerifiedProblem, ...]
    summary: Verification


@dataclass(frozen=True, slots=True)
class KnownSolution:
    """A known solution to verify: the key of its verdict, its index, and its facts."""

    key: str
    index: int
    solution: Reference


class ProblemReferences(NamedTuple):
    """A problem's references, or its known-wrong solutions, without their code.

    Attributes:
        available: number of these in the data.
        known: those to verify.
    """

    problem: Problem
    available: int
    known: tuple[KnownSolution, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the verdicts."""
        return tuple(each.key for each in self.known)


@dataclass(frozen=True, slots=True)
class ReferenceJob(Job):
    """A reference to judge; `key` is the key of its verdict."""

    key: str


def list_references(
    problems: Sequence[Problem], most: int | None, options: Options, *, rejected: bool = False
) -> list[ProblemReferences]:
    """Return the references to verify, at most `most` of each problem; or known-wrong solutions.

    Those in another language than Python are left out where they cannot be judged.

    Raises:
        UsageError: a problem asks for something other than code.
        DataError: a problem's references cannot be decoded.
    """
    require_code_generation(problems)
    compiled = _compiled()
    listed: list[ProblemReferences] = []
    for problem in problems:
        languages = {PYTHON, *(name for name in compiled if not refusal(problem, name))}
        verified = [
            (index, each)
            for index, each in enumerate(problem.known_solutions())
            if each.language in languages and bool(each.verdicts) is rejected
        ]
        known = tuple(_known(problem, index, each, options) for index, each in verified[:most])
        listed.append(ProblemReferences(problem, len(verified), known))
    return listed


def _compiled() -> list[str]:
    """Return the languages that can be compiled here."""
    names: list[str] = []
    for each in LANGUAGES.values():
        if each.compiler is not None:
            with suppress(MissingCompilerError):
                each.compiler()
                names.append(each.name)
    return names


def _known(problem: Problem, index: int, solution: Reference, options: Options) -> KnownSolution:
    kinds = [] if solution.language == PYTHON else [solution.language]
    kinds += ["rejected"] if solution.verdicts else []
    codes = [code_hash(solution.code)]
    (key,) = keys_of(problem, codes, options, " ".join(kinds), solution.language)
    return KnownSolution(key, index, solution.model_copy(update={"code": ""}))


def limits_by_rule(
    listed: Sequence[ProblemReferences], findings: Mapping[str, Finding], options: Options
) -> dict[str, float]:
    """Return the CPU limit of problems whose data derive it from accepted references."""
    limits: dict[str, float] = {}
    for each in listed:
        rule, problem = each.problem.limit_rule, each.problem
        deciding = [known for known in each.known if known.solution.sets_limit]
        passed = [
            found
            for known in deciding
            if (found := findings.get(known.key)) is not None
            and (
                found.verdict is Verdict.ACCEPTED
                or (known.solution.by_grader and found.accepted_by_grader)
            )
        ]
        seconds = [found.slowest_passed_s for found in passed]
        if rule is not None and is_derived(problem, options) and seconds:
            limits[problem.id] = rule.limit(max(seconds))
    return limits


def is_derived(problem: Problem, options: Options) -> bool:
    """Whether the CPU limit of a problem's tests follows from its accepted references."""
    return problem.limit_rule is not None and problem.cpu_s is None and options.cpu_s is None


def under_limits(
    first: Sequence[ProblemReferences],
    listed: Sequence[ProblemReferences],
    findings: Mapping[str, Finding],
    options: Options,
) -> dict[str, Finding]:
    """Return findings under the limits in force that follow from those under a ceiling.

    A solution that used no more than the limit on any test is judged alike under both.

    Args:
        first: references with the keys of their verdicts under the ceiling.
        listed: the same references, with those under the limits in force.
        findings: findings by key.
        options: options with the limits in force.
    """
    known: dict[str, Finding] = {}
    for ceiling, each in zip(first, listed, strict=True):
        for before, now in zip(ceiling.known, each.known, strict=True):
            finding = findings.get(before.key)
            if finding is None or finding.verdict is Verdict.TIME_LIMIT:
                continue
            if finding.slowest_s <= options.limits(each.problem, now.solution.language).cpu_s:
                known[now.key] = finding
    return known


def reference_jobs(
    listed: Iterable[ProblemReferences], known: Container[str] = ()
) -> list[ReferenceJob]:
    """Return jobs for references without a known verdict, equal programs once."""
    jobs: dict[str, ReferenceJob] = {}
    for each in listed:
        for one in each.known:
            if one.key not in known and one.key not in jobs:
                code = ReferenceAt(one.index, one.key[-CODE_HASH:])
                language = one.solution.language
                job = ReferenceJob(len(jobs), each.problem, code, one.key, language=language)
                jobs[one.key] = job
    return list(jobs.values())


def verified(
    listed: Iterable[ProblemReferences],
    findings: Mapping[str, Finding],
    options: Options,
    wrong: Sequence[ProblemReferences] = (),
    by_rule: Mapping[str, float] | None = None,
) -> list[VerifiedProblem]:
    """Return each problem with its findings.

    Args:
        listed: references of each problem.
        findings: findings by key of the verdict.
        options: options for judging.
        wrong: known-wrong solutions of each problem, if any.
        by_rule: CPU limits of these by problem id, as far as they are their own.
    """
    results: list[VerifiedProblem] = []
    rejected = {each.problem.id: _found(each, findings) for each in wrong}
    for each in listed:
        references = _found(each, findings)
        tests, hidden = _tests(each.problem, references)
        results.append(
            VerifiedProblem(
                problem_id=each.problem.id,
                tests=tests,
                hidden=hidden,
                limit_s=options.limits(each.problem).cpu_s,
                available=each.available,
                references=references,
                known_issues=each.problem.known_issues,
                rejected=rejected.get(each.problem.id, ()),
                rejected_limit_s=(by_rule or {}).get(each.problem.id),
            )
        )
    return results


def _found(
    references: ProblemReferences, findings: Mapping[str, Finding]
) -> tuple[VerifiedReference, ...]:
    return tuple(
        VerifiedReference(
            **asdict(findings[each.key]),
            index=each.index,
            language=each.solution.language,
            name=each.solution.name,
            expected=each.solution.verdicts,
            expected_points=each.solution.points,
            by_grader=each.solution.by_grader,
        )
        for each in references.known
        if each.key in findings
    )


def _tests(
    problem: Problem, references: Sequence[VerifiedReference]
) -> tuple[int | None, int | None]:
    """Return a problem's number of tests and of hidden ones, if known or cheap to find out."""
    for each in references:
        if each.verdict not in INFRASTRUCTURE:
            return each.tests, each.hidden
    # Problems with only hidden tests are rare.
    size = problem.tests.row_bytes
    if problem.tests.public and (size is None or size > SMALL_ROW):
        return None, None
    try:
        tests = problem.tests.all()
    except DataError:
        return None, None
    return len(tests), sum(not test.public for test in tests)


def summarize_verification(problems: Sequence[VerifiedProblem]) -> Verification:
    """Summarize a verification."""
    references = [each for problem in problems for each in problem.references]
    rejected = [each for problem in problems for each in problem.rejected]
    judged = [each for each in (*references, *rejected) if each.verdict not in UNKNOWN]
    return Verification(
        problems=len(problems),
        unsound=_ids(p for p in problems if p.unsound),
        slow=_ids(p for p in problems if p.slow),
        without_tests=_ids(p for p in problems if p.tests == 0),
        without_references=_ids(p for p in problems if not p.available),
        no_hidden=without_hidden(
            (p.problem_id, p.tests or 0, p.hidden) for p in problems if p.hidden is not None
        ),
        references=len(references),
        accepted=sum(each.accepted for each in references),
        partial=sum(each.is_partial for each in references),
        infrastructure=sum(each.verdict in INFRASTRUCTURE for each in (*references, *rejected)),
        verdicts=counted(each.verdict for each in references),
        isolation=counted(each.isolation for each in references if each.isolation),
        rejected=len(rejected),
        rejected_as_expected=sum(each.as_expected for each in rejected),
        wrongly_accepted=sum(
            each.verdict is Verdict.ACCEPTED and Verdict.ACCEPTED not in each.expected
            for each in rejected
        ),
        judged=len(judged),
        contradicted=sum(not each.as_expected for each in judged),
    )


def _ids(problems: Iterable[VerifiedProblem]) -> tuple[str, ...]:
    return tuple(problem.problem_id for problem in problems)


def verification_view(summary: Verification, problems: Sequence[VerifiedProblem]) -> RenderableType:
    """Show the summary, then each reference that failed or is slow."""
    parts: list[RenderableType] = [facts(_facts(summary)), *no_hidden_tests(summary.no_hidden)]
    rows = list(_rows(problems))
    if rows:
        parts.append(words_table(("problem", "reference", "verdict", "slowest", "why"), rows))
    return Group(*parts)


def _facts(summary: Verification) -> Iterator[tuple[str, str]]:
    yield "problems", f"{summary.problems:,}"
    passed = f"{summary.accepted - summary.partial:,} of {summary.references:,} pass every test"
    partial = f"; the grader accepts {summary.partial:,} with a part of the points"
    yield "references", passed + (partial if summary.partial else "")
    if summary.verdicts:
        yield "verdicts", counts(summary.verdicts)
    if summary.rejected:
        as_expected = f"{summary.rejected_as_expected:,} of {summary.rejected:,}"
        accepted = f"; {summary.wrongly_accepted:,} pass every test"
        yield "known-wrong solutions", f"{as_expected} fail as expected{accepted}"
    yield from sandbox_level(summary.isolation).items()
    for name, ids in (
        ("no reference passes", summary.unsound),
        ("slow", summary.slow),
        ("no tests", summary.without_tests),
        ("no references", summary.without_references),
    ):
        if ids:
            yield name, f"{count(len(ids), 'problem')}: {first_few(ids)}"
    if summary.infrastructure:
        yield "infrastructure", f"{count(summary.infrastructure, 'reference')} could not be judged"


def _rows(problems: Sequence[VerifiedProblem]) -> Iterator[tuple[str, ...]]:
    for problem in problems:
        for reference in problem.references:
            passed = reference.accepted or reference.verdict is Verdict.UNGRADED
            if not passed or not reference.has_its_points:
                yield _row(problem, reference, _why(problem, reference))
        for solution in problem.rejected:
            if not solution.as_expected:
                yield _row(problem, solution, _why(problem, solution))
        if problem.slow:
            quickest = min(
                (r for r in problem.references if r.accepted),
                key=lambda reference: reference.slowest_passed_s,
            )
            yield _row(problem, quickest, f"slow: the limit is {problem.limit_s:g} s of CPU")


def _row(problem: VerifiedProblem, reference: VerifiedReference, why: str) -> tuple[str, ...]:
    verdict = words(reference.verdict)
    seconds = f"{reference.slowest_s:.2f} s"
    named = reference.name or str(reference.index)
    return problem.problem_id, named, verdict, seconds, why


def _why(problem: VerifiedProblem, reference: VerifiedReference) -> str:
    parts: list[str] = []
    if not reference.has_its_points:
        low, high = (f"{each:.12g}" for each in reference.expected_points or ())
        parts.append(f"expected: {low if low == high else f'{low} to {high}'} points.")
    elif reference.expected:
        parts.append(f"expected: {' or '.join(map(words, reference.expected))}.")
    if reference.points is not None:
        parts.append(f"{reference.points:.12g} points.")
    where = f"test {reference.failed_test}: " if reference.failed_test else ""
    parts.append(f"{where}{reference.reason}")
    if problem.known_issues:
        parts.append(f"(known: {', '.join(problem.known_issues)})")
    return " ".join(filter(None, parts))
