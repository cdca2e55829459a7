"""`harness show` and `harness.load_run`: the samples and the summary of a stored run."""

# pyright: reportMissingTypeStubs=false

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer
from pydantic_core import to_json
from rich.console import RenderableType

from harness.cli.settings_flags import RESULT_FILTERS, By, Details, RunArgument, with_settings
from harness.efficiency.scale import Efficiency
from harness.errors import UsageError
from harness.figures import count
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.run.settings.python_signature import listing
from harness.run.store.directory import RESULTS
from harness.run.store.origin import is_imported
from harness.run.store.results import SampleResult, uncollected
from harness.run.store.state import RunState
from harness.run.summary.groups import Filters, filtered, rates_by, read_filters, read_kinds
from harness.run.summary.loaded_run import Run, read_run, samples_frame
from harness.run.summary.summary import Summary
from harness.terminal.consoles import console, write_json
from harness.terminal.groups_view import groups_view
from harness.terminal.notebook import NotebookView
from harness.terminal.run_screen import hints, run_screen
from harness.terminal.sample_table import Numbers, SampleRow, pending_rows, result_row, sample_table
from harness.terminal.summary_table import summary_view

if TYPE_CHECKING:
    import pandas as pd

PENDING = "pending"
TOLD = (
    *("title", "platform", "difficulty", "public_passed", "public_total", "hidden_passed"),
    *("hidden_total", "stop_reason"),
)
"""Fields of a result that `--json` has too."""

_LAST = float("inf")
_ORDERS: dict[str, Callable[[SampleRow], Any]] = {
    "number": lambda row: row.number,
    "problem": lambda row: row.label.casefold(),
    "difficulty": lambda row: {"easy": 0, "medium": 1, "hard": 2}.get(row.difficulty, 3),
    "status": lambda row: row.status,
    "turns": lambda row: _largest_first(row.turns),
    "time": lambda row: _largest_first(row.seconds),
    "tokens": lambda row: _largest_first(row.tokens),
    "cost": lambda row: _largest_first(row.cost),
}
ORDERS = tuple(_ORDERS)
"""Values of `--sort`: figures with the largest first, and unknown ones last."""


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
    found = filtered(read_run(run), chosen)
    samples = shown_samples(found, only or (), sort)
    out = console()
    if as_json:
        told = {
            "run": str(run),
            **({"filtered_by": found.filtered_by} if found.filtered_by else {}),
            "state": {**found.state.model_dump(mode="json"), "text": found.state.text},
            "repeated_lines": found.repeated,
            "summary": found.summary.model_dump(mode="json"),
            "samples": [sample.as_json() for sample in samples],
        }
        if kinds:
            told["by"] = {kind: rates_by(found.results, kind) for kind in kinds}
        write_json(out, [to_json(told).decode()])
        return
    if found.repeated:
        lines = count(found.repeated, "line")
        out.print(f"{lines} of {RESULTS} name a sample again; the last line of each counts")
    if samples:
        out.print(sample_table(sample.row for sample in samples))
    else:
        out.print("no such sample")
    if details:
        out.print(summary_view(found.summary, imported=is_imported(found.manifest)))
        kinds = kinds or ("tag", "month")
    for part in groups_view(found.results, kinds):
        out.print(part)
    out.print(run_screen(found))
    for line in hints(str(run), samples=False)[details:]:
        out.print(line, crop=False)


@dataclass(frozen=True, slots=True)
class ChosenSample:
    """A sample's row, and its result if it has one."""

    row: SampleRow
    result: SampleResult | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the sample's fields for `--json`."""
        row, result = self.row, self.result
        told: dict[str, Any] = {
            "number": row.number,
            "sample": row.sample,
            "status": row.status,
            "solved": result.solved if result is not None and result.graded else None,
        }
        if result is None:
            return told
        timed = {} if row.efficiency is None else {"efficiency": _told(row.efficiency)}
        return told | {
            **{name: getattr(result, name) for name in TOLD},
            "turns": row.turns,
            "tool_calls": result.tool_calls,
            "seconds": row.seconds,
            "tokens": row.tokens,
            "cost": row.cost,
            **timed,
        }


def _told(found: Efficiency) -> dict[str, Any]:
    """Dump efficiency without references, which a problem's samples share."""
    return found.model_dump(mode="json", exclude={"references"})


