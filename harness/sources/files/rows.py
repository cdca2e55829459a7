"""What every file-based source does with its rows: collect, refuse duplicates, keep count."""

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
"""The words that are levels themselves."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a source holds.

    Attributes:
        problems: in the data's order; their ids are unique.
        skipped: why each bad row was passed over; empty unless the caller asked to skip them.
        files: what was read, as the run's record names it.
    """

    problems: tuple[Problem, ...]
    skipped: tuple[DataError, ...] = ()
    files: tuple[DataFile, ...] = ()


def load_rows(
    files: Iterable[RowFile], parse: Parse, *, skip_bad_rows: bool = False, watch: Watch = quiet
) -> Loaded:
    """Read every row of some files.

    Args:
        files: read one after the other.
        parse: makes a row's problem, or raises DataError. What it has at hand of hidden tests and
            references is let go, and read again when somebody asks for it.
        skip_bad_rows: pass over rows that are not as their schema says, and second rows of one id.
            A file that is itself broken (cut short, a line without end) stops the load all the
            same: what it lost cannot be counted.
        watch: is told how far a large file has come.

    Raises:
        UsageError: a file cannot be opened.
        DataError: a row or file is not as it should be; for a duplicate id, both places are named.
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
    """A source's reader of files of rows; `load_rows` says what its arguments are."""

    def __call__(
        self, files: Iterable[RowFile], *, skip_bad_rows: bool = False, watch: Watch = quiet
    ) -> Loaded:
        """Read; raise DataError for what is in them."""
        ...


def load_paths(
    name: str,
    where: str | None,
    read: ReadRows,
    *,
    skip_bad_rows: bool = False,
    watch: Watch = quiet,
) -> Loaded:
    """The problems of the files that a path or glob names: JSONL, gzipped or not, or Parquet.

    Args:
        name: the source's.
        where: the path.
        read: the source's reader.
        skip_bad_rows: as `load_rows` has it, and so the last.
        watch: is told how far a large file has come.

    Raises:
        UsageError: no file is given, none is there, or one cannot be opened.
        DataError: a row or file is not as it should be.
    """
    if where is None:
        raise UsageError(f"{name} needs a file: give {name}:PATH")
    return read(map(open_rows, expand(where)), skip_bad_rows=skip_bad_rows, watch=watch)


def _second(places: Mapping[str, str], problem_id: str, where: str) -> DataError | None:
    """What is wrong with a row whose problem was there already."""
    if problem_id not in places:
        return None
    return DataError(where, None, f"{problem_id!r} was already at {places[problem_id]}")


def content_hash(*parts: str) -> str:
    """SHA-256 of some strings, each preceded by its length so that none can pass for two."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def with_checker(digest: str, checker: Checker | None) -> str:
    """A row's content hash, which covers the checker that is added to the row, if there is one."""
    return content_hash(digest, checker.code) if checker else digest


def references_of(*codes: str) -> tuple[Reference, ...]:
    """Known-good programs in Python, those of them that are not blank."""
    return tuple(Reference(code=code) for code in codes if code.strip())


def name_fault(where: str, error: ValidationError) -> DataError:
    """What a row's model complains of first, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    message, given = first["msg"], first["input"]
    what = message[:1].lower() + message[1:]
    return DataError(
        where, field, what if isinstance(given, dict) else f"{what}, not {given!r:.60}"
    )


def check_function_test(arguments: str, result: str, where: str, field: str) -> None:
    """Refuse a functional test that a grader could not read.

    The convention is LiveCodeBench's: one JSON value per line, an argument each, and one JSON value
    as the result. An empty input calls the function without arguments.

    Raises:
        DataError: a line is not a JSON value, or has more values than anybody means to hand over.
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
    """Whether Python's own parser takes it: integers of any length, deeper nesting."""
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
