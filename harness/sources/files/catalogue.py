"""Catalogues: contents of large files without hidden tests and references.

Reading gigabytes to list a thousand problems should be done only once. A catalogue is stored in the
cache, a line a problem, with the place of its row in the file. It is valid as long as the file's
size and time, and the readers' code, are unchanged. Rows of a compressed or Parquet file, which
cannot be read again cheaply, are written to a file beside it.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from harness.cache import cache_folder
from harness.closing import Closing
from harness.errors import DataError
from harness.frozen import Frozen
from harness.problem import Problem, TestCase, TestSuite
from harness.sources.files.deferred import InFile, Parse, Row, deferred, from_again
from harness.sources.files.download import Watch
from harness.sources.files.lines import DataFile, JsonLines, Line, RowFile

LARGE = 4 << 20
"""Size in bytes from which files have a catalogue."""


LAZY = {"tests", "load_references", "load_rejected"}
"""Fields of a problem that are read from its row when they are needed."""


class _Head(Frozen):
    """Last line of a catalogue, which identifies its file.

    Attributes:
        sha256: hash of the file.
        lines: SHA-256 of the lines before this one.
        unpacked: size of the rows written to a separate file; 0 where there is none.
    """

    path: str
    size: int
    mtime_ns: int
    reader: str
    sha256: str = ""
    lines: str = ""
    unpacked: int = 0


Entry = tuple[Problem | DataError, str]
"""A row's problem, or its error, and where the row stands."""


class Catalogued:
    """Problems of a file, from its catalogue if there is one.

    Args:
        rows: the file.
        parse: function that makes a row's problem.
        watch: function called with the progress of the first reading of a large file.
    """

    def __init__(self, rows: RowFile, parse: Parse, watch: Watch) -> None:
        self._rows = rows
        self._parse = parse
        self._watch = watch
        self._file: DataFile | None = None

    @property
    def file(self) -> DataFile:
        """File that was read; known once the iteration has ended."""
        return self._file or self._rows.file

    def __iter__(self) -> Iterator[Entry]:
        """Yield each row's problem, which reads hidden tests and references when needed.

        Raises:
            UsageError: the file cannot be opened.
            DataError: the file as a whole is broken.
        """
        status = self._rows.path.stat() if self._rows.path.is_file() else None
        if status is None or status.st_size < LARGE:
            for line in self._rows:
                yield self._problem(line), line.where
            return
        wanted = _Head(
            path=str(self._rows.path.resolve()),
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            reader=_reader(self._parse),
        )
        kept = _place(wanted)
        catalogue = self._kept(kept, wanted)
        if catalogue is not None:
            yield from catalogue
            return
        yield from self._written(kept, wanted)

    def _problem(self, line: Line) -> Problem | DataError:
        try:
            return deferred(self._parse(line), line, self._parse)
        except DataError as error:
            return _bare(error)

    def _kept(self, path: Path, wanted: _Head) -> Iterator[Entry] | None:
        """Return the entries of a stored catalogue, if it is valid for this file."""
        try:
            data = path.read_bytes()
            entries, _, last = data[:-1].rpartition(b"\n")
            head = _Head.model_validate_json(last)
            unpacked = head.unpacked and path.with_suffix(".rows").stat().st_size
        except (OSError, ValidationError):
            return None
        lines = hashlib.sha256(entries).hexdigest()
        facts = {"sha256": head.sha256, "lines": lines, "unpacked": unpacked}
        if head != wanted.model_copy(update=facts):
            return None
        self._file = DataFile.of(self._rows.path, self._rows.name, head.sha256, head.size)
        return (
            self._entry(cast("dict[str, Any]", from_json(line)))
            for line in entries.split(b"\n")
            if line
        )

    def _entry(self, entry: dict[str, Any]) -> Entry:
        number = int(entry["number"])
        where = f"{self._rows.name}:{number}"
        if "what" in entry:
            return DataError(where, entry["field"], entry["what"]), where
        public = tuple(map(TestCase.model_validate, entry["public"]))
        problem = Problem.model_validate({**entry["problem"], "tests": TestSuite(public)})
        line = Line(Path(entry["path"]), self._rows.name, number, int(entry["offset"]), b"")
        row = Row(line, problem.id, problem.content_hash, self._parse)
        return from_again(problem, InFile(row)), where

    def _written(self, kept: Path, wanted: _Head) -> Iterator[Entry]:
        """Read the file and write its catalogue at the same time."""
        plain = self._rows if self._rows.is_plain else self._unpacked(kept.with_suffix(".rows"))
        what, size = f"reading {self._rows.name.rpartition('/')[2]}", plain.path.stat().st_size
        with _Writer(kept) as catalogue:
            for line in plain:
                problem = self._problem(line)
                catalogue.add(_text(problem, line))
                self._watch(what, line.offset or 0, size)
                yield problem, line.where
            self._watch(what, size, size)
            if plain.is_plain:
                unpacked = 0 if plain is self._rows else plain.path.stat().st_size
                facts = {
                    "sha256": self.file.sha256,
                    "lines": catalogue.digest.hexdigest(),
                    "unpacked": unpacked,
                }
                catalogue.finish(wanted.model_copy(update=facts).model_dump_json().encode())

    def _unpacked(self, path: Path) -> RowFile:
        """Write the rows to a plain file; return the original rows if that fails."""
        with _Writer(path) as rows:
            for line in self._rows:
                rows.add(line.text())
            self._file = self._rows.file
            if rows.finish():
                return JsonLines(path, name=self._rows.name)
        return self._rows