_VERDICTS = [verdict for verdict in Verdict if verdict not in INFRASTRUCTURE]
_KINDS: dict[str, Callable[[ChosenSample], bool]] = {
    "solved": lambda shown: shown.result is not None and shown.result.solved,
    "unsolved": lambda shown: _graded(shown) and shown.row.status != Verdict.ACCEPTED,
    "overfit": lambda shown: shown.result is not None and shown.result.overfit,
}
KINDS = (*_KINDS, PENDING, *_VERDICTS)
"""Values of `--only`. Pending samples are neither solved nor unsolved."""


def shown_samples(run: Run, only: Iterable[str] = (), sort: str = "number") -> list[ChosenSample]:
    """Choose and sort the samples of a run.

    Args:
        run: the run.
        only: values of `KINDS`, or several separated by commas; empty for all samples.
        sort: a value of `ORDERS`.

    Raises:
        UsageError: there is no such kind or order.
    """
    kinds = [kind.strip().replace(" ", "_") for word in only for kind in word.split(",")]
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--only {kind!r}: known are {', '.join(KINDS)}")
    if sort not in _ORDERS:
        raise UsageError(f"--sort {sort!r}: known are {', '.join(ORDERS)}")
    chosen = [shown for shown in _all(run) if not kinds or _is_one_of(shown, kinds)]
    return sorted(chosen, key=lambda shown: (_ORDERS[sort](shown.row), shown.row.number))


def _all(run: Run) -> list[ChosenSample]:
    problems, samples = run.manifest["problems"], int(run.spec["samples_per_problem"])
    numbers = Numbers(problems)
    graded = [
        ChosenSample(
            result_row(result, numbers.of(result.problem_id, result.index), several=samples > 1),
            result,
        )
        for result in run.results
    ]
    return graded + [ChosenSample(row) for row in pending_rows(problems, samples, run.results)]


def _is_one_of(shown: ChosenSample, kinds: Sequence[str]) -> bool:
    return any(
        _KINDS[kind](shown) if kind in _KINDS else shown.row.status == kind for kind in kinds
    )


def _graded(shown: ChosenSample) -> bool:
    return shown.result is not None and shown.result.graded


def _largest_first(value: float | None) -> float:
    return _LAST if value is None else -value


class LoadedRun(NotebookView):
    """A run on disk, finished or not, for `compare` and notebooks.

    Attributes:
        run: the run as comparisons and reports read it.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def path(self) -> Path:
        """The run's directory."""
        return self.run.path

    @property
    def spec(self) -> dict[str, Any]:
        """The run's settings, by keys of the spec."""
        return self.run.spec

    @property
    def results(self) -> tuple[SampleResult, ...]:
        """Graded samples, in the order they ended."""
        return self.run.results

    @property
    def summary(self) -> Summary:
        """All figures, as in `harness show --json`."""
        return self.run.summary

    @property
    def pass_at_1(self) -> float:
        """The share of problems solved; NaN if none is graded."""
        rate = self.summary.pass_at_1
        return math.nan if rate is None else rate.value

    @property
    def state(self) -> RunState:
        """Progress of the run, and the reason if it stopped."""
        return self.run.state

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row a sample: problem, verdict, tokens, cost (US dollars), seconds."""
        return samples_frame(self.run)

    def view(self) -> RenderableType:
        """Return the last screen of `harness run`."""
        return run_screen(self.run)

    def __repr__(self) -> str:
        rate = self.summary.pass_at_1
        solved = "no graded sample" if rate is None else f"pass@1 {rate.value:.4f}"
        only = f", only {self.run.filtered_by}" if self.run.filtered_by else ""
        return (
            f"<LoadedRun {self.run.name}: {solved}, {self.summary.graded} of {self.run.planned} "
            f"samples graded{only}>"
        )


@listing(Filters)
def load_run(path: str | Path, **filters: Unpack[Filters]) -> LoadedRun:
    """Read a run.

    Args:
        path: the run's directory.
        filters: filters of problems, as for a run: `filter_difficulty`, `filter_platform`,
            `filter_tags`, `min_release_date`, `max_release_date`, `exclude_known_issues`.

    Raises:
        RunDirectoryError: the directory is not a run, or cannot be read.
        UsageError: `path` is not a path, or a filter or its value is unknown.
        NothingSelectedError: the filters leave no problem.
    """
    given: Any = path
    if not isinstance(given, str | Path):
        raise UsageError(f"load_run(): a {type(given).__name__} is not a run; give its directory")
    with uncollected():
        return LoadedRun(filtered(read_run(Path(path)), read_filters(dict(filters))))
