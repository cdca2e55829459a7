"""Graded solutions of a file, their summary and tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field
from rich.console import Group, RenderableType

from harness.features.efficiency.efficiency_summary import EfficiencySummary, summarize_efficiency
from harness.features.efficiency.efficiency_table import efficiency_facts, efficiency_table
from harness.features.efficiency.scale import Efficiency
from harness.features.grade.solutions import MatchedSolution, Published, unmatched_words
from harness.figures import counts, percent, words
from harness.frozen import Frozen
from harness.grading.jobs import Judged
from harness.grading.verdict import INFRASTRUCTURE, UNKNOWN, JudgedAgain, Score, TestResult, Verdict
from harness.languages import PYTHON
from harness.run.plan.languages import compiler_words
from harness.run.summary.facts import judged_again, no_hidden_tests, sandbox_level
from harness.run.summary.summary import (
    counted,
    mean_score,
    rate_by_source_rule,
    rate_of,
    without_hidden,
)
from harness.stats.rates import Rate
from harness.terminal.rich_tables import facts, rates_table, words_table

SCHEMA = 1
LISTED = 20
LONGEST_REASON = 100


class GradedSolution(Frozen):
    """One solution of the file, with its verdict.

    Attributes:
        tests_run: tests that were run; after a limit of time, memory or output the rest are not.
        cause: cause of an infrastructure failure; empty if there was none.
        agrees: whether the published verdict and this one agree on passing; None if either is
            missing.
        efficiency: measured efficiency; None if not measured.
        tests: results in order, public tests first.
        solved_by_rule: as in `harness.grading.verdict.Grade`.
        language: name of its language.
        compiler: the compiler and its flags; empty for a language without one.
        score: as in `harness.grading.verdict.Grade`.
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
    language: str = PYTHON
    compiler: str = ""
    score: Annotated[Score | None, Field(exclude_if=lambda score: score is None)] = None

    @property
    def solved(self) -> bool:
        """Whether every test passed, or the score is full."""
        return self.passed

    @property
    def graded(self) -> bool:
        """Whether it was judged: no infrastructure failure, and the problem has tests."""
        return self.verdict not in UNKNOWN


class Agreement(Frozen):
    """Comparison with published verdicts, over the solutions that have both.

    Attributes:
        passed_there_only: solutions published as passed that fail here.
        passed_here_only: solutions published as failed that pass here.
        worded: solutions whose published verdict is a word, not only passed or failed.
        same_verdict: solutions among `worded` whose word is the same here.
        verdicts: number of solutions, by published word, then by the word given here.
    """

    compared: int
    agree: int
    passed_there_only: int
    passed_here_only: int
    worded: int
    same_verdict: int
    verdicts: dict[str, dict[str, int]]


