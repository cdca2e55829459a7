"""`harness.load_run`: a stored run for notebooks."""

# pyright: reportMissingTypeStubs=false

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from rich.console import RenderableType

from harness.errors import UsageError
from harness.run.settings.python_signature import listing
from harness.run.store.results import SampleResult, uncollected
from harness.run.store.state import RunState
from harness.run.summary.filtered_run import filtered
from harness.run.summary.filters import Filters, read_filters
from harness.run.summary.loaded_run import Run, read_run, samples_frame
from harness.run.summary.summary import Summary
from harness.terminal.notebook import NotebookView
from harness.terminal.run_screen import run_screen

if TYPE_CHECKING:
    import pandas as pd


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
