"""`harness ls`: list runs and the trend of their scores."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from harness.features.show.run_list import (
    ListedRun,
    RunChange,
    ShownRuns,
    Trend,
    list_runs,
    trends,
)
from harness.figures import count, dollars, interval, p_value, percent, points, score
from harness.terminal.columns import Cell, Column, ColumnGrid
from harness.text import printable_line

COLUMNS = (
    Column("run", least=20, middle=True),
    Column("model", least=13, middle=True),
    Column("mode", leaves=7),
    Column("prompt", leaves=2),
    Column("problems", right=True, leaves=5),
    Column("pass@1", right=True),
    Column("95 % interval", right=True, leaves=1),
    Column("cost", right=True, leaves=3),
    Column("age", right=True, leaves=6),
    Column("state", least=14),
)
BEYOND = Column("Beyond@1", right=True, leaves=4)
"""Column after the first `BEYOND_AFTER` ones, shown if a run has a value."""

BEYOND_AFTER = 7
TREND_COLUMNS = (
    Column("began", leaves=5),
    Column("run", least=12, middle=True),
    Column("model", least=10, leaves=6, middle=True),
    Column("mode", leaves=2),
    Column("prompt", leaves=1),
    Column("pass@1", right=True),
    Column("", leaves=3),
    Column("95 % interval", right=True, leaves=4),
    Column("change", right=True),
    Column("p", right=True, leaves=8),
    Column("mark"),
    Column("against", least=8, leaves=7, middle=True),
)
BAR = 10
"""Width of a bar of 100 %, in characters."""

_STATES = {"done": "green", "pending": "yellow", "running": "cyan", "stopped": "red"}
_WORDS = {"regression": "bold red", "improvement": "green"}
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"))


def ls(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where to look, folders below it included.")
    ] = Path("runs"),
    trend: Annotated[
        bool,
        typer.Option(
            "--trend",
            help="How scores went over time, for runs of the same problems and tests. Each is "
            "compared with the run before it of the same model, mode and prompt, or where there "
            "is none with the one before of any, by the score test, paired by problem; "
            "p < 0.05, which is not adjusted for many runs, is marked as regression or "
            "improvement.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List runs with their scores, the newest first."""
    from harness.errors import RunDirectoryError
    from harness.run.store.directory import find_runs
    from harness.terminal.consoles import console, write_json

    if not folder.is_dir():
        raise RunDirectoryError(f"{folder} is not a folder; name the one that your runs are in")
    listing = list_runs(find_runs(folder).paths)
    out = console()
    for complaint in listing.unreadable:
        console(error=True).print(printable_line(complaint), soft_wrap=True)
    trend_rows = list(trends(listing.runs)) if trend else []
    if as_json:
        shown = ShownRuns(runs=listing.runs, trends=tuple(trend_rows) if trend else None)
        write_json(out, [shown.model_dump_json()])
    elif not listing.runs:
        out.print(f"no runs in {printable_line(str(folder))}")
    elif trend:
        for each in trend_rows:
            for part in trend_view(each, folder):
                out.print(part)
    else:
        out.print(runs_view(listing.runs, folder, datetime.now(UTC)))


def runs_view(runs: Sequence[ListedRun], root: Path, now: datetime) -> RenderableType:
    """Return a table with a line for each run.

    Args:
        runs: the runs, in the order to show.
        root: folder to which names are relative.
        now: time at which ages are computed.
    """
    timed = any(run.beyond for run in runs)
    columns = COLUMNS[:BEYOND_AFTER] + (BEYOND,) * timed + COLUMNS[BEYOND_AFTER:]
    return ColumnGrid(columns, [_run_cells(run, root, now, timed=timed) for run in runs])


def trend_view(trend: Trend, root: Path) -> Iterator[RenderableType]:
    """Yield the heading and table of a trend."""
    runs = count(len(trend.runs), "run")
    problems = count(trend.problems, "problem")
    yield Text(f"{runs} of the same {problems} (selection {trend.selection})", style="bold")
    yield ColumnGrid(
        TREND_COLUMNS, [_trend_cells(each.run, each.change, root) for each in trend.runs]
    )


def _run_cells(run: ListedRun, root: Path, now: datetime, *, timed: bool) -> list[Cell]:
    samples = run.samples_done if run.state == "done" else run.samples
    problems = f"{run.problems:,}" + ("" if run.samples == 1 else f" x {round(samples, 1):,g}")
    reason = printable_line(run.reason or run.state)
    return [
        Cell(_name(run.path, root)),
        *(Cell(printable_line(word)) for word in (run.model, run.mode, run.prompt)),
        Cell(problems),
        *_rate(run),
        *([Cell(score(run.beyond.value if run.beyond else None))] if timed else []),
        Cell(dollars(run.cost)),
        Cell("-" if run.created is None else age((now - run.created).total_seconds())),
        Cell(reason, _STATES[run.state]),
    ]


def _trend_cells(run: ListedRun, change: RunChange | None, root: Path) -> list[Cell]:
    rate, spread = _rate(run)
    full = 0 if run.pass_at_1 is None else round(BAR * run.pass_at_1.value)
    word = "" if change is None else change.word
    notes = "" if change is None else ", ".join([word, *change.notes] if word else change.notes)
    began = "-" if run.created is None else run.created.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    return [
        Cell(began),
        Cell(_name(run.path, root)),
        *(Cell(printable_line(word)) for word in (run.model, run.mode, run.prompt)),
        rate,
        Cell("█" * full + "░" * (BAR - full), "dim"),
        spread,
        Cell("-" if change is None else points(change.difference), _WORDS.get(word, "")),
        Cell("-" if change is None else p_value(change.p_value)),
        Cell(notes, _WORDS.get(word, "")),
        Cell("" if change is None else _name(change.against, root)),
    ]


def _rate(run: ListedRun) -> tuple[Cell, Cell]:
    rate = run.pass_at_1
    if rate is None:
        return Cell("-"), Cell("-")
    return Cell(percent(rate.value)), Cell(interval(rate.low, rate.high))


def _name(path: str, root: Path) -> str:
    """Return a run's path, relative to the listed folder."""
    folder = Path(path)
    inside = folder.is_relative_to(root) and folder != root
    return printable_line(str(folder.relative_to(root) if inside else folder))


def age(seconds: float) -> str:
    """Format a duration in its largest unit."""
    for size, unit in _AGES:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
