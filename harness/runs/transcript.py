"""Transcripts on disk: written event by event, read back for people and for replay."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from harness.agent.events import Event
from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.runs.results import storage_error

LONGEST_NAME = 200
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
    """Appends events to a new file, each handed to the system as it happens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise storage_error(path.parent, error) from error

    def __call__(self, event: Event) -> None:
        """Write one event. Raises StorageError when the disk refuses."""
        line = event.model_dump_json(by_alias=True).encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk is full")  # noqa: TRY301 - a short write is one
        except OSError as error:
            raise storage_error(self._path.parent, error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def read_events(path: Path) -> Iterator[Event]:
    """The events of a transcript; a torn last line, which a crash leaves, is not one.

    Raises:
        RunDirectoryError: the file cannot be read, or a line is not an event.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield _event(path, number, line)
    except OSError as error:
        raise RunDirectoryError(f"{path}: {error.strerror}") from error


def _event(path: Path, number: int, line: bytes) -> Event:
    try:
        return EVENT.validate_json(line)
    except ValidationError as error:
        raise RunDirectoryError(
            f"{path}:{number}: not an event of this version: {error.errors()[0]['msg']}"
        ) from error
