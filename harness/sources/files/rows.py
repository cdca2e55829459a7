"""Functions for all sources of rows: loading, duplicates, content hashes and checks.

The hub's data sets come as Parquet or as JSONL; a reader of rows need not know which.
"""

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from harness.errors import DataError, UsageError
from harness.problem import Checker, Level, Problem, Reference
from harness.python_source import UNREADABLE, parse, reason
from harness.sources.files.catalogue import Catalogued
from harness.sources.files.deferred import Parse
from harness.sources.files.download import Watch, quiet
from harness.sources.files.json_text import MOST_VALUES, has_too_many_values
from harness.sources.files.lines import (
    MAX_LINE_BYTES,
    DataFile,
    JsonLines,
    Line,
    RowFile,
    expand,
    open_regular,
)

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false


MAGIC = b"PAR1"
BATCH_ROWS = 16
MAX_GROUP_BYTES = 4 << 30
"""Largest row group, uncompressed. The largest known has 0.2 GB; this refuses a bomb."""

LEVELS: dict[str, Level] = {"easy": "easy", "medium": "medium", "hard": "hard"}
"""Words of the levels themselves."""


class ParquetRows(RowFile):
    """Rows of a Parquet file. They cannot be read again cheaply: lines have no offset."""

    def __iter__(self) -> Iterator[Line]:
        """Read the file from its start.

        Raises:
            DataError: it is broken.
        """
        import pyarrow as pa
        from pyarrow import parquet

        number = 0
        try:
            with parquet.ParquetFile(self.path) as file:
                for group in range(file.num_row_groups):
                    size = file.metadata.row_group(group).total_byte_size
                    if size > MAX_GROUP_BYTES:
                        what = f"a row group of {size} bytes is more than {MAX_GROUP_BYTES}"
                        raise DataError(self.name, None, what)
                for batch in file.iter_batches(BATCH_ROWS):
                    for row in range(batch.num_rows):
                        number += 1
                        yield self._line(batch.slice(row, 1), number)
        except (pa.ArrowException, OSError) as error:
            what = " ".join(str(error).split())
            raise DataError(f"{self.name}:{number + 1}", None, f"broken Parquet: {what}") from None
        with self.path.open("rb") as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()
        self._file = DataFile.of(self.path, self.name, digest, self.path.stat().st_size)

    def _line(self, row: Any, number: int) -> Line:
        where = f"{self.name}:{number}"
        try:
            raw = to_json(row.to_pylist()[0])
        except (ValueError, OverflowError, PydanticSerializationError) as error:
            what = " ".join(str(error).split())[:200]
            raise DataError(where, None, f"cannot be made JSON: {what}") from None
        if len(raw) > MAX_LINE_BYTES:
            raise DataError(where, None, f"longer than {MAX_LINE_BYTES} bytes")
        return Line(self.path, self.name, number, None, raw)


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


@dataclass(frozen=True, slots=True)
class Loaded:
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
        for found, where in entries:
            if isinstance(found, Problem) and found.id not in places:
                problems.append(found)
                places[found.id] = where
                continue
            if isinstance(found, Problem):
                what = f"{found.id!r} was already at {places[found.id]}"
                found = DataError(where, None, what)  # noqa: PLW2901 - what is wrong with it
            if not skip_bad_rows:
                raise found
            skipped.append(found)
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


def content_hash(*parts: str) -> str:
    """Return the SHA-256 of some strings, each preceded by its length to be unambiguous."""
    digest = hashlib.sha256()
    add_parts(digest, *(part.encode() for part in parts))
    return digest.hexdigest()


def add_parts(digest: Any, *parts: bytes) -> None:
    """Add some data to a hash, each preceded by its length to be unambiguous."""
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)


def with_checker(digest: str, checker: Checker | None) -> str:
    """Return a row's content hash, combined with its added checker, if there is one."""
    return content_hash(digest, checker.code) if checker else digest


def text_column(row: dict[str, object], name: str, where: str) -> str:
    """Return a column of text. Raises DataError."""
    if name not in row:
        raise DataError(where, name, "missing")
    if not isinstance(value := row[name], str):
        raise DataError(where, name, f"not a string but {value!r:.60}")
    return value


def valid_python(source: str, name: str, where: str) -> ast.Module:
    """Return the syntax tree of a column of Python source. Raises DataError."""
    try:
        return parse(source)
    except UNREADABLE as error:
        raise DataError(where, name, f"not valid Python: {reason(error)}") from None


def references_of(*codes: str) -> tuple[Reference, ...]:
    """Return the references of Python programs, without blank ones."""
    return tuple(Reference(code=code) for code in codes if code.strip())


def name_fault(where: str, error: ValidationError) -> DataError:
    """Return the first error of a row's model, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    message, given = first["msg"], first["input"]
    what = message[:1].lower() + message[1:]
    return DataError(
        where, field, what if isinstance(given, dict) else f"{what}, not {given!r:.60}"
    )


def check_function_test(arguments: str, result: str, where: str, field: str) -> None:
    """Raise DataError for a functional test that a grader could not read.

    The convention is LiveCodeBench's: one JSON value per line, an argument each, and one JSON value
    as the result. An empty input calls the function without arguments.

    Raises:
        DataError: a line is not a JSON value, or has too many values.
    """
    if has_too_many_values(arguments) or has_too_many_values(result):
        raise DataError(where, field, f"it has more than {MOST_VALUES:,} values")
    for number, text in enumerate(arguments.split("\n") if arguments else (), start=1):
        if not _is_json(text):
            raise DataError(where, field, f"line {number} of the input is not a JSON value")
    if not _is_json(result):
        raise DataError(where, field, "the output is not a JSON value")


def _is_json(text: str) -> bool:
    with suppress(ValueError):
        from_json(text)
        return True
    with suppress(ValueError, RecursionError):  # long integers, deeper nesting
        json.loads(text, parse_int=str)
        return True
    return False