class GradeSummary(Frozen):
    """Counts and rates of a graded file.

    Attributes:
        solutions: solutions in the file.
        problems: problems that have a solution in the file.
        unmatched: solutions whose name fits no problem, or several; they are not judged.
        not_judged: solutions left over when grading was interrupted.
        graded: solutions that were judged; only these are in the rates.
        ungraded: solutions of problems without tests.
        infrastructure: solutions that could not be judged.
        pass_at_1: mean over problems of the share of their solutions that pass.
        no_hidden: number of problems that were judged by public tests only.
        isolation: number of solutions judged at each sandbox level.
        extractions: number of solutions whose code each rule found.
        judged_again: counts of tests and solutions that were run more than once.
        efficiency: summary of measured efficiency; None if none was measured.
        by_source_rule: `pass_at_1` by the sources' own rules, which upstream leaderboards use; None
            if no checker replaces such a rule.
        mean_score: as in `harness.run.summary.summary.Summary`.
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
    no_hidden: int
    verdicts: dict[str, int]
    isolation: dict[str, int]
    extractions: dict[str, int]
    published: Agreement | None
    judged_again: JudgedAgain
    efficiency: EfficiencySummary | None = None
    by_source_rule: Rate | None = None
    mean_score: Annotated[float | None, Field(exclude_if=lambda share: share is None)] = None


class GradedFileOutput(Frozen):
    """What `harness grade FILE --json` prints: each solution with its tests, and the rates."""

    schema_version: int = SCHEMA
    results: tuple[GradedSolution, ...]
    summary: GradeSummary


def graded_solution(matched: MatchedSolution, judged: Judged, flags: str = "") -> GradedSolution:
    """Combine a solution and its verdict.

    Args:
        matched: the solution.
        judged: the verdict.
        flags: the C++ compiler's flags; empty for the usual ones.
    """
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
        score=grade.score,
        language=matched.language,
        compiler=compiler_words(matched.language, flags),
    )
    if published is None or not result.graded:
        return result
    return result.model_copy(update={"agrees": published.passed == result.passed})


def summarize_grades(
    results: Sequence[GradedSolution], matched: Sequence[MatchedSolution], unmatched: Sequence[str]
) -> GradeSummary:
    """Summarize graded solutions."""
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
        no_hidden=without_hidden((r.problem_id, r.tests_total, r.hidden_total) for r in graded),
        verdicts=counted(result.verdict for result in results),
        isolation=counted(result.isolation for result in results if result.isolation),
        extractions=counted(result.extraction for result in results if result.extraction),
        published=_agreement(results),
        judged_again=sum((result.judged_again for result in results), JudgedAgain()),
        efficiency=summarize_efficiency(graded),
        by_source_rule=rate_by_source_rule(
            (result.problem_id, result.solved, result.solved_by_rule) for result in graded
        ),
        mean_score=mean_score((result.problem_id, result.score) for result in graded),
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


def grades_view(summary: GradeSummary, results: Sequence[GradedSolution]) -> RenderableType:
    """Show rates, counts, failures and disagreements with published verdicts."""
    parts: list[RenderableType] = []
    if summary.pass_at_1 is not None:
        parts.append(
            rates_table(
                ("pass@1", summary.pass_at_1),
                ("  with hidden tests", summary.with_hidden),
                ("  without known issues", summary.without_known_issues),
                ("  source's rule", summary.by_source_rule),
            )
        )
    if summary.efficiency is not None:
        parts.append(efficiency_table(summary.efficiency))
    parts.append(facts([*_facts(summary), *efficiency_facts(summary.efficiency)]))
    parts += no_hidden_tests(summary.no_hidden)
    failed = [result for result in results if result.verdict in INFRASTRUCTURE]
    if failed:
        rows = ((r.problem_id, str(r.index), words(r.verdict), r.cause) for r in failed)
        parts.append(_table(("not judged", "index", "verdict", "why"), rows, len(failed)))
    differ = [result for result in results if result.agrees is False]
    if differ:
        columns = ("disagreement", "index", "published", "here", "why")
        parts.append(_table(columns, map(_row, differ), len(differ)))
    return Group(*parts)


def _facts(summary: GradeSummary) -> Iterator[tuple[str, str]]:
    yield (
        "solutions",
        f"{summary.accepted:,} accepted of {summary.graded:,} graded, "
        f"{summary.solutions:,} in the file",
    )
    if summary.verdicts:
        yield "verdicts", counts(summary.verdicts)
    if summary.mean_score is not None:
        yield "points of a full score", percent(summary.mean_score)
    for name, number, what in (
        ("not graded", summary.unmatched, f"skipped: {unmatched_words(summary.unmatched_names)}"),
        ("ungraded", summary.ungraded, "of problems without tests; in no rate"),
        ("infrastructure", summary.infrastructure, "could not be judged; in no rate"),
        ("interrupted", summary.not_judged, "not judged; in no rate"),
    ):
        if number:
            yield name, f"{number:,} {what}"
    if summary.extractions:
        yield "code found by", counts(summary.extractions)
    if summary.published is not None:
        yield from _agreement_words(summary.published)
    yield from judged_again(summary.judged_again).items()
    yield from sandbox_level(summary.isolation).items()


def _agreement_words(published: Agreement) -> Iterator[tuple[str, str]]:
    text = (
        f"{published.agree:,} of {published.compared:,} agree "
        f"({percent(published.agree / published.compared)})"
    )
    if published.agree < published.compared:
        text += (
            f"; {published.passed_there_only} passed there and fail here, "
            f"{published.passed_here_only} the reverse"
        )
    yield "published", text
    if published.worded:
        yield "  verdict by verdict", f"{published.same_verdict:,} of {published.worded:,} agree"
        for there, here in published.verdicts.items():
            yield f"  {words(there)} there", f"here {counts(here)}"


def _table(
    columns: Iterable[str], rows: Iterable[tuple[str, ...]], count_of_all: int
) -> RenderableType:
    """Show the first rows, and how many more there are."""
    table = words_table(columns, islice(rows, LISTED))
    if count_of_all <= LISTED:
        return table
    return Group(table, f"and {count_of_all - LISTED:,} more; --json has all")


def _row(result: GradedSolution) -> tuple[str, ...]:
    published = result.published
    there = "passed" if published is not None and published.passed else "failed"
    if published is not None and published.note and not published.passed:
        there += f": {published.note}"
    why = next((_why(test) for test in result.tests if not test.passed), "every test passes")
    issues = f" (known: {', '.join(result.known_issues)})" if result.known_issues else ""
    here = words(result.verdict)
    return result.problem_id, str(result.index), there[:LONGEST_REASON], here, why + issues


def _why(test: TestResult) -> str:
    where = f"test {test.index + 1}"
    if test.difference is not None:
        difference = test.difference
        return f"{where}: {difference.expected[:40]!r} expected, {difference.got[:40]!r} given"
    lines = test.error.strip().splitlines()
    return f"{where}, {test.cpu_s:.2f} s: {(lines[-1] if lines else '')[:LONGEST_REASON]}"
