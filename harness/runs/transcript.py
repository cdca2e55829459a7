"""Transcripts on disk: written event by event, read back when their samples go on."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from harness.agent.events import Event, standing
from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.runs.request_log import requests_of
from harness.runs.results import storage_error

LONGEST_NAME = 200
BROKEN = ".broken"
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def sample_name(problem_id: str, index: int) -> str:
    """A sample as people see it: `livecodebench/abc300_a#0`."""
    return f"{problem_id}#{index}"


def file_name(problem_id: str, index: int) -> str:
    """A sample as the file system sees it; the end of a very long id is a hash."""
    name = quote(problem_id, safe="")
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(problem_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 20]}~{digest[:16]}"
    return f"{name}-{index}.jsonl"


class TranscriptWriter(Closing):
    """Appends events to a sample's file, each handed to the system as it happens.

    A line that a crash has torn is cut off. A file that is no transcript of this version is put
    aside, under a name of its own.

    Attributes:
        recorded: the events of earlier attempts that stand; empty for a new sample.
        unheard: requests of earlier attempts whose answer nobody heard.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.recorded: tuple[Event, ...] = ()
        self.unheard = 0
        try:
            if path.exists():
                events = _recover(path)
                self.recorded = tuple(standing(events))
                self.unheard = sum(each.estimated for each in requests_of(events))
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise storage_error(path.parent, error) from error

    def __call__(self, event: Event) -> None:
        """Write one event. Raises StorageError when the disk refuses."""
        line = event.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk is full")  # noqa: TRY301 - a short write is one
        except OSError as error:
            raise storage_error(self._path.parent, error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _recover(path: Path) -> tuple[Event, ...]:
    try:
        events = tuple(read_events(path))
    except RunDirectoryError:
        path.replace(path.with_suffix(BROKEN))
        return ()
    whole = path.read_bytes().rpartition(b"\n")
    if whole[2]:
        os.truncate(path, len(whole[0]) + len(whole[1]))
    return events


def read_events(path: Path) -> Iterator[Event]:
    """The events of a transcript's file.

    Raises:
        RunDirectoryError: the file cannot be read, or a line is not an event.
    """
    try:
        with path.open("rb") as file:
            yield from events_in(file, path)
    except OSError as error:
        raise RunDirectoryError(f"{path}: {error.strerror}") from error


def events_in(lines: Iterable[bytes], where: Path) -> Iterator[Event]:
    """The events that lines are; a torn last line, which a crash leaves, is not one.

    Raises:
        RunDirectoryError: a line is not an event; it is named as one of the file `where`.
    """
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            return
        try:
            yield EVENT.validate_json(line)
        except ValidationError as error:
            raise RunDirectoryError(
                f"{where}:{number}: not an event of this version: {error.errors()[0]['msg']}"
            ) from error
