"""Terminal table of references compared on generated inputs."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType

from harness.features.verify.generated import CrossChecked, CrossChecks
from harness.features.verify.view import findings_table, some_problems
from harness.problem import Problem
from harness.terminal.layout import facts
from harness.terminal.summary_table import sandbox_level, words
from harness.text import count

COLUMNS = ("problem", "reference", "generated inputs", "how many", "why")


def cross_checks_view(
    summary: CrossChecks, problems: Sequence[Problem], checked: Mapping[int, CrossChecked]
) -> RenderableType:
    """Show the summary, then each disagreeing reference and each failing generator.

    Args:
        summary: summary of all results.
        problems: the selected problems.
        checked: results, by the problem's index.
    """
    parts: list[RenderableType] = [facts(_facts(summary))]
    rows = [row for place in sorted(checked) for row in _rows(problems[place].id, checked[place])]
    if rows:
        parts.append(findings_table(COLUMNS, rows))
    return Group(*parts)


def _facts(summary: CrossChecks) -> Iterator[tuple[str, str]]:
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


def _rows(name: str, found: CrossChecked) -> Iterator[tuple[str, ...]]:
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
