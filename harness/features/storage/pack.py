"""`harness pack`: pack a run's transcripts into one file, and unpack them.

A transcript is removed from its old place only when it is complete and on disk in its new place;
until then it may be in both, with the same content. A process that is killed loses nothing, and
running it again continues where it ended.
"""

import fcntl
import os
import zlib
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic_core import to_json

from harness.cli.settings_flags import RunArgument
from harness.errors import RunDirectoryError, StorageError
from harness.figures import count
from harness.run.store.directory import RESULTS, read_manifest
from harness.run.store.files import open_file, read_file
from harness.run.store.results import ResultsFile, read_results
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import (
    FOLDER,
    LARGEST_DICTIONARY,
    LARGEST_INDEX,
    LARGEST_TRANSCRIPT,
    MAGIC,
    PACK,
    TAIL,
    Pack,
    open_pack,
)
from harness.terminal.consoles import console
from harness.text import printable_line

DRAFT = f".{PACK}.draft"
LOOSE_DRAFT = ".draft"
EXAMPLES = 8
"""Transcripts of which the dictionary is made, as far as they fit."""
LONGEST_EXAMPLE = LARGEST_DICTIONARY // 3
"""Most bytes of an example: two whole transcripts save more than one that is cut."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Result of packing.

    Attributes:
        added: transcripts that were not in the pack before.
        held: all transcripts in the pack.
        size, packed: bytes of these as files, and in the pack.
        left: transcripts left unpacked: very large ones, and those of samples without a result,
            which
            may continue.
    """

    added: int
    held: int
    size: int
    packed: int
    left: int


def pack_command(
    run: RunArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Make them files again.")] = False,
) -> None:
    """Put the transcripts of a run into one file, about a sixth of their size.

    They can be shown and played again as before. Those of samples that have no result yet stay as
    they are, and the run can be resumed.
    """
    line = unpacked_line(run, unpack(run)) if undo else packed_line(run, pack(run))
    console().print(line, soft_wrap=True)


def packed_line(run: Path, done: Packed) -> str:
    """Say how many transcripts were packed, the bytes saved, and how many were not."""
    name = printable_line(str(run))
    rest = f"; {count(done.left, 'transcript')} left out, not graded or very large"
    rest = rest if done.left else ""
    if not done.held:
        return f"{name}: nothing to pack{rest}"
    if not done.added:
        return f"{name}: nothing more to pack{rest}"
    return (
        f"{name}: {count(done.added, 'transcript')} packed; {done.held:,} together take "
        f"{done.packed:,} bytes instead of {done.size:,}{rest}"
    )


def unpacked_line(run: Path, files: int) -> str:
    """Say how many transcripts were unpacked."""
    return f"{printable_line(str(run))}: {count(files, 'transcript')} unpacked"


def pack(run: Path) -> Packed:
    """Pack the transcripts of all samples with a result into one file.

    Raises:
        RunDirectoryError: the directory is not a run, another process uses it, or its pack is
            damaged.
        StorageError: the disk refused to write; every transcript is where it was.
    """
    read_manifest(run)
    with closing(ResultsFile(run / RESULTS)):
        try:
            return _pack(run)
        except OSError as error:
            raise _refused(run, error) from error


def unpack(run: Path) -> int:
    """Write every packed transcript to its own file again and return their number.

    Raises:
        RunDirectoryError: the directory is not a run, has no pack, another process uses it, or the
            pack is damaged: then readable transcripts are unpacked, and the pack stays.
        StorageError: the disk refused to write; the pack stays.
    """
    read_manifest(run)
    with closing(ResultsFile(run / RESULTS)):
        packed = open_pack(run)
        if packed is None:
            raise RunDirectoryError(f"{run}: its transcripts are not packed")
        try:
            with packed:
                _unpack(run, packed)
        except OSError as error:
            raise _refused(run, error) from error
    return len(packed.places)


