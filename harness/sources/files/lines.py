"""Data files, line by line: one pass that reads, limits and hashes at once.

All files are untrusted. A line is limited before it is kept, compression is recognised by its magic
bytes and not by the file's name, and a file that ends early is an error rather than a smaller data
set.
"""

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Self, cast

from pydantic_core import from_json

from harness.errors import DataError
from harness.frozen import Frozen
from harness.sources.files.paths import open_regular

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_LINE_BYTES = 512 * 2**20
"""Longest row. The largest rows known are a few MB; this refuses a bomb, not a data set."""

MAX_BLANK_LINES = 100_000
"""Most blank lines in a row: a small compressed file may hold nothing else for hours."""

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_BYTES = 2**20
_ROW_BUFFER_BYTES = 2**13  # to read one row; a longer one takes more reads
_BOM = b"\xef\xbb\xbf"


class DataFile(Frozen):
    """File that problems were read from, as a run records it.

    Attributes:
        path: its path in messages, as the user or the hub names it.
        name: its name in a run's record: the hub's, or a user's file without its folders.
        sha256: hash of the bytes on disk, compressed or not.
        size: size on disk in bytes.
    """

    path: str
    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: Path, name: str, sha256: str, size: int) -> Self:
        """Return the record of a file with its name in messages."""
        return cls(
            path=name, name=path.name if name == str(path) else name, sha256=sha256, size=size
        )


class Line(NamedTuple):
    """One line of a file.

    Attributes:
        path: the file.
        name: name of the file in messages.
        number: number of the line, from 1.
        offset: offset of its first byte, for `read_line_again`; None in a compressed file, which
            cannot be read again cheaply.
        raw: its bytes, including the line end.
    """

    path: Path
    name: str
    number: int
    offset: int | None
    raw: bytes

    @property
    def where(self) -> str:
        """The file and line, as named in errors."""
        return f"{self.name}:{self.number}"

    def text(self) -> bytes:
        """Return its bytes without the line end, and without a byte order mark on line 1."""
        text = self.raw.rstrip(b"\r\n")
        return text.removeprefix(_BOM) if self.number == 1 else text

    def json_object(self) -> dict[str, object]:
        """Return the JSON object on the line.

        Raises:
            DataError: it is not UTF-8, not JSON, or not an object.
        """
        try:
            value: object = from_json(self.text())
        except ValueError as error:
            raise DataError(self.where, None, _why_not_json(self.raw, error)) from None
        if not isinstance(value, dict):
            raise DataError(self.where, None, "not a JSON object")
        return cast("dict[str, object]", value)


def json_complaint(error: ValueError) -> str:
    """Return a JSON parser's message without its line number, which is not the file's."""
    return "not JSON: " + re.sub(r" at line \d+ column ", " at column ", str(error))


def _why_not_json(raw: bytes, error: ValueError) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        return f"not UTF-8: byte {bad.start} is 0x{raw[bad.start]:02x}"
    hint = "; a row must stand on one line" if "EOF" in str(error) else ""
    return json_complaint(error) + hint


class _HashingReader(io.RawIOBase):
    """Raw file that hashes and counts the bytes read through it."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        count = self._file.readinto(buffer)
        self.sha256.update(memoryview(buffer)[:count])
        self.size += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class RowFile:
    """Rows of a file, and its record once all have been read.

    Args:
        path: a regular file.
        name: its name in messages and the run's record; the path by default.
    """

    def __init__(self, path: Path, *, name: str | None = None) -> None:
        self.path = path
        self.name = str(path) if name is None else name
        self._file: DataFile | None = None

    @property
    def is_plain(self) -> bool:
        """Whether its rows can be read again by offset. Raises UsageError."""
        return False

    @property
    def file(self) -> DataFile:
        """File that was read; known once the iteration has ended."""
        if self._file is None:
            raise RuntimeError("the file has not been read to its end")
        return self._file

    def __iter__(self) -> Iterator[Line]:
        raise NotImplementedError


class JsonLines(RowFile):
    """Lines of a JSONL file, plain or gzip. Blank lines are skipped.

    Args:
        path: a regular file.
        name: its name in messages and the run's record; the path by default.
        max_line_bytes: limit of one line, including the line end.
    """

    def __init__(
        self, path: Path, *, name: str | None = None, max_line_bytes: int = MAX_LINE_BYTES
    ) -> None:
        super().__init__(path, name=name)
        self._max_line_bytes = max_line_bytes

    @property
    def is_plain(self) -> bool:
        """Whether its lines can be read again by offset. Raises UsageError."""
        with open_regular(self.path) as file:
            return file.read(len(_GZIP_MAGIC)) != _GZIP_MAGIC

    def __iter__(self) -> Iterator[Line]:
        """Read the file from its start.

        Raises:
            UsageError: the path cannot be opened as a regular file.
            DataError: a line is too long, or the compressed data is broken or ends early.
        """
        with open_regular(self.path) as source:
            hashing = _HashingReader(source)
            buffered = io.BufferedReader(hashing, _BUFFER_BYTES)
            compressed = buffered.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)] == _GZIP_MAGIC
            stream = cast("BinaryIO", gzip.GzipFile(fileobj=buffered)) if compressed else buffered
            offset = number = blank = 0
            while raw := self._next(stream, number + 1):
                number += 1
                blank = blank + 1 if raw.isspace() else 0
                if blank > MAX_BLANK_LINES:
                    what = f"more than {MAX_BLANK_LINES} blank lines"
                    raise DataError(f"{self.name}:{number}", None, what)
                if not blank:
                    at = None if compressed else offset
                    yield Line(self.path, self.name, number, at, raw)
                offset += len(raw)
            digest = hashing.sha256.hexdigest()
            self._file = DataFile.of(self.path, self.name, digest, hashing.size)

    def _next(self, stream: BinaryIO, number: int) -> bytes:
        where = f"{self.name}:{number}"
        try:
            raw = stream.readline(self._max_line_bytes + 1)
        except EOFError:
            raise DataError(where, None, "the gzip data ends early; fetch the file again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DataError(where, None, f"broken gzip data: {error}") from None
        except OSError as error:
            raise DataError(where, None, f"cannot be read: {error.strerror}") from None
        if len(raw) > self._max_line_bytes:
            raise DataError(where, None, f"longer than {self._max_line_bytes} bytes")
        return raw


def read_line_again(path: Path, offset: int, where: str) -> bytes:
    """Return the line that `JsonLines` found at an offset of an uncompressed file.

    Raises:
        DataError: the file cannot be read any more, or its line there is too long.
    """
    try:
        if not path.is_file() and path.exists():  # opening a pipe would block
            raise DataError(where, None, "cannot be read again: not a regular file")
        with path.open("rb", buffering=_ROW_BUFFER_BYTES) as file:
            file.seek(offset)
            raw = file.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise DataError(where, None, f"cannot be read again: {error.strerror}") from None
    if len(raw) > MAX_LINE_BYTES:
        raise DataError(where, None, f"longer than {MAX_LINE_BYTES} bytes")
    return raw
