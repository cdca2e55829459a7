"""Load the rows of data files as problems, without duplicates.

The hub's data sets come as Parquet or as JSONL; a reader of rows need not know which.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from harness.errors import DataError, UsageError
from harness.problem import Level, Problem
from harness.sources.files.catalogue import Catalogued
from harness.sources.files.deferred import Parse
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import DataFile, JsonLines, RowFile
from harness.sources.files.parquet import MAGIC, ParquetRows
from harness.sources.files.paths import expand, open_regular

LEVELS: dict[str, Level] = {"easy": "easy", "medium": "medium", "hard": "hard"}
"""Words of the levels themselves."""


def open_rows(path: Path, name: str | None = None) -> RowFile:
    """Open a file of rows in the format that its first bytes show.

    Args:
        path: the file.
        name: its name in messages and the run's record; the path by default.

    Raises:
        UsageError: the path cannot be opened as a regular file.
    """
    with open_regular(path) as file:
        is_parquet = file.read(len(MAGIC)) == MAGIC
    return ParquetRows(path, name=name) if is_parquet else JsonLines(path, name=name)


class Loaded(NamedTuple):
    """Problems loaded from a source.

    Attributes:
        problems: problems in the data's order; their ids are unique.
        skipped: error of each skipped row; empty unless the caller asked to skip them.
        files: files that were read, as the run records them.
    """

    problems: tuple[Problem, ...]
    skipped: tuple[DataError, ...] = ()
    files: tuple[DataFile, ...] = ()


def load_rows(
    files: Iterable[RowFile], parse: Parse, *, skip_bad_rows: bool = False, watch: Watch = quiet
) -> Loaded:
    """Read every row of some files.

    Args:
        files: files, read one after the other.
        parse: function that makes a row's problem, or raises DataError. The problem's hidden tests
            and references are dropped, and read again when needed.
        skip_bad_rows: whether to skip rows that do not match their schema, and rows that repeat an
            id. A file that is itself broken (truncated, a line without end) stops the load all the
            same, because lost rows cannot be counted.
        watch: function called with the progress in a large file.

    Raises:
        UsageError: a file cannot be opened.
        DataError: a row or file is invalid; for a duplicate id, both places are named.
    """
    problems: list[Problem] = []
    skipped: list[DataError] = []
    read: list[DataFile] = []
    places: dict[str, str] = {}
    for rows in files:
        entries = Catalogued(rows, parse, watch)
        for entry, where in entries:
            if isinstance(entry, Problem) and entry.id not in places:
                problems.append(entry)
                places[entry.id] = where
                continue
            if isinstance(entry, Problem):
                what = f"{entry.id!r} was already at {places[entry.id]}"
                entry = DataError(where, None, what)  # noqa: PLW2901 - what is wrong with it
            if not skip_bad_rows:
                raise entry
            skipped.append(entry)
        read.append(entries.file)
    return Loaded(tuple(problems), tuple(skipped), tuple(read))


ReadRows = Callable[..., Loaded]
"""A source's reader of files of rows: `load_rows`, but for `parse`."""


def load_paths(
    name: str,
    where: str | None,
    read: ReadRows,
    *,
    skip_bad_rows: bool = False,
    watch: Watch = quiet,
) -> Loaded:
    """Load the files that a path or glob names: JSONL, gzipped or not, or Parquet.

    Args:
        name: name of the source.
        where: the path or glob.
        read: reader of the source.
        skip_bad_rows: as in `load_rows`.
        watch: function called with the progress in a large file.

    Raises:
        UsageError: no file is given, none is there, or one cannot be opened.
        DataError: a row or file is invalid.
    """
    if where is None:
        raise UsageError(f"{name} needs a file: give --benchmark {name}:PATH")
    return read(map(open_rows, expand(where)), skip_bad_rows=skip_bad_rows, watch=watch)
