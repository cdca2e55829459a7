"""`harness show`: the samples and the summary of a stored run."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from pydantic import ConfigDict, Field

from harness.cli.settings_flags import RESULT_FILTERS, with_settings
from harness.cli.shared_flags import By, Details, RunArgument
from harness.features.show.chosen_samples import shown_samples
from harness.figures import count
from harness.frozen import Frozen
from harness.run.store.directory import RESULTS
from harness.run.store.state import Word
from harness.run.summary.filtered_run import filtered
from harness.run.summary.filters import read_filters
from harness.run.summary.groups import GroupRate, rates_by, read_kinds
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import Summary
from harness.terminal.consoles import console, write_json
from harness.terminal.groups_view import groups_view
from harness.terminal.run_screen import hints, run_screen
from harness.terminal.sample_table import sample_table
from harness.terminal.summary_table import summary_view

SCHEMA = 1


class ShownState(Frozen):
    """The state of a run as in `RunState`, and what a screen says of it."""

    word: Word
    planned: int
    done: int
    pending: dict[str, int]
    cause: str
    text: str


class ShownSample(Frozen):
    """A sample; one with a result has its figures too.

    Attributes:
        number: its place in the run, from 1.
        sample: the problem's id and the number of the attempt.
        solved: whether it is; None if that is not known yet.
    """

    model_config = ConfigDict(extra="allow")

    number: int
    sample: str
    status: str
    solved: bool | None


class ShownRun(Frozen):
    """What `harness show --json` prints; `filtered_by` and `by` where they were asked for."""

    schema_version: int = SCHEMA
    run: str
    filtered_by: Annotated[str, Field(exclude_if=lambda words: not words)] = ""
    state: ShownState
    repeated_lines: int
    summary: Summary
    samples: tuple[ShownSample, ...]
    by: Annotated[
        dict[str, tuple[GroupRate, ...]], Field(exclude_if=lambda groups: not groups)
    ] = {}  # noqa: RUF012 - pydantic copies it


@with_settings(*RESULT_FILTERS)
def show(
    settings: Mapping[str, Any],
    *,
    run: RunArgument,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="WHICH",
            help="Just these samples: solved, unsolved, pending, overfit (passed the public tests "
            "and failed a hidden one), or a verdict such as time_limit; repeat, or separate by "
            "commas.",
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="COLUMN",
            help="number (default), problem, difficulty, status, or the largest first: turns, "
            "time, tokens, cost.",
        ),
    ] = "number",
    details: Details = False,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print a run's samples and its summary, as they are on disk now."""
    chosen = read_filters(settings)
    kinds = read_kinds(by or ())
    run_read = filtered(read_run(run), chosen)
    samples = shown_samples(run_read, only or (), sort)
    out = console()
    if as_json:
        shown = ShownRun(
            run=str(run),
            filtered_by=run_read.filtered_by,
            state=ShownState(**run_read.state.model_dump(), text=run_read.state.text),
            repeated_lines=run_read.repeated,
            summary=run_read.summary,
            samples=tuple(ShownSample(**sample.as_json()) for sample in samples),
            by={kind: tuple(rates_by(run_read.results, kind)) for kind in kinds},
        )
        write_json(out, [shown.model_dump_json()])
        return
    if run_read.repeated:
        lines = count(run_read.repeated, "line")
        out.print(f"{lines} of {RESULTS} name a sample again; the last line of each counts")
    if samples:
        out.print(sample_table(sample.row for sample in samples))
    else:
        out.print("no such sample")
    if details:
        out.print(summary_view(run_read.summary))
        kinds = kinds or ("tag", "month")
    for part in groups_view(run_read.results, kinds):
        out.print(part)
    out.print(run_screen(run_read))
    for line in hints(str(run), samples=False)[details:]:
        out.print(line, crop=False)
