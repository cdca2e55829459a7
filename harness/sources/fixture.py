"""The bundled problems, written for this project and available offline."""

from functools import partial
from importlib import resources

from harness.errors import UsageError
from harness.sources import jsonl
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import JsonLines
from harness.sources.files.rows import Loaded, load_rows


def load(where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the bundled problems.

    Raises:
        UsageError: a place is given; there is only one set.
    """
    if where is not None:
        raise UsageError(f"fixture has no {where!r}: the bundled problems are one set")
    bundled = resources.files("harness") / "fixtures" / "problems.jsonl"
    with resources.as_file(bundled) as path:
        file = JsonLines(path, name="fixtures/problems.jsonl")
        parse = partial(jsonl.parse_row, source="fixture")
        return load_rows([file], parse, skip_bad_rows=skip_bad_rows, watch=watch)
