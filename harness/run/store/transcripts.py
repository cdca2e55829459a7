"""The transcripts of a run: one file each."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from harness.agent.events import Event
from harness.errors import RunDirectoryError
from harness.run.store.billed_requests import requests_of
from harness.run.store.files import open_file
from harness.run.store.results import SampleResult
from harness.run.store.transcript import EVENT, SharedParts, events_in, file_name

FOLDER = "transcripts"
LONGEST_LAST = 65_536
"""Bytes read from the end of a transcript to find its last event."""


class Transcripts:
    """All transcripts of a run by file name.

    Args:
        run: the run directory.
    """

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER
        self._run = run

    @cached_property
    def shared(self) -> SharedParts:
        """What the run's transcripts share."""
        return SharedParts.of(self._run)

    def names(self) -> list[str]:
        """Return the sorted names of all transcripts."""
        return sorted(path.name for path in self._folder.glob("*.jsonl"))

    def exists(self, name: str) -> bool:
        """Whether a transcript of that name exists; the folder is read once."""
        return name in self._files

    @cached_property
    def _files(self) -> Collection[str]:
        with suppress(OSError):
            return set(os.listdir(self._folder))  # noqa: PTH208 - a `Path` each takes ten times as long
        return ()

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

    def _open(self, name: str) -> BinaryIO:
        path = self._folder / name
        try:
            return open_file(path)
        except FileNotFoundError:
            raise RunDirectoryError(f"{path}: there is no such transcript") from None
        except OSError as error:
            raise RunDirectoryError(f"{path}: {error.strerror}") from error


def unheard_requests(run: Path, done: Iterable[SampleResult]) -> int:
    """Return the number of requests of unfinished samples whose answer was lost."""
    finished = {file_name(result.problem_id, result.index) for result in done}
    number = 0
    transcripts = Transcripts(run)
    for name in set(transcripts.names()) - finished:
        with suppress(RunDirectoryError):
            number += sum(each.estimated for each in requests_of(transcripts.events(name)))
    return number
