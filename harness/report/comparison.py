"""Two runs side by side, paired by problem."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.errors import RunDirectoryError
from harness.models.protocol import Frozen
from harness.report.tables import figures_table
from harness.report.text import count, dollars, percent, printable_line
from harness.runs.directory import RESULTS, read_manifest
from harness.runs.pricing import prices_as_of
from harness.runs.results import SampleResult, read_results
from harness.runs.summary import Summary, solved_fractions, summarize
from harness.stats.paired import Paired, compare_paired
from harness.stats.rates import Rate

COMPARED = ("model", "mode", "prompt", "max_turns", "temperature", "reasoning_effort")


class Side(Frozen):
    """One of the runs compared."""

    path: str
    settings: dict[str, Any]
    summary: Summary


class Comparison(Frozen):
    """Two runs, what differs between them, and their problems paired.

    Attributes:
        warnings: what makes the two less than comparable, in words.
        changed: problems left out because their tests or statements differ between the runs.
    """

    a: Side
    b: Side
    paired: Paired
    warnings: tuple[str, ...]
    changed: tuple[str, ...]


def compare_runs(a: Path, b: Path) -> Comparison:
    """Pair two runs by problem.

    Raises:
        RunDirectoryError: one is not a run, or they share no graded problem.
    """
    manifest_a, manifest_b = read_manifest(a), read_manifest(b)
    results_a, results_b = (list(read_results(path / RESULTS)) for path in (a, b))
    hashes = {result.problem_id: result.problem_hash for result in results_a}
    changed = {
        result.problem_id
        for result in results_b
        if hashes.get(result.problem_id, result.problem_hash) != result.problem_hash
    }
    fractions_a, fractions_b = (
        solved_fractions(result for result in results if result.problem_id not in changed)
        for results in (results_a, results_b)
    )
    paired = compare_paired(fractions_a, fractions_b)
    if not paired.problems:
        why = "all they share have changed" if changed else "no graded problem is in both"
        raise RunDirectoryError(f"{a} and {b} cannot be compared: {why}")
    return Comparison(
        a=_side(a, manifest_a, results_a),
        b=_side(b, manifest_b, results_b),
        paired=paired,
        warnings=tuple(_warnings(manifest_a, manifest_b, fractions_a, fractions_b)),
        changed=tuple(sorted(changed)),
    )


def _side(path: Path, manifest: Mapping[str, Any], results: list[SampleResult]) -> Side:
    spec = manifest["spec"]
    planned = len(manifest["problems"]) * int(spec["samples_per_problem"])
    return Side(
        path=str(path),
        settings={key: spec.get(key) for key in COMPARED},
        summary=summarize(results, planned, prices_as_of=prices_as_of(manifest)),
    )


def _warnings(
    manifest_a: Mapping[str, Any],
    manifest_b: Mapping[str, Any],
    a: Mapping[str, float],
    b: Mapping[str, float],
) -> Iterator[str]:
    if manifest_a.get("test_limits") != manifest_b.get("test_limits"):
        yield "the limits of a test differ between the runs"
    levels = [manifest.get("sandbox", {}).get("level") for manifest in (manifest_a, manifest_b)]
    if levels[0] != levels[1]:
        yield f"the sandbox's level differs between the runs: {levels[0]} and {levels[1]}"
    for name, ours, theirs in (("A", a, b), ("B", b, a)):
        alone = len(ours.keys() - theirs.keys())
        if alone:
            yield f"{count(alone, 'problem')} of {name} left out: not graded in the other run"


def comparison_view(comparison: Comparison) -> RenderableType:
    """The comparison as a table, the flips by name, and the test."""
    a, b, paired = comparison.a, comparison.b, comparison.paired
    table = figures_table("", "A", "B")
    for name, left, right in _rows(a, b, paired):
        table.add_row(name, left, right)
    lines = [
        f"paired on {count(paired.problems, 'problem')}: both solved {paired.both}, "
        f"neither {paired.neither}, {_tied(paired)}A did better on {len(paired.better_a)}, "
        f"B on {len(paired.better_b)}",
        f"difference B - A: {100 * paired.difference:+.1f} points; exact McNemar p = "
        f"{paired.p_value:.4g}{_reading(paired)}",
    ]
    lines += [f"  A: {printable_line(problem)}" for problem in paired.better_a]
    lines += [f"  B: {printable_line(problem)}" for problem in paired.better_b]
    lines += [f"note: {warning}" for warning in comparison.warnings]
    changed = map(printable_line, comparison.changed)
    lines += [f"note: {problem} left out: its content differs" for problem in changed]
    return Group(table, Text("\n".join(lines)))


def _tied(paired: Paired) -> str:
    return f"equally often {paired.tied}, " if paired.tied else ""


def _reading(paired: Paired) -> str:
    """What the p-value says, for whoever does not read p-values every day."""
    significant = 0.05
    if paired.p_value < significant:
        return " (unlikely to be chance)"
    return " (chance alone could do this)"


def _rows(a: Side, b: Side, paired: Paired) -> Iterator[tuple[str, str, str]]:
    yield "run", printable_line(a.path), printable_line(b.path)
    for key in COMPARED:
        left, right = a.settings[key], b.settings[key]
        if left != right or key in {"model", "mode"}:
            yield key.replace("_", " "), _setting(left), _setting(right)
    for name, left, right in (
        ("pass@1", a.summary.pass_at_1, b.summary.pass_at_1),
        *_paired_rates(a, b, paired),
        ("  with hidden tests", a.summary.with_hidden, b.summary.with_hidden),
    ):
        if left and right:
            yield name, _rate(left), _rate(right)
    for name, left, right in (
        ("over-fit", *(f"{s.summary.overfit} of {s.summary.passed_public}" for s in (a, b))),
        ("tokens", *(f"{s.summary.usage.total_tokens:,}" for s in (a, b))),
        ("cost", *(dollars(s.summary.cost, s.summary.prices_as_of) for s in (a, b))),
        ("pending", *(str(sum(s.summary.pending.values())) for s in (a, b))),
    ):
        yield name, left, right


def _paired_rates(
    a: Side, b: Side, paired: Paired
) -> Iterator[tuple[str, Rate | None, Rate | None]]:
    """The rates that the difference is of, where they are not the runs' own."""
    rates = (side.summary.pass_at_1 for side in (a, b))
    if any(rate and rate.problems != paired.problems for rate in rates):
        yield "  paired problems only", paired.rate_a, paired.rate_b


def _rate(rate: Rate) -> str:
    return f"{percent(rate.value)} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _setting(value: object) -> str:
    return "default" if value is None else printable_line(str(value))
