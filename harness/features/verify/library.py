"""`harness.verify`: judge a benchmark's references, as `harness verify` does."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Unpack

from rich.console import RenderableType

from harness.errors import UsageError
from harness.features.verify.verification import (
    ProblemReferences,
    Verification,
    VerifiedProblem,
    is_derived,
    limits_by_rule,
    list_references,
    reference_jobs,
    summarize_verification,
    under_limits,
    verification_view,
    verified,
)
from harness.figures import count
from harness.grading.jobs import Judged
from harness.grading.reference_verdicts import Finding, VerifiedCache, default_folder
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, Reporter
from harness.run.session.judging import judge_jobs
from harness.run.session.judging_session import JudgingSession, session_of
from harness.run.settings.keys import JudgingKeys, SelectionKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.sandbox.isolation import Level
from harness.sources.benchmarks import parse_spec
from harness.sources.selection import select
from harness.terminal.notebook import NotebookView
from harness.text import printable_line

OWN = ("benchmark", "references", "fresh")
CEILING_S = 60.0
"""CPU seconds of a test of accepted submissions from which its package's limit follows."""
GIVEN = "given"
"""Name of the stored verdicts on problems that were given without a benchmark's name."""


class VerifyKeys(SelectionKeys, JudgingKeys, total=False):
    """Keys of `verify`: selection of problems, and grading."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What to verify, besides the problems.

    Attributes:
        most: most references of a problem, from the first; None for all.
        fresh: also judge references with a stored verdict.

    Raises:
        UsageError: a number is out of range.
    """

    most: int | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise UsageError(f"--references {self.most}: give 1 or more")


@dataclass(frozen=True, slots=True)
class VerifiedBenchmark(NotebookView):
    """A benchmark's references, judged.

    Attributes:
        summary: all figures, as in `harness verify --json`.
        problems: the selected problems, each with its judged references.
        interrupted: whether an interrupt ended the work.
        left: number of references that an interrupt left.
        resumable: whether the verdicts so far are stored.
    """

    summary: Verification
    problems: tuple[VerifiedProblem, ...]
    interrupted: bool = False
    left: int = 0
    resumable: bool = True

    def view(self) -> RenderableType:
        """Return the tables that `harness verify` prints."""
        return verification_view(self.summary, self.problems)

    def __repr__(self) -> str:
        total = self.summary
        return (
            f"<VerifiedBenchmark: {total.accepted} of {count(total.references, 'reference')} pass>"
        )


@listing(VerifyKeys)
@python_words("verify()")
def verify(
    benchmark: Benchmark,
    *,
    references: int | None = None,
    fresh: bool = False,
    **keys: Unpack[VerifyKeys],
) -> VerifiedBenchmark:
    """Judge a benchmark's reference solutions: which fail, which are slow, what has no tests.

    Verdicts are stored: what has not changed is not judged again.

    Args:
        benchmark: `NAME[:WHERE]`, loaded problems, or rows.
        references: most references of a problem, from the first; None for all.
        fresh: judge again what has been judged before.
        keys: settings of judging, and of the selection of problems.

    Raises:
        UsageError: a key or value is not accepted.
        DataError: a row is malformed.
        NothingSelectedError: no problem is left.
        IsolationError: no sandbox of the required strength is available.
        KeyboardInterrupt: the user interrupted; the verdicts so far are stored.
    """
    wanted = VerifyRequest(references, fresh)
    given = checked(benchmark)
    name = name_of(given)
    spec = spec_from("verify()", keys, VerifyKeys, OWN, benchmark=name)
    problems = select(read(given, spec).problems, spec.selection()).problems
    source = GIVEN if name is None else parse_spec(name).name
    verified = verify_problems(problems, source, session_of(spec), wanted, LOG)
    if verified.interrupted:
        raise KeyboardInterrupt
    return verified