class _Writer(Closing):
    """Writes a file of lines in the cache, which appears only when it is finished.

    Errors are ignored: the cache is optional.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._file: BinaryIO | None = None
        self._begun = False
        self.digest = hashlib.sha256()  # of the lines, joined by line ends

    def __enter__(self) -> Self:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._unfinished.open("wb")
        return self

    def add(self, line: bytes) -> None:
        """Write a line."""
        self.digest.update(b"\n" + line if self._begun else line)
        self._begun = True
        if self._file is not None:
            try:
                self._file.write(line + b"\n")
            except OSError:
                self.close()

    def finish(self, line: bytes = b"") -> bool:
        """Write the last line, if any, and finish; return whether the file is kept."""
        if line:
            self.add(line)
        if self._file is not None:
            try:
                self._file.close()
                self._unfinished.replace(self._path)
            except OSError:
                self.close()
        kept, self._file = self._file is not None, None
        return kept

    def close(self) -> None:
        """Delete the file, unless it is finished."""
        file, self._file = self._file, None
        if file is None:
            return
        with suppress(OSError):
            file.close()
        with suppress(OSError):
            self._unfinished.unlink()


def _bare(error: DataError) -> DataError:
    """Return the error without its traceback, which references the whole row."""
    error.__context__ = None
    return error.with_traceback(None)


def _text(problem: Problem | DataError, line: Line) -> bytes:
    if isinstance(problem, DataError):
        fields = {"number": line.number, "field": problem.field, "what": problem.what}
        return to_json(fields)
    return to_json(
        {
            "number": line.number,
            "offset": line.offset,
            "path": str(line.path.resolve()),  # not a link, which may be deleted later
            "problem": problem.model_dump(mode="json", exclude=LAZY),
            "public": [test.model_dump() for test in problem.tests.public],
        }
    )


def _place(head: _Head) -> Path:
    """Return the path of a file's catalogue, which does not depend on the file's content."""
    key = hashlib.sha256(f"{head.path}\0{head.reader.partition(' ')[0]}".encode()).hexdigest()
    return cache_folder() / "catalogues" / f"{key[:32]}.jsonl"


def _reader(parse: Parse) -> str:
    """Identify the reader: its name, its arguments, and the hash of all readers' code."""
    inner, given = parse, ""
    while isinstance(inner, partial):
        given += repr((inner.args, inner.keywords))
        inner = cast("Parse", inner.func)
    return f"{inner.__module__}.{inner.__qualname__}{given} {_code()}".replace("\n", " ")


@cache
def _code() -> str:
    digest = hashlib.sha256()
    sources = Path(__file__).parents[1]
    own = [sources.parent / name for name in ("problem.py", "markdown.py")]
    for path in [*own, *sorted(sources.rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
