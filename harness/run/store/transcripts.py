"""The transcripts of a run, in separate files or together in a pack.

A pack is one file:

    MAGIC
    dictionary      zlib; what the transcripts have in common
    transcripts     one zlib stream each, with that dictionary, in the order of the index
    index           zlib; JSON: [[name, bytes in the pack, bytes of the transcript], …]
    tail            two numbers of eight bytes: the length of the dictionary, and of the index

The start of a transcript follows from the lengths before it, so that transcripts cannot overlap.
It is not gzip, because gzip members cannot have a dictionary, and are twice as large without.
"""

import io
import os
import struct
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from harness.agent.events import Event
from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.run.store.files import open_file
from harness.run.store.transcript import EVENT, SharedParts, events_in

FOLDER, PACK = "transcripts", "transcripts.pack"
MAGIC = b"harness transcripts, packed, 1\n"
TAIL = struct.Struct(">QQ")
LARGEST_DICTIONARY = 32_768
"""Bytes; window size of zlib."""
LARGEST_INDEX = 16 * 1024 * 1024
"""Uncompressed bytes: about 300,000 transcripts."""
LARGEST_TRANSCRIPT = 64 * 1024 * 1024
"""Uncompressed bytes. Larger transcripts are not packed."""
LONGEST_NAME = 255
LONGEST_LAST = 65_536
"""Bytes read from the end of a transcript to find its last event."""

_Length = Annotated[int, Field(ge=0)]
_INDEX: TypeAdapter[list[tuple[str, _Length, _Length]]] = TypeAdapter(
    list[tuple[str, _Length, _Length]]
)


class TranscriptPlace(NamedTuple):
    """Position of a transcript in a pack, and its packed and unpacked size in bytes."""

    start: int
    packed: int
    size: int