def verify_problems(
    problems: Sequence[Problem],
    source: str,
    judging: JudgingSession,
    wanted: VerifyRequest,
    reporter: Reporter,
    *,
    reading: AbstractContextManager[Any] | None = None,
    tell_known: Callable[[int, int], None] | None = None,
) -> VerifiedBenchmark:
    """Judge the references of problems, for the command and the library.

    Args:
        problems: the selected problems.
        source: name of the stored verdicts.
        judging: settings of judging.
        wanted: which references, and how.
        reporter: shows the progress.
        reading: shows that references are read.
        tell_known: called with the number of known verdicts, and of all, if any is known.

    Raises:
        IsolationError: no sandbox is strong enough.
    """
    ceilings = {each.id: CEILING_S for each in problems if is_derived(each, judging.options)}
    under_ceilings = with_limits(judging, ceilings)
    with reading or nullcontext():
        first = list_references(problems, wanted.most, under_ceilings.options)
    keys = [key for each in first for key in each.keys]

    def warn(message: str) -> None:
        reporter.notice(printable_line(message))

    with VerifiedCache(source, default_folder(), warn) as cache:
        least = Level.NONE if judging.unsafe else judging.least  # weaker verdicts do not count
        findings = {} if wanted.fresh else cache.find(keys, least)
        if findings and tell_known is not None:
            tell_known(sum(key in findings for key in keys), len(keys))
        interrupted = _judge(first, findings, cache, under_ceilings, reporter)
        by_rule = limits_by_rule(first, findings, judging.options)
        judging = with_limits(judging, by_rule)
        listed = first
        if ceilings:
            listed = list_references(problems, wanted.most, judging.options)
            keys = [key for each in listed for key in each.keys]
            findings |= {} if wanted.fresh else cache.find(keys, least)
            findings |= under_limits(first, listed, findings, judging.options)
            if not interrupted:
                interrupted = _judge(listed, findings, cache, judging, reporter)
        wrong = list_references(problems, wanted.most, judging.options, rejected=True)
        of_wrong = [key for each in wrong for key in each.keys]
        findings |= {} if wanted.fresh else cache.find(of_wrong, least)
        if not interrupted and of_wrong:
            interrupted = _judge(
                wrong, findings, cache, judging, reporter, noun="known-wrong solutions"
            )
    results = verified(listed, findings, judging.options, wrong, by_rule)
    left = sum(key not in findings for key in (*keys, *of_wrong))
    return VerifiedBenchmark(
        summarize_verification(results), tuple(results), interrupted, left, cache.keeps
    )


def _judge(
    listed: Sequence[ProblemReferences],
    findings: dict[str, Finding],
    cache: VerifiedCache,
    judging: JudgingSession,
    reporter: Reporter,
    *,
    noun: str = "references",
) -> bool:
    """Judge the rest into `found`, storing each; return whether the user interrupted."""
    jobs = reference_jobs(listed, findings)

    def keep(judged: Judged) -> None:
        key = jobs[judged.number].key
        findings[key] = finding(judged)
        cache.add(key, findings[key])

    return judge_jobs(jobs, judging, reporter, noun, keep)


def with_limits(judging: JudgingSession, limits: Mapping[str, float]) -> JudgingSession:
    """Return the settings with CPU limits of some problems, unless they have others."""
    options = judging.options
    known = {**limits, **options.cpu_by_problem}
    return judging._replace(options=replace(options, cpu_by_problem=known))


def finding(judged: Judged) -> Finding:
    """Return the facts to store about a judged reference."""
    grade = judged.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    reason = judged.cause
    if failed is not None and failed.difference is not None:
        expected, got = failed.difference.expected, failed.difference.got
        reason = f"{expected!r} expected, {got!r} given"
        if expected.split() == got.split():  # a checker said why
            reason = failed.difference.where
    elif failed is not None:
        reason = (failed.error.strip().splitlines() or [""])[-1]
    return Finding(
        verdict=grade.verdict,
        tests=grade.public_total + grade.hidden_total,
        slowest_s=max((test.cpu_s for test in grade.tests), default=0.0),
        failed_test=None if failed is None else failed.index + 1,
        reason=reason,
        isolation=grade.isolation,
        hidden=grade.hidden_total,
        points=None if grade.score is None else grade.score.points,
        accepted_by_grader=bool(grade.accepted_by_grader),
        slowest_passed_s=max((test.cpu_s for test in grade.tests if test.passed), default=0.0),
    )
