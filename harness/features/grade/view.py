"""Terminal tables of a graded file of solutions."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.console import Group, RenderableType

from harness.features.grade.grades import Agreement, GradedSolution, GradeSummary
from harness.features.grade.solutions import unmatched_words
from harness.grading.verdict import INFRASTRUCTURE, TestResult
from harness.terminal.columns import facts, rates_table, words_table
from harness.terminal.figures_tables import efficiency_facts, efficiency_table
from harness.terminal.summary_table import counts, judged_again, sandbox_level, words
from harness.text import percent

LISTED = 20
LONGEST_REASON = 100


def grades_view(summary: GradeSummary, results: Sequence[GradedSolution]) -> RenderableType:
    """Show rates, counts, failures and disagreements with published verdicts."""
    parts: list[RenderableType] = []
    if summary.pass_at_1 is not None:
        parts.append(
            rates_table(
                ("pass@1", summary.pass_at_1),
                ("  with hidden tests", summary.with_hidden),
                ("  without known issues", summary.without_known_issues),
                ("  by the source's own rule", summary.by_source_rule),
            )
        )
    if summary.efficiency is not None:
        parts.append(efficiency_table(summary.efficiency))
    parts.append(facts([*_facts(summary), *efficiency_facts(summary.efficiency)]))
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
    if summary.unmatched:
        yield "not graded", f"{summary.unmatched:,} {unmatched_words(summary.unmatched_names)}"
    if summary.ungraded:
        yield "ungraded", f"{summary.ungraded:,} of problems without tests; in no rate"
    if summary.infrastructure:
        yield "infrastructure", f"{summary.infrastructure:,} could not be judged; in no rate"
    if summary.not_judged:
        yield "interrupted", f"{summary.not_judged:,} not judged; in no rate"
    if summary.extractions:
        yield "code found by", counts(summary.extractions)
    if summary.published is not None:
        yield from _agreement(summary.published)
    yield from judged_again(summary.judged_again)
    yield from sandbox_level(summary.isolation)


def _agreement(published: Agreement) -> Iterator[tuple[str, str]]:
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
        found = test.difference
        return f"{where}: {found.expected[:40]!r} expected, {found.got[:40]!r} given"
    lines = test.error.strip().splitlines()
    return f"{where}, {test.cpu_s:.2f} s: {(lines[-1] if lines else '')[:LONGEST_REASON]}"