class Pack(Closing):
    """A pack, open for reading.

    Attributes:
        places: positions by transcript name.

    Raises:
        FileNotFoundError: it does not exist.
        RunDirectoryError: it cannot be read, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = open_file(path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise RunDirectoryError(f"{path}: {error.strerror}") from error
        try:
            self._dictionary, self.places = self._head()
        except BaseException:
            self.close()
            raise

    def read(self, name: str) -> bytes:
        """Return the exact bytes of a transcript's file.

        Raises:
            KeyError: it is not in the pack.
            RunDirectoryError: it is damaged.
        """
        place = self.places[name]
        return self._inflated(name, place, self._dictionary)

    def is_at(self, stat: os.stat_result) -> bool:
        """Whether this is the pack of a stat result, and not one it was replaced with."""
        return os.path.samestat(os.fstat(self._file.fileno()), stat)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _head(self) -> tuple[bytes, dict[str, TranscriptPlace]]:
        end = os.fstat(self._file.fileno()).st_size - TAIL.size
        if end < len(MAGIC) or self._bytes(0, len(MAGIC)) != MAGIC:
            raise self._damaged("its beginning is not a pack's")
        for_dictionary, for_index = TAIL.unpack(self._bytes(end, TAIL.size))
        first, last = len(MAGIC) + for_dictionary, end - for_index
        if first > last:
            raise self._damaged("its lengths do not fit together")
        dictionary = self._inflated(
            "the dictionary",
            TranscriptPlace(len(MAGIC), for_dictionary, LARGEST_DICTIONARY),
            exact=False,
        )
        index = self._inflated(
            "the index", TranscriptPlace(last, for_index, LARGEST_INDEX), exact=False
        )
        try:
            entries = _INDEX.validate_json(index, strict=True)
        except ValidationError as error:
            raise self._damaged(f"its index: {error.errors()[0]['msg']}") from error
        places: dict[str, TranscriptPlace] = {}
        for name, packed, size in entries:
            if not _is_file_name(name) or name in places or size > LARGEST_TRANSCRIPT:
                raise self._damaged(f"its index: no place for {name[:LONGEST_NAME]!r}")
            places[name] = TranscriptPlace(first, packed, size)
            first += packed
        if first != last:
            raise self._damaged("the lengths in its index do not fit together")
        return dictionary, places

    def _inflated(
        self, name: str, place: TranscriptPlace, dictionary: bytes = b"", *, exact: bool = True
    ) -> bytes:
        """Decompress the data at a position, up to its stated size."""
        # zlib output never exceeds this; a sparse file's hole may.
        if place.packed > place.size + place.size // 1_000 + 64:
            raise self._damaged(f"{name} takes more than it can")
        inflater = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
        try:
            content = inflater.decompress(self._bytes(place.start, place.packed), place.size + 1)
        except zlib.error as error:
            raise self._damaged(f"{name}: {error}") from error
        whole = inflater.eof and not inflater.unused_data
        if not whole or (len(content) != place.size if exact else len(content) > place.size):
            raise self._damaged(f"{name} is not as long as was said")
        return content

    def _bytes(self, start: int, length: int) -> bytes:
        try:
            content = os.pread(self._file.fileno(), length, start)
        except OSError as error:
            raise RunDirectoryError(f"{self.path}: {error.strerror}") from error
        if len(content) < length:
            raise self._damaged("it is cut off")
        return content

    def _damaged(self, why: str) -> RunDirectoryError:
        return RunDirectoryError(
            f"{self.path} is damaged ({why}); put a copy of it back, or move it away: "
            "the results do not need it"
        )


def open_pack(run: Path) -> Pack | None:
    """Open the pack of a run; None without one. Raises RunDirectoryError."""
    try:
        return Pack(run / PACK)
    except FileNotFoundError:
        return None


class Transcripts(Closing):
    """All transcripts of a run by file name; unpacked files take precedence.

    May be used while another process packs or unpacks them.

    Args:
        run: the run directory.
    """

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER
        self._path = run / PACK
        self._pack: Pack | None = None
        self._run = run

    @cached_property
    def shared(self) -> SharedParts:
        """What the run's transcripts share."""
        return SharedParts.of(self._run)

    def names(self) -> list[str]:
        """Return the sorted names of all transcripts.

        Raises:
            RunDirectoryError: the pack is damaged.
        """
        # Files are listed twice, since some may be unpacked meanwhile.
        return sorted({*self._loose(), *self._packed(), *self._loose()})

    def exists(self, name: str) -> bool:
        """Whether a transcript of that name exists.

        Raises:
            RunDirectoryError: the pack is damaged.
        """
        path = (
            f"{self._folder}/{name}"  # asked of thousands: a `Path` each takes three times as long
        )
        return os.path.isfile(path) or name in self._packed() or os.path.isfile(path)  # noqa: PTH113

    def events(self, name: str) -> Iterator[Event]:
        """Yield the events of a transcript; a truncated last line is left out.

        Raises:
            RunDirectoryError: it does not exist, cannot be read, or no line is an event.
        """
        with self._open(name) as file:
            yield from events_in(file, self._folder / name, self.shared)

    def read(self, name: str) -> bytes:
        """Return the bytes of a transcript.

        Raises:
            RunDirectoryError: it does not exist, or cannot be read.
        """
        with self._open(name) as file:
            return file.read()

    def last_event(self, name: str) -> Event | None:
        """Return the last event of a transcript, read from its end; None if damaged.

        Raises:
            RunDirectoryError: it does not exist, or cannot be read.
        """
        with self._open(name) as file:
            try:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_LAST))
                tail = file.read(LONGEST_LAST)
            except OSError as error:
                raise RunDirectoryError(f"{name}: {error.strerror}") from error
        whole = tail[: tail.rfind(b"\n") + 1]
        last = whole[whole.rfind(b"\n", 0, -1) + 1 :]
        try:
            return EVENT.validate_json(self.shared.put_back(last))
        except ValidationError:
            return None

    def close(self) -> None:
        """Close the pack."""
        if self._pack is not None:
            self._pack.close()
            self._pack = None

    def _open(self, name: str) -> BinaryIO:
        path = self._folder / name
        for _ in range(2):  # retried, as it may have been unpacked meanwhile
            try:
                return open_file(path)
            except FileNotFoundError:
                if name in self._packed() and self._pack is not None:
                    return io.BytesIO(self._pack.read(name))
            except OSError as error:
                raise RunDirectoryError(f"{path}: {error.strerror}") from error
        raise RunDirectoryError(f"{path}: there is no such transcript")

    def _loose(self) -> list[str]:
        return [path.name for path in self._folder.glob("*.jsonl")]

    def _packed(self) -> dict[str, TranscriptPlace]:
        """Return the current contents of the pack."""
        try:
            now = self._path.stat()
            if self._pack is None or not self._pack.is_at(now):
                pack = Pack(self._path)
                self.close()
                self._pack = pack
        except FileNotFoundError:
            self.close()
        except OSError as error:
            raise RunDirectoryError(f"{self._path}: {error.strerror}") from error
        return self._pack.places if self._pack else {}


def _is_file_name(name: str) -> bool:
    """Whether a name is that of a transcript and stays in the folder."""
    plain = name.isascii() and name.isprintable() and "/" not in name
    return plain and name.endswith(".jsonl") and len(name) <= LONGEST_NAME
