"""Data files, line by line: one pass that reads, bounds and hashes at once.

Everything here is hostile until proved otherwise. A line is bounded before it is held, compression
is recognised by its magic bytes and not by the file's name, and a file that ends early is an error
rather than a smaller data set.
"""

import gzip
import hashlib
import io
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from harness.errors import DataError, UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_LINE_BYTES = 512 * 2**20
"""A row's bound. The largest rows known are a few MB; this refuses a bomb, not a data set."""

MAX_BLANK_LINES = 100_000
"""In a row: a small compressed file may hold nothing else for hours."""

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_BYTES = 2**20
_BOM = b"\xef\xbb\xbf"


class DataFile(BaseModel):
    """A file that problems were read from, as a run records it.

    Attributes:
        path: as messages name it: as the user did, or as the hub does.
        name: as a run records it: what the hub calls it, or a user's file without its folders.
        sha256: of the bytes on disk, compressed or not.
        size: of the same, in bytes.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: Path, name: str, sha256: str, size: int) -> Self:
        """A file, and how messages name it."""
        return cls(
            path=name, name=path.name if name == str(path) else name, sha256=sha256, size=size
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        path: the file.
        name: the file as messages name it.
        number: from 1.
        offset: of its first byte, for `read_line_again`; None in a compressed file, where there is
            no cheap way back.
        raw: its bytes, line end included.
    """

    path: Path
    name: str
    number: int
    offset: int | None
    raw: bytes

    @property
    def where(self) -> str:
        """The file and line, as an error names them."""
        return f"{self.name}:{self.number}"

    def text(self) -> bytes:
        """Its bytes without the line end, nor the mark that some editors put before line 1."""
        text = self.raw.rstrip(b"\r\n")
        return text.removeprefix(_BOM) if self.number == 1 else text

    def json_object(self) -> dict[str, object]:
        """The JSON object it holds.

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
    """What a JSON parser said, without its line number, which would be taken for the file's."""
    return "not JSON: " + re.sub(r" at line \d+ column ", " at column ", str(error))


def _why_not_json(raw: bytes, error: ValueError) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        return f"not UTF-8: byte {bad.start} is 0x{raw[bad.start]:02x}"
    hint = "; a row must stand on one line" if "EOF" in str(error) else ""
    return json_complaint(error) + hint


class _HashingReader(io.RawIOBase):
    """A raw file that hashes and counts what is read through it."""

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


class JsonLines:
    """The lines of a JSONL file, plain or gzip. Blank lines are passed over.

    Args:
        path: a regular file.
        name: how messages and the run's record call it; the path when not given.
        max_line_bytes: bound on one line, line end included.
    """

    def __init__(
        self, path: Path, *, name: str | None = None, max_line_bytes: int = MAX_LINE_BYTES
    ) -> None:
        self.path = path
        self.name = str(path) if name is None else name
        self._max_line_bytes = max_line_bytes
        self._file: DataFile | None = None

    @property
    def is_plain(self) -> bool:
        """Whether its lines can be read again where they stand. Raises UsageError."""
        with open_regular(self.path) as file:
            return file.read(len(_GZIP_MAGIC)) != _GZIP_MAGIC

    @property
    def file(self) -> DataFile:
        """What was read; known once the iteration has come to the end."""
        if self._file is None:
            raise RuntimeError("the file has not been read to its end")
        return self._file

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
    """The line that `JsonLines` found at an offset of an uncompressed file.

    Raises:
        DataError: the file cannot be read any more, or its line there is too long.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise DataError(where, None, "cannot be read again: not a regular file")
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            file.seek(offset)
            raw = file.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise DataError(where, None, f"cannot be read again: {error.strerror}") from None
    if len(raw) > MAX_LINE_BYTES:
        raise DataError(where, None, f"longer than {MAX_LINE_BYTES} bytes")
    return raw


def expand(where: str) -> list[Path]:
    """The files that a path or a glob (`**` for any depth) names, sorted.

    A file whose own name has glob characters is meant before what the glob would match.

    Raises:
        UsageError: nothing is there.
    """
    path = Path(where).expanduser()
    try:
        if path.exists() or not has_magic(where):
            return [path]
        found = sorted(
            file
            for match in glob(str(path), recursive=True)  # noqa: PTH207 - takes absolute patterns
            if (file := Path(match)).is_file()
        )
    except (OSError, ValueError) as error:  # a name too long, or one with a null character
        raise UsageError(f"{where!r} cannot be a path: {error}") from None
    if not found:
        raise UsageError(f"no file matches {where!r}")
    return found


def open_regular(path: Path) -> io.FileIO:
    """Open a file for reading.

    Raises:
        UsageError: the path cannot be opened as a regular file.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path} is a directory; name its files, as '{path}/*.jsonl'")
        if not stat.S_ISREG(mode):
            # A pipe could not be read a second time, and opening one may wait for ever.
            raise UsageError(f"{path} is not a regular file")
        return io.FileIO(path)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be opened: {cause}") from None
