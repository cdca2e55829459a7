"""What a run with `--batch` keeps on disk: the journal of its batches, and unread answers.

An intent, with the custom ids of its requests, is written before anything is sent. The batch's id
is written as soon as the provider returns it. A batch whose intent has no id may exist at the
provider; the next process searches for it.
"""

import os
import secrets
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.frozen import Frozen
from harness.run.store.results import storage_error


class Begun(Frozen):
    """First line: a random name of the run, which makes its custom ids unique."""

    event: Literal["begun"] = "begun"
    run: str


class Intent(Frozen):
    """A batch is about to be submitted; `time` is Unix time."""

    event: Literal["intent"] = "intent"
    token: str
    time: float
    custom_ids: tuple[str, ...]


class Submitted(Frozen):
    """The provider accepted the batch under this id."""

    event: Literal["submitted"] = "submitted"
    token: str
    batch_id: str


class Dropped(Frozen):
    """The provider has no such batch."""

    event: Literal["dropped"] = "dropped"
    token: str
    cause: str


class GivenUp(Frozen):
    """Requests left unanswered; the next invocation submits them again."""

    event: Literal["given_up"] = "given_up"
    custom_ids: tuple[str, ...]


Entry = Annotated[
    Begun | Intent | Submitted | Dropped | GivenUp,
    Field(discriminator="event"),
]
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


@dataclass(slots=True)
class RecordedBatch:
    """A batch as recorded in the journal.

    Attributes:
        custom_ids: custom ids of its requests, without those given up since.
        size: number of requests it was submitted with.
        batch_id: the provider's id; None until it is known.
    """

    token: str
    time: float
    custom_ids: set[str]
    size: int
    batch_id: str | None = None


class BatchJournal(Closing):
    """The journal file, read once and then appended to; each line is flushed to disk.

    Raises:
        RunDirectoryError: the file cannot be read, or this version does not know a line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._batches: dict[str, RecordedBatch] = {}
        self.run = ""
        try:
            with ExitStack() as opened:
                self._file = opened.enter_context(path.open("a+b", buffering=0))
                self._read()
                opened.pop_all()
        except OSError as error:
            raise RunDirectoryError(f"{path}: {error.strerror}") from error
        if not self.run:
            self._write(Begun(run=secrets.token_hex(8)))

    @property
    def submitted(self) -> list[RecordedBatch]:
        """The batches whose id is known, oldest first."""
        return [each for each in self._batches.values() if each.batch_id is not None]

    @property
    def open_intents(self) -> list[RecordedBatch]:
        """The batches whose id is unknown, because a process ended while submitting them."""
        return [each for each in self._batches.values() if each.batch_id is None]

    def tries(self, custom_id: str) -> int:
        """Return how often a request was submitted since it was last given up."""
        return sum(custom_id in each.custom_ids for each in self.submitted)

    def intend(self, custom_ids: Iterable[str]) -> RecordedBatch:
        """Record that a batch is about to be submitted. Raises StorageError."""
        token = secrets.token_hex(16)
        self._write(Intent(token=token, time=time.time(), custom_ids=tuple(custom_ids)))
        return self._batches[token]

    def submit(self, batch: RecordedBatch, batch_id: str) -> None:
        """Record the provider's id of a batch. Raises StorageError."""
        self._write(Submitted(token=batch.token, batch_id=batch_id))

    def drop(self, batch: RecordedBatch, cause: str) -> None:
        """Record that a batch was never created. Raises StorageError."""
        self._write(Dropped(token=batch.token, cause=cause))

    def give_up(self, custom_ids: Iterable[str]) -> None:
        """Record that these requests will get no answer. Raises StorageError."""
        ids = tuple(custom_ids)
        if ids:
            self._write(GivenUp(custom_ids=ids))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):  # a crash cut the last line
            os.ftruncate(self._file.fileno(), whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                self._apply(ENTRY.validate_json(line))
            except (ValidationError, KeyError) as error:
                raise RunDirectoryError(
                    f"{self._path}:{number}: not a line of this version of harness; go on with the "
                    "version that began the run"
                ) from error

    def _apply(self, entry: Entry) -> None:
        match entry:
            case Begun(run=run):
                self.run = run
            case Intent(token=token, time=when, custom_ids=ids):
                self._batches[token] = RecordedBatch(token, when, set(ids), len(ids))
            case Submitted(token=token, batch_id=batch_id):
                self._batches[token].batch_id = batch_id
            case Dropped(token=token):
                del self._batches[token]
            case GivenUp(custom_ids=ids):
                for batch in self._batches.values():
                    batch.custom_ids.difference_update(ids)

    def _write(self, entry: Entry) -> None:
        line = entry.model_dump_json().encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk is full")  # noqa: TRY301 - a short write is one
            os.fsync(self._file.fileno())
        except OSError as error:
            raise storage_error(self._path, error) from error
        self._apply(entry)
