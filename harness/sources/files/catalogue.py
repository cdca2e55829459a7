"""Catalogues: what a large file of rows holds but for hidden tests and references.

Reading gigabytes to list a thousand problems is worth doing once. A catalogue stands in the cache,
a line a problem, with the place of its row in the file; it is used as long as the file has the size
and time that it had, and the readers' code is what it was. Rows of a compressed or Parquet file,
to which there is no cheap way back, are written out beside it.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from harness.cache import cache_folder
from harness.errors import DataError
from harness.problem import Problem, TestCase, TestSuite
from harness.sources.files.deferred import InFile, Parse, deferred, from_again
from harness.sources.files.download import Watch
from harness.sources.files.lines import MAX_LINE_BYTES, DataFile, JsonLines, Line

LARGE = 4 << 20
"""Files from this size on have a catalogue, in bytes."""


class RowFile(Protocol):
    """A file's rows, and what it was once they have all been read."""

    @property
    def path(self) -> Path: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def is_plain(self) -> bool: ...  # noqa: D102
    @property
    def file(self) -> DataFile: ...  # noqa: D102
    def __iter__(self) -> Iterator[Line]: ...


class _Head(BaseModel):
    """The last line of a catalogue: what it is of.

    Attributes:
        sha256: of the file.
        lines: SHA-256 of the lines before this one.
        unpacked: size of the rows that are written out; 0 where there was no need to.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    size: int
    mtime_ns: int
    reader: str
    sha256: str = ""
    lines: str = ""
    unpacked: int = 0


Entry = tuple[Problem | DataError, str]
"""A row's problem, or why there is none, and where the row stands."""


class Catalogued:
    """The problems of a file, from its catalogue where there is one.

    Args:
        rows: the file.
        parse: makes a row's problem.
        watch: is told how far the first reading of a large file has come.
    """

    def __init__(self, rows: RowFile, parse: Parse, watch: Watch) -> None:
        self._rows = rows
        self._parse = parse
        self._watch = watch
        self._file: DataFile | None = None

    @property
    def file(self) -> DataFile:
        """What was read; known once the iteration has come to the end."""
        return self._file or self._rows.file

    def __iter__(self) -> Iterator[Entry]:
        """Each row's problem, its hidden tests and references left in the file.

        Raises:
            UsageError: the file cannot be opened.
            DataError: it is broken as a whole.
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
        found = self._kept(kept, wanted)
        if found is not None:
            yield from found
            return
        yield from self._written(kept, wanted)

    def _problem(self, line: Line) -> Problem | DataError:
        try:
            return deferred(self._parse(line), line, self._parse)
        except DataError as error:
            return _bare(error)

    def _kept(self, path: Path, wanted: _Head) -> Iterator[Entry] | None:
        """What a catalogue says, if it is one of this file."""
        try:
            data = path.read_bytes()
            entries, _, last = data[:-1].rpartition(b"\n")
            head = _Head.model_validate_json(last)
            unpacked = head.unpacked and path.with_suffix(".rows").stat().st_size
        except (OSError, ValidationError):
            return None
        if (head.path, head.size, head.mtime_ns, head.reader, head.unpacked) != (
            *(wanted.path, wanted.size, wanted.mtime_ns, wanted.reader),
            unpacked,
        ):
            return None
        if hashlib.sha256(entries).hexdigest() != head.lines:
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
        again = InFile(
            path=Path(entry["path"]),
            name=self._rows.name,
            number=number,
            offset=int(entry["offset"]),
            problem_id=problem.id,
            content_hash=problem.content_hash,
            parse=self._parse,
        )
        return from_again(problem, again), where

    def _written(self, kept: Path, wanted: _Head) -> Iterator[Entry]:
        """Read the file and write its catalogue meanwhile."""
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
        """The rows written out; as they are, where there is no room for that."""
        with _Writer(path) as rows:
            for line in self._rows:
                rows.add(line.text())
            self._file = self._rows.file
            if rows.finish():
                return JsonLines(path, name=self._rows.name, max_line_bytes=MAX_LINE_BYTES)
        return self._rows


class _Writer:
    """A file of lines in the cache that is there when it is finished, and only then.

    Where it cannot be written it comes to nothing, silently: a cache is a convenience.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._file: BinaryIO | None = None
        self._begun = False
        self.digest = hashlib.sha256()  # of the lines, as they are joined

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
                self._give_up()

    def finish(self, line: bytes = b"") -> bool:
        """Write the last line, if there is any, and say that it was; returns whether it is kept."""
        if line:
            self.add(line)
        if self._file is not None:
            try:
                self._file.close()
                self._unfinished.replace(self._path)
            except OSError:
                self._give_up()
        kept, self._file = self._file is not None, None
        return kept

    def _give_up(self) -> None:
        file, self._file = self._file, None
        with suppress(OSError):
            if file is not None:
                file.close()
        with suppress(OSError):
            self._unfinished.unlink()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._give_up()


def _bare(error: DataError) -> DataError:
    """The error without its traceback, which holds the whole row."""
    error.__context__ = None
    return error.with_traceback(None)


def _text(problem: Problem | DataError, line: Line) -> bytes:
    if isinstance(problem, DataError):
        said = {"number": line.number, "field": problem.field, "what": problem.what}
        return to_json(said)
    return to_json(
        {
            "number": line.number,
            "offset": line.offset,
            "path": str(line.path.resolve()),  # not a link, which may be gone tomorrow
            "problem": problem.model_dump(mode="json", exclude={"tests", "load_references"}),
            "public": [test.model_dump() for test in problem.tests.public],
        }
    )


def _place(head: _Head) -> Path:
    """Where a file's catalogue is, whatever became of the file since."""
    key = hashlib.sha256(f"{head.path}\0{head.reader.partition(' ')[0]}".encode()).hexdigest()
    return cache_folder() / "catalogues" / f"{key[:32]}.jsonl"


def _reader(parse: Parse) -> str:
    """What reads the rows: its name, what it was given, and the hash of all readers' code."""
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
