"""Functions for all sources of rows: loading, duplicates, content hashes and checks."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError
from pydantic_core import from_json

from harness.errors import DataError, UsageError
from harness.problem import Checker, Level, Problem, Reference
from harness.sources.files.catalogue import Catalogued, RowFile
from harness.sources.files.deferred import Parse
from harness.sources.files.download import Watch, quiet
from harness.sources.files.json_text import MOST_VALUES, has_too_many_values
from harness.sources.files.lines import DataFile, expand
from harness.sources.files.parquet import open_rows

LEVELS: dict[str, Level] = {"easy": "easy", "medium": "medium", "hard": "hard"}
"""Words of the levels themselves."""


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
            fault = found if isinstance(found, DataError) else _second(places, found.id, where)
            if isinstance(found, Problem) and fault is None:
                problems.append(found)
                places[found.id] = where
            elif fault is not None and skip_bad_rows:
                skipped.append(fault)
            elif fault is not None:
                raise fault
        read.append(entries.file)
    return Loaded(tuple(problems), tuple(skipped), tuple(read))


class ReadRows(Protocol):
    """A source's reader of files of rows; see `load_rows` for the arguments."""

    def __call__(
        self, files: Iterable[RowFile], *, skip_bad_rows: bool = False, watch: Watch = quiet
    ) -> Loaded:
        """Read; raise DataError for invalid content."""
        ...


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
        raise UsageError(f"{name} needs a file: give {name}:PATH")
    return read(map(open_rows, expand(where)), skip_bad_rows=skip_bad_rows, watch=watch)


def _second(places: Mapping[str, str], problem_id: str, where: str) -> DataError | None:
    """Return the error of a row whose problem id was already used."""
    if problem_id not in places:
        return None
    return DataError(where, None, f"{problem_id!r} was already at {places[problem_id]}")


def content_hash(*parts: str) -> str:
    """Return the SHA-256 of some strings, each preceded by its length to be unambiguous."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def with_checker(digest: str, checker: Checker | None) -> str:
    """Return a row's content hash, combined with its added checker, if there is one."""
    return content_hash(digest, checker.code) if checker else digest


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
    try:
        from_json(text)
    except ValueError:
        return _is_json_to_python(text)
    return True


def _is_json_to_python(text: str) -> bool:
    """Return whether Python's own parser accepts it: long integers, deeper nesting."""
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
