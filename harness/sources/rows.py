"""What every file-based source does with its rows: collect, refuse duplicates, keep count."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError
from pydantic_core import from_json

from harness.errors import DataError
from harness.problem import Level, Problem, Reference
from harness.sources.deferred import Parse, deferred
from harness.sources.reading import DataFile, Line

LEVELS: dict[str, Level] = {"easy": "easy", "medium": "medium", "hard": "hard"}
"""The words that are levels themselves."""


class RowFile(Protocol):
    """A file's rows, and what it was once they have all been read."""

    @property
    def file(self) -> DataFile: ...  # noqa: D102
    def __iter__(self) -> Iterator[Line]: ...


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


def load_rows(files: Iterable[RowFile], parse: Parse, *, skip_bad_rows: bool = False) -> Loaded:
    """Read every row of some files.

    Args:
        files: read one after the other.
        parse: makes a row's problem, or raises DataError. What it has at hand of hidden tests and
            references is let go, and read again when somebody asks for it.
        skip_bad_rows: pass over rows that are not as their schema says, and second rows of one id.
            A file that is itself broken (cut short, a line without end) stops the load all the
            same: what it lost cannot be counted.

    Raises:
        UsageError: a file cannot be opened.
        DataError: a row or file is not as it should be; for a duplicate id, both places are named.
    """
    problems: list[Problem] = []
    skipped: list[DataError] = []
    read: list[DataFile] = []
    places: dict[str, str] = {}
    for file in files:
        for line in file:
            try:
                problem = parse(line)
                _take_place(places, problem.id, line.where)
            except DataError as error:
                if not skip_bad_rows:
                    raise
                error.__context__ = None  # its traceback, as this one's, holds the whole row
                skipped.append(error.with_traceback(None))
            else:
                problems.append(deferred(problem, line, parse))
        read.append(file.file)
    return Loaded(tuple(problems), tuple(skipped), tuple(read))


def _take_place(places: dict[str, str], problem_id: str, where: str) -> None:
    if problem_id in places:
        raise DataError(where, None, f"{problem_id!r} was already at {places[problem_id]}")
    places[problem_id] = where


def content_hash(*parts: str) -> str:
    """SHA-256 of some strings, each preceded by its length so that none can pass for two."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


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
        DataError: a line is not a JSON value.
    """
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