def _pack(run: Path) -> Packed:
    _sweep(run)
    loose = {path.name: path for path in (run / FOLDER).glob("*.jsonl")}
    done = {file_name(each.problem_id, each.index) for each in read_results(run / RESULTS)}
    new = {name: path for name, path in loose.items() if name in done and _fits(path)}
    if new:
        with ExitStack() as stack:
            before = open_pack(run)
            if before is not None:
                stack.enter_context(before)
            _replace(run, _Sources(new, before))
        _remove(run, new.values())
    left = len(loose) - len(new)
    now = open_pack(run)
    if now is None:
        return Packed(0, 0, 0, 0, left)
    with now:
        size = sum(place.size for place in now.places.values())
        return Packed(len(new), len(now.places), size, now.path.stat().st_size, left)


class _Sources:
    """Contents of a new pack: files, and transcripts of the old pack.

    Args:
        files: files by name; each is newer than the packed transcript of that name.
        before: the old pack, if there is one.
    """

    def __init__(self, files: Mapping[str, Path], before: Pack | None) -> None:
        self._files = files
        self._before = before
        self.names = sorted({*files, *(before.places if before else ())})

    def read(self, name: str) -> bytes:
        path = self._files.get(name)
        if path is not None:
            return read_file(path, LARGEST_TRANSCRIPT)
        assert self._before is not None
        return self._before.read(name)


def _replace(run: Path, sources: _Sources) -> None:
    """Write the new pack; it replaces the old one when it is complete."""
    draft = run / DRAFT
    try:
        _write(draft, sources)
        _check(draft, sources)
        draft.replace(run / PACK)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync(run)


def _write(draft: Path, sources: _Sources) -> None:
    names = sources.names
    dictionary = _dictionary(sources.read(name) for name in names[:: len(names) // EXAMPLES or 1])
    head = zlib.compress(dictionary, 9)
    places: list[tuple[str, int, int]] = []
    with draft.open("wb") as file:
        file.write(MAGIC + head)
        for name in names:
            content = sources.read(name)
            squeezer = zlib.compressobj(level=9, memLevel=9, zdict=dictionary)
            member = squeezer.compress(content) + squeezer.flush()
            places.append((name, len(member), len(content)))
            file.write(member)
        index = to_json(places)
        if len(index) > LARGEST_INDEX:
            raise RunDirectoryError(f"{draft.parent}: too many transcripts for one pack")
        tail = zlib.compress(index, 9)
        file.write(tail + TAIL.pack(len(head), len(tail)))
        file.flush()
        os.fsync(file.fileno())


def _check(draft: Path, sources: _Sources) -> None:
    """Check that the pack can be read back, before the originals are removed."""
    with Pack(draft) as written:
        if any(written.read(name) != sources.read(name) for name in sources.names):
            raise OSError("the disk does not give back what was written")


def _dictionary(examples: Iterable[bytes]) -> bytes:
    return b"".join(example[:LONGEST_EXAMPLE] for example in examples)[:LARGEST_DICTIONARY]


def _remove(run: Path, packed: Iterable[Path]) -> None:
    """Remove the packed files, and their folder if it is empty."""
    for path in packed:
        path.unlink()
    with suppress(OSError):
        (run / FOLDER).rmdir()


def _unpack(run: Path, packed: Pack) -> None:
    _sweep(run)
    (run / FOLDER).mkdir(exist_ok=True)
    draft = run / FOLDER / LOOSE_DRAFT
    for name in packed.places:
        path = run / FOLDER / name
        if path.exists():
            continue
        content = packed.read(name)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    _sync(run / FOLDER)
    _sync(run)
    packed.path.unlink()


def _sweep(run: Path) -> None:
    """Remove unfinished files of a killed process."""
    (run / DRAFT).unlink(missing_ok=True)
    (run / FOLDER / LOOSE_DRAFT).unlink(missing_ok=True)


def _fits(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= LARGEST_TRANSCRIPT


def _sync(folder: Path) -> None:
    """Flush a folder's entries to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _refused(run: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{run}: its transcripts cannot be packed or unpacked ({error.strerror or error}); "
        "none is lost: make room, and do it again"
    )


@contextmanager
def held(path: Path) -> Generator[None]:
    """Keep a run from going on meanwhile, by a lock that needs no right to write.

    Raises:
        RunDirectoryError: another process is at work on the run, or its results cannot be read.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:  # nothing is graded yet
        yield
        return
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunDirectoryError(
                f"{path.parent}: another process is at work on this run; wait for it to end"
            ) from error
        except OSError:  # a file system without locks, or one that gives none to readers
            pass
        yield
