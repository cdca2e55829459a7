"""Verdicts on a file of solutions, and their summary."""

from collections import Counter
from collections.abc import Sequence

from harness.efficiency.efficiency_summary import EfficiencySummary, summarize_efficiency
from harness.efficiency.scale import Efficiency
from harness.features.grade.solution import Published
from harness.features.grade.solution_match import MatchedSolution
from harness.grading.jobs import Judged
from harness.grading.verdict import INFRASTRUCTURE, JudgedAgain, TestResult, Verdict
from harness.models.protocol import Frozen
from harness.run.summary.summary import counted, rate_by_source_rule, rate_of
from harness.stats.rates import Rate


class GradedSolution(Frozen):
    """One solution of the file, judged.

    Attributes:
        tests_run, tests_passed, tests_total: after a limit of time, memory or output the rest of
            the tests are not run.
        cause: why infrastructure failed, where it did.
        agrees: with the published verdict on whether the solution passes; None where either side
            has none.
        efficiency: how fast it is; None where that was not measured.
        tests: in order, public ones first.
        solved_by_rule: as in `harness.grading.verdict.Grade`.
    """

    problem_id: str
    index: int
    verdict: Verdict
    passed: bool
    tests_run: int
    tests_passed: int
    tests_total: int
    hidden_total: int
    extraction: str = ""
    cause: str = ""
    known_issues: tuple[str, ...] = ()
    published: Published | None = None
    agrees: bool | None = None
    judged_again: JudgedAgain = JudgedAgain()
    isolation: str = ""
    peak_bytes: int = 0
    efficiency: Efficiency | None = None
    tests: tuple[TestResult, ...] = ()
    solved_by_rule: bool | None = None

    @property
    def solved(self) -> bool:
        """Whether every test passed."""
        return self.passed

    @property
    def graded(self) -> bool:
        """Whether the verdict says something of the solution."""
        return self.verdict not in INFRASTRUCTURE | {Verdict.UNGRADED}


class Agreement(Frozen):
    """Our verdicts against published ones, over the solutions that have both.

    Attributes:
        same_verdict: how many agree on the verdict's word, of the `worded` that have one.
        published_passed, published_failed: how many that were published as passed fail here, and
            the reverse.
        verdicts: published word, our word, and how many.
    """

    compared: int
    agree: int
    passed_there_only: int
    passed_here_only: int
    worded: int
    same_verdict: int
    verdicts: dict[str, dict[str, int]]


class GradeSummary(Frozen):
    """A graded file in numbers.

    Attributes:
        solutions: in the file; `unmatched` of them name no problem of the source, or several, and
            are not judged; `not_judged` were left when the grading was interrupted.
        problems: that have a solution in the file.
        graded: solutions whose verdict says something of them; `ungraded` have no test,
            `infrastructure` could not be judged. Only the former are in the rates.
        pass_at_1: the mean over problems of the fraction of each one's solutions that pass.
        isolation: how many were judged in a sandbox of each level.
        extractions: how often each rule found the code.
        judged_again: what was run more than once.
        efficiency: how fast solutions are; None where that was measured of none.
        by_source_rule: `pass_at_1` by the sources' own rules, which upstream's leaderboards use;
            None where no checker stands in for one.
    """

    solutions: int
    problems: int
    unmatched: int
    unmatched_names: tuple[str, ...]
    not_judged: int
    graded: int
    accepted: int
    ungraded: int
    infrastructure: int
    pass_at_1: Rate | None
    with_hidden: Rate | None
    without_known_issues: Rate | None
    verdicts: dict[str, int]
    isolation: dict[str, int]
    extractions: dict[str, int]
    published: Agreement | None
    judged_again: JudgedAgain
    efficiency: EfficiencySummary | None = None
    by_source_rule: Rate | None = None


def graded_solution(matched: MatchedSolution, judged: Judged) -> GradedSolution:
    """A solution with its verdict."""
    grade, published, problem = judged.grade, matched.published, matched.problem
    result = GradedSolution(
        problem_id=problem.id,
        index=matched.index,
        verdict=grade.verdict,
        passed=grade.solved,
        tests_run=len(grade.tests),
        tests_passed=grade.public_passed + grade.hidden_passed,
        tests_total=grade.public_total + grade.hidden_total,
        hidden_total=grade.hidden_total,
        extraction=matched.extraction,
        cause=judged.cause,
        known_issues=problem.known_issues,
        published=published,
        judged_again=grade.judged_again,
        isolation=grade.isolation,
        peak_bytes=grade.peak_bytes,
        tests=grade.tests,
        solved_by_rule=grade.solved_by_rule,
    )
    if published is None or not result.graded:
        return result
    return result.model_copy(update={"agrees": published.passed == result.passed})


def summarize_grades(
    results: Sequence[GradedSolution], matched: Sequence[MatchedSolution], unmatched: Sequence[str]
) -> GradeSummary:
    """Sum up what was judged."""
    graded = [result for result in results if result.graded]
    hidden = [result for result in graded if result.hidden_total]
    sound = [result for result in graded if not result.known_issues]
    return GradeSummary(
        solutions=len(matched) + len(unmatched),
        problems=len({each.problem.id for each in matched}),
        unmatched=len(unmatched),
        unmatched_names=tuple(dict.fromkeys(unmatched)),
        not_judged=len(matched) - len(results),
        graded=len(graded),
        accepted=sum(result.passed for result in graded),
        ungraded=sum(result.verdict is Verdict.UNGRADED for result in results),
        infrastructure=sum(result.verdict in INFRASTRUCTURE for result in results),
        pass_at_1=rate_of(graded),
        with_hidden=rate_of(hidden) if len(hidden) < len(graded) else None,
        without_known_issues=rate_of(sound) if len(sound) < len(graded) else None,
        verdicts=counted(result.verdict for result in results),
        isolation=counted(result.isolation for result in results if result.isolation),
        extractions=counted(result.extraction for result in results if result.extraction),
        published=_agreement(results),
        judged_again=sum((result.judged_again for result in results), JudgedAgain()),
        efficiency=summarize_efficiency(graded),
        by_source_rule=rate_by_source_rule(graded),
    )


def _agreement(results: Sequence[GradedSolution]) -> Agreement | None:
    compared = [result for result in results if result.agrees is not None]
    if not compared:
        return None
    words = [
        (result.published.verdict, result.verdict)
        for result in compared
        if result.published is not None and result.published.verdict is not None
    ]
    table: dict[str, dict[str, int]] = {}
    for (there, here), number in sorted(Counter(words).items()):
        table.setdefault(there, {})[here] = number
    differ = [result for result in compared if not result.agrees]
    return Agreement(
        compared=len(compared),
        agree=len(compared) - len(differ),
        passed_there_only=sum(not result.passed for result in differ),
        passed_here_only=sum(result.passed for result in differ),
        worded=len(words),
        same_verdict=sum(there == here for there, here in words),
        verdicts=table,
    )
