"""An `.eval` file of Inspect's, open for reading.

It is a zip archive: `header.json`, and each sample in `samples/`, each read with a bound on its
size. Members are compressed with zlib; newer versions use Zstandard, which Python's `zipfile`
cannot read before 3.14 and `pyarrow` can.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from harness.errors import DataError
from harness.features.grade.solution_readers import parsed
from harness.features.import_.fields import Fields
from harness.sources.files.paths import open_regular

LARGEST_DIRECTORY = 64 << 20
"""Most bytes of the archive's list of members."""

LARGEST_MEMBER = 64 << 20
"""Most bytes of a member, after inflation."""

ZSTANDARD = 93
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_LONGEST_COMMENT = 1 << 16
_LOCAL_HEADER = 30


class EvalArchive:
    """An `.eval` file, open for reading.

    Raises:
        UsageError: the file cannot be opened.
        DataError: the file is not a zip archive, or its list of members is too long.
    """

    def __init__(self, path: Path) -> None:
        self._name = str(path)
        self._file = cast("BinaryIO", io.BufferedReader(open_regular(path)))
        try:
            self._check_directory()
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            self._file.close()
            raise DataError(self._name, None, f"not a zip archive: {error}") from None
        except DataError:
            self._file.close()
            raise

    def samples(self) -> Iterator[Fields]:
        """Yield each sample with the `eval` of the log's header. Raises DataError."""
        evaluation = self._header().inner("eval").values
        for info in self._zip.infolist():
            if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                sample = self._object(info)
                yield Fields({**sample.values, "eval": evaluation}, sample.where)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def _header(self) -> Fields:
        names = set(self._zip.namelist())
        for name in ("header.json", "_journal/start.json"):  # the latter while a log is written
            if name in names:
                return self._object(self._zip.getinfo(name))
        raise DataError(self._name, None, "no header.json in it: not a log of Inspect")

    def _object(self, info: zipfile.ZipInfo) -> Fields:
        where = f"{self._name}: {info.filename}"
        return Fields.of(parsed(self._read(info, where), where), where)

    def _read(self, info: zipfile.ZipInfo, where: str) -> bytes:
        too_long = DataError(where, None, f"longer than {LARGEST_MEMBER:,} bytes")
        if max(info.file_size, info.compress_size) > LARGEST_MEMBER:
            raise too_long
        try:
            with self._open(info) as member:
                content = member.read(LARGEST_MEMBER + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError) as error:
            raise DataError(where, None, f"cannot be read: {error}") from None
        if len(content) > LARGEST_MEMBER:
            raise too_long
        return content

    def _open(self, info: zipfile.ZipInfo) -> BinaryIO:
        if info.compress_type != ZSTANDARD:
            with suppress(NotImplementedError):
                return cast("BinaryIO", self._zip.open(info))
            raise OSError(f"compression method {info.compress_type} is not known")
        import pyarrow as pa

        self._file.seek(info.header_offset)
        head = self._file.read(_LOCAL_HEADER)
        if len(head) < _LOCAL_HEADER:
            raise EOFError("the archive ends early")
        name, extra = struct.unpack("<HH", head[26:])
        self._file.seek(name + extra, os.SEEK_CUR)
        data = io.BytesIO(self._file.read(info.compress_size))
        return cast("BinaryIO", pa.input_stream(data, compression="zstd"))

    def _check_directory(self) -> None:
        """Refuse a list of members too long for memory. Raises DataError, OSError."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, size - _LONGEST_COMMENT - 98))
        tail = self._file.read()
        end = tail.rfind(_END)
        if end < 0 or len(tail) < end + 22:
            raise zipfile.BadZipFile("it has no list of members")
        (length,) = struct.unpack("<I", tail[end + 12 : end + 16])
        record = end - 76  # a record of 56 bytes, then a locator of 20
        if record >= 0 and tail[record : record + 4] == _END64:
            (length,) = struct.unpack("<Q", tail[record + 40 : record + 48])
        if length > LARGEST_DIRECTORY:
            what = f"a list of members of {length:,} bytes; at most {LARGEST_DIRECTORY:,} are read"
            raise DataError(self._name, None, what)
        self._file.seek(0)
