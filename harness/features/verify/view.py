"""Terminal table of a verified source."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType

from harness.features.verify.generated import CrossChecked, CrossChecks
from harness.features.verify.verification import Verification, VerifiedProblem, VerifiedReference
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.terminal.columns import facts, words_table
from harness.terminal.summary_table import counts, sandbox_level, words
from harness.text import count, first_few

COLUMNS = ("problem", "reference", "generated inputs", "how many", "why")
"""Columns of the table of generated inputs."""


def verification_view(summary: Verification, problems: Sequence[VerifiedProblem]) -> RenderableType:
    """Show the summary, then each reference that failed or is slow."""
    parts: list[RenderableType] = [facts(_facts(summary))]
    rows = list(_rows(problems))
    if rows:
        parts.append(words_table(("problem", "reference", "verdict", "slowest", "why"), rows))
    return Group(*parts)


def some_problems(ids: Sequence[str]) -> str:
    """Say how many problems there are, and name the first."""
    return f"{count(len(ids), 'problem')}: {first_few(ids)}"


def _facts(summary: Verification) -> Iterator[tuple[str, str]]:
    yield "problems", f"{summary.problems:,}"
    yield "references", f"{summary.accepted:,} of {summary.references:,} pass every test"
    if summary.verdicts:
        yield "verdicts", counts(summary.verdicts)
    yield from sandbox_level(summary.isolation)
    for name, ids in (
        ("no reference passes", summary.unsound),
        ("slow", summary.slow),
        ("no tests", summary.without_tests),
        ("no references", summary.without_references),
    ):
        if ids:
            yield name, some_problems(ids)
    if summary.infrastructure:
        yield "infrastructure", f"{count(summary.infrastructure, 'reference')} could not be judged"


def _rows(problems: Sequence[VerifiedProblem]) -> Iterator[tuple[str, ...]]:
    for problem in problems:
        for reference in problem.references:
            if reference.verdict not in {Verdict.ACCEPTED, Verdict.UNGRADED}:
                yield _row(problem, reference, _why(problem, reference))
        if problem.slow:
            quickest = min(
                (r for r in problem.references if r.verdict is Verdict.ACCEPTED),
                key=lambda reference: reference.slowest_s,
            )
            yield _row(problem, quickest, f"slow: the limit is {problem.limit_s:g} s of CPU")


def _row(problem: VerifiedProblem, reference: VerifiedReference, why: str) -> tuple[str, ...]:
    verdict = words(reference.verdict)
    seconds = f"{reference.slowest_s:.2f} s"
    return problem.problem_id, str(reference.index), verdict, seconds, why


def _why(problem: VerifiedProblem, reference: VerifiedReference) -> str:
    where = f"test {reference.failed_test}: " if reference.failed_test else ""
    issues = f" (known: {', '.join(problem.known_issues)})" if problem.known_issues else ""
    return f"{where}{reference.reason}{issues}"


def cross_checks_view(
    summary: CrossChecks, problems: Sequence[Problem], checked: Mapping[int, CrossChecked]
) -> RenderableType:
    """Show the summary, then each disagreeing reference and each failing generator.

    Args:
        summary: summary of all results.
        problems: the selected problems.
        checked: results, by the problem's index.
    """
    parts: list[RenderableType] = [facts(_check_facts(summary))]
    rows = [
        row for place in sorted(checked) for row in _check_rows(problems[place].id, checked[place])
    ]
    if rows:
        parts.append(words_table(COLUMNS, rows))
    return Group(*parts)


def _check_facts(summary: CrossChecks) -> Iterator[tuple[str, str]]:
    made_for = f"made for {summary.made_for:,} of {count(summary.problems, 'problem')}"
    without = summary.problems - summary.with_generator
    yield "generated inputs", made_for + (f"; {without:,} without a generator" if without else "")
    yield (
        "compared",
        f"on {summary.compared:,} of {count(summary.different, 'different input')} "
        f"({summary.made:,} made of {summary.tried:,} tried)",
    )
    yield from sandbox_level(summary.isolation)
    for name, ids in (
        ("references disagree", summary.disagree),
        ("generator fails", summary.generator_fails),
        ("fewer than two references", summary.too_few_references),
    ):
        if ids:
            yield name, some_problems(ids)
    if summary.infrastructure:
        number = count(summary.infrastructure, "problem")
        yield "infrastructure", f"{number} could not be checked, or not wholly"


def _check_rows(name: str, found: CrossChecked) -> Iterator[tuple[str, ...]]:
    for each in found.disagreements:
        how_many = f"{each.inputs:,} of {found.compared:,}"
        why = f"seed {each.seed}, {each.input}: {each.detail}"
        yield name, str(each.reference), words(each.verdict), how_many, why
    for what, fault, of in (
        ("not compared", found.not_compared, found.different),
        ("generator fails", found.generator_fails, found.tried),
    ):
        if fault is not None:
            how_many = f"{fault.inputs:,} of {of:,}"
            yield name, "", what, how_many, f"seed {fault.seed}: {fault.why}"
    if found.failure:
        yield name, "", "not checked", "", found.failure
