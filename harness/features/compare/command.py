"""`harness compare`: compare, check, print, choose the exit code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli import completion
from harness.cli.settings_flags import RESULT_FILTERS, with_settings
from harness.cli.shared_flags import By, Details
from harness.errors import INFRASTRUCTURE, MISSED, OK, UsageError
from harness.features.compare.answer_screen import comparison_screen
from harness.features.compare.comparison import Comparison, NothingSharedError, compare_runs
from harness.features.compare.markdown import comparison_markdown
from harness.features.compare.run_names import names_of
from harness.features.compare.view import comparison_view, groups_of
from harness.figures import count
from harness.run.store.results import uncollected
from harness.run.summary.filters import read_filters
from harness.run.summary.groups import read_kinds
from harness.terminal.consoles import console, write_data, write_json
from harness.text import printable_line


def _print(out: Console, comparison: Comparison, *, details: bool, kinds: Sequence[str]) -> None:
    """Print the requested details, then the first screen. Commands are never cut."""
    chosen = _groups_chosen(comparison, kinds) if kinds else comparison
    if details:
        out.print(comparison_view(chosen), crop=False)
    elif kinds:
        for versus in chosen.versus:
            for part in groups_of(versus, names_of(comparison)):
                out.print(part)
    out.print(comparison_screen(comparison), crop=False)


def _groups_chosen(comparison: Comparison, kinds: Sequence[str]) -> Comparison:
    """Return the comparison with only these kinds of groups."""
    versus = tuple(
        each.model_copy(update={"groups": {k: v for k, v in each.groups.items() if k in kinds}})
        for each in comparison.versus
    )
    return comparison.model_copy(update={"versus": versus})


def _refuse_unlike(comparison: Comparison) -> None:
    for versus in comparison.versus:
        notes = (*versus.unlike, *versus.differs)
        for first in notes[:1]:
            others = len(notes) - 1
            more = f", and {others} more" if others else ""
            names = names_of(comparison)
            raise UsageError(
                f"{names[versus.label]} is not comparable with {names[versus.baseline]}: "
                f"{first}{more}; "
                "leave out --strict to see them side by side"
            )


def _gate(comparison: Comparison) -> int:
    """Return the exit code of `--fail-if-worse`, taking pending samples into account."""
    err, names = console(error=True), names_of(comparison)
    baseline = names[comparison.baseline]
    worse = [names[each.label] for each in comparison.versus if each.worse_at_best]
    if worse:
        err.print(f"--fail-if-worse: {', '.join(worse)} worse than {baseline}")
        return MISSED
    unknown = [names[each.label] for each in comparison.versus if each.worse_at_worst or each.worse]
    if unknown:
        pending = sum(side.open.pending for side in comparison.runs)
        err.print(
            f"--fail-if-worse: not decided, {count(pending, 'sample')} pending: they can still "
            f"make {', '.join(unknown)} worse than {baseline} or not; finish the runs",
            soft_wrap=True,
        )
        return INFRASTRUCTURE
    return OK


@with_settings(*RESULT_FILTERS)
def compare(
    settings: Mapping[str, Any],
    *,
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Two run directories, or more.",
            metavar="A B [C]...",
            autocompletion=completion.runs,
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(
            autocompletion=completion.runs,
            metavar="RUN",
            help="Which run the others stand against (the first).",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="SPEND,...",
            help="Compare the runs where both spend so much a problem on average: US dollars, or "
            "tokens or model calls where costs are unknown. Default: what a sample of each run "
            "spends.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse runs that differ in anything that can change a result beside model, mode "
            "and prompt set: settings, judging, data, versions.",
        ),
    ] = False,
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse",
            help="Exit with 1 if a run is significantly worse than the baseline: a lower pass@1, "
            "p < 0.05 (score test over problems, corrected by Holm).",
        ),
    ] = False,
    details: Details = False,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print as GitHub's Markdown.")
    ] = False,
) -> None:
    """Compare runs, paired by problem: rates, difference, test, flips, tokens, cost and time."""
    only = read_filters(settings)
    if as_json and as_markdown:
        raise UsageError("--json and --markdown contradict each other; give one")
    kinds, spends = read_kinds(by or ()), None if at is None else _spends(at)
    places = [run.resolve() for run in runs]
    twice = next(
        (run for run, place in zip(runs, places, strict=True) if places.count(place) > 1), None
    )
    if twice is not None:
        raise UsageError(f"{twice} is given twice; a run is compared with another one")
    out = console()
    with uncollected():
        try:
            comparison = compare_runs(runs, baseline, spends, only)
        except NothingSharedError as error:
            if not error.findings or strict or fail_if_worse or as_json or as_markdown:
                raise
            out.print("\n".join(error.findings))
            raise typer.Exit(OK) from None
        if strict:
            _refuse_unlike(comparison)
        if as_json:
            write_json(out, [comparison.model_dump_json()])
        elif as_markdown:
            write_data(out, [comparison_markdown(comparison)])
        else:
            _print(out, comparison, details=details, kinds=kinds)
    raise typer.Exit(_gate(comparison) if fail_if_worse else OK)


def _spends(text: str) -> tuple[float, ...]:
    """Parse numbers separated by commas. Raises UsageError."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(
            f"--at {printable_line(text)[:60]}: give numbers between commas, such as 0.01,0.05"
        ) from error
