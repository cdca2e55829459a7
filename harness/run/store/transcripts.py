"""The transcripts of a run, wherever they are: each in a file of its own, or together in a pack.

A pack is one file:

    MAGIC
    dictionary      zlib; what the transcripts have in common
    transcripts     one zlib stream each, with that dictionary, in the order of the index
    index           zlib; JSON: [[name, bytes in the pack, bytes of the transcript], …]
    tail            two numbers of eight bytes: the length of the dictionary, and of the index

Where a transcript begins follows from the lengths before it, so that none can lie over another.
It is not gzip: a member of a gzip file can have no dictionary, and is twice as large without.
"""

import io
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from harness.agent.events import Event
from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.run.store.files import open_file
from harness.run.store.transcript import EVENT, events_in

FOLDER, PACK = "transcripts", "transcripts.pack"
MAGIC = b"harness transcripts, packed, 1\n"
TAIL = struct.Struct(">QQ")
LARGEST_DICTIONARY = 32_768
"""Bytes; the window of zlib."""
LARGEST_INDEX = 16 * 1024 * 1024
"""Bytes inflated: about 300,000 transcripts."""
LARGEST_TRANSCRIPT = 64 * 1024 * 1024
"""Bytes inflated. A larger one is not packed."""
LONGEST_NAME = 255
LONGEST_LAST = 65_536
"""Bytes read from the end of a transcript for its last event."""

_Length = Annotated[int, Field(ge=0)]
_INDEX: TypeAdapter[list[tuple[str, _Length, _Length]]] = TypeAdapter(
    list[tuple[str, _Length, _Length]]
)


class Place(NamedTuple):
    """Where a transcript is in a pack, and how long it is there and by itself, in bytes."""

    start: int
    packed: int
    size: int


class Pack(Closing):
    """A pack, open for reading.

    Attributes:
        places: by the name of the transcript's file.

    Raises:
        FileNotFoundError: there is none.
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
        """A transcript, byte for byte as its file was.

        Raises:
            KeyError: it is not in the pack.
            RunDirectoryError: it is damaged.
        """
        place = self.places[name]
        return self._inflated(name, place, self._dictionary)

    def is_at(self, found: os.stat_result) -> bool:
        """Whether it is that file, and not one that has been put in its place."""
        return os.path.samestat(os.fstat(self._file.fileno()), found)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _head(self) -> tuple[bytes, dict[str, Place]]:
        end = os.fstat(self._file.fileno()).st_size - TAIL.size
        if end < len(MAGIC) or self._bytes(0, len(MAGIC)) != MAGIC:
            raise self._damaged("its beginning is not a pack's")
        for_dictionary, for_index = TAIL.unpack(self._bytes(end, TAIL.size))
        first, last = len(MAGIC) + for_dictionary, end - for_index
        if first > last:
            raise self._damaged("its lengths do not fit together")
        dictionary = self._inflated(
            "the dictionary", Place(len(MAGIC), for_dictionary, LARGEST_DICTIONARY), exact=False
        )
        index = self._inflated("the index", Place(last, for_index, LARGEST_INDEX), exact=False)
        try:
            entries = _INDEX.validate_json(index, strict=True)
        except ValidationError as error:
            raise self._damaged(f"its index: {error.errors()[0]['msg']}") from error
        places: dict[str, Place] = {}
        for name, packed, size in entries:
            if not _is_file_name(name) or name in places or size > LARGEST_TRANSCRIPT:
                raise self._damaged(f"its index: no place for {name[:LONGEST_NAME]!r}")
            places[name] = Place(first, packed, size)
            first += packed
        if first != last:
            raise self._damaged("the lengths in its index do not fit together")
        return dictionary, places

    def _inflated(
        self, name: str, place: Place, dictionary: bytes = b"", *, exact: bool = True
    ) -> bytes:
        """What stands at a place, at most so much of it as was said."""
        # Nothing that zlib has made is longer than this; a hole in the file may be.
        if place.packed > place.size + place.size // 1_000 + 64:
            raise self._damaged(f"{name} takes more than it can")
        inflater = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
        try:
            found = inflater.decompress(self._bytes(place.start, place.packed), place.size + 1)
        except zlib.error as error:
            raise self._damaged(f"{name}: {error}") from error
        whole = inflater.eof and not inflater.unused_data
        if not whole or (len(found) != place.size if exact else len(found) > place.size):
            raise self._damaged(f"{name} is not as long as was said")
        return found

    def _bytes(self, start: int, length: int) -> bytes:
        try:
            found = os.pread(self._file.fileno(), length, start)
        except OSError as error:
            raise RunDirectoryError(f"{self.path}: {error.strerror}") from error
        if len(found) < length:
            raise self._damaged("it is cut off")
        return found

    def _damaged(self, why: str) -> RunDirectoryError:
        return RunDirectoryError(
            f"{self.path} is damaged ({why}); put a copy of it back, or move it away: "
            "the results do not need it"
        )


def open_pack(run: Path) -> Pack | None:
    """The pack of a run, if it has one. Raises RunDirectoryError as `Pack` does."""
    try:
        return Pack(run / PACK)
    except FileNotFoundError:
        return None


class Transcripts(Closing):
    """All transcripts of a run, by the names of their files; what lies loose wins.

    May be used while another process packs or unpacks them.

    Args:
        run: its directory.
    """

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER
        self._path = run / PACK
        self._pack: Pack | None = None

    def names(self) -> list[str]:
        """The names of all of them, in order.

        Raises:
            RunDirectoryError: the pack is damaged.
        """
        # They are looked for twice, as they may be on their way out of the pack.
        return sorted({*self._loose(), *self._packed(), *self._loose()})

    def exists(self, name: str) -> bool:
        """Whether there is one of that name.

        Raises:
            RunDirectoryError: the pack is damaged.
        """
        path = (
            f"{self._folder}/{name}"  # asked of thousands: a `Path` each takes three times as long
        )
        return os.path.isfile(path) or name in self._packed() or os.path.isfile(path)  # noqa: PTH113

    def events(self, name: str) -> Iterator[Event]:
        """The events of one; a torn last line, which a crash leaves, is not one.

        Raises:
            RunDirectoryError: there is none of that name, it cannot be read, or a line of it is
                not an event.
        """
        with self._open(name) as file:
            yield from events_in(file, self._folder / name)

    def read(self, name: str) -> bytes:
        """One, byte for byte.

        Raises:
            RunDirectoryError: there is none of that name, or it cannot be read.
        """
        with self._open(name) as file:
            return file.read()

    def last_event(self, name: str) -> Event | None:
        """Return the last event of a transcript, read from its end; None where it is damaged.

        Raises:
            RunDirectoryError: there is none of that name, or it cannot be read.
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
            return EVENT.validate_json(last)
        except ValidationError:
            return None

    def close(self) -> None:
        """Let go of the pack."""
        if self._pack is not None:
            self._pack.close()
            self._pack = None

    def _open(self, name: str) -> BinaryIO:
        path = self._folder / name
        for _ in range(2):  # again, as it may have come out of the pack meanwhile
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

    def _packed(self) -> dict[str, Place]:
        """What is in the pack as it is now."""
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
    """Whether it is a transcript's name, and leads out of no folder."""
    plain = name.isascii() and name.isprintable() and "/" not in name
    return plain and name.endswith(".jsonl") and len(name) <= LONGEST_NAME
