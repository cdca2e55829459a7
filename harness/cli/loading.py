"""Problems for a command, with a bar where fetching or reading takes a while."""

from rich.console import Console

from harness.report.loading import LoadingBar
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded


def load_problems(spec: str, console: Console, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems that a spec names; see `harness.sources.benchmarks.load`.

    Args:
        spec: `NAME[:WHERE]`.
        console: where the bar is.
        skip_bad_rows: pass over rows that are not as their schema says, and report them.
    """
    with LoadingBar(console) as watch:
        return load(spec, skip_bad_rows=skip_bad_rows, watch=watch)
