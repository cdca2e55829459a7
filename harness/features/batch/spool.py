"""Unread answers of a batch, in a temporary file."""

import tempfile
from pathlib import Path

from pydantic_core import PydanticSerializationError

from harness.closing import Closing
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import ModelTurn
from harness.run.store.results import storage_error


class Spool(Closing):
    """Turns by custom id, in an unnamed temporary file that ends with the process.

    Args:
        folder: folder of the temporary file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise storage_error(folder, error) from error

    def __contains__(self, custom_id: object) -> bool:
        """Return whether there is an answer."""
        return custom_id in self._places

    def put(self, custom_id: str, turn: ModelTurn) -> None:
        """Store an answer.

        Raises:
            MalformedAnswerError: the answer cannot be written as JSON.
            StorageError: the disk refused a write.
        """
        try:
            line = turn.model_dump_json().encode()
        except (PydanticSerializationError, UnicodeError) as error:
            raise MalformedAnswerError("the answer holds what JSON cannot") from error
        try:
            self._file.seek(self._end)
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise storage_error(self._folder, error) from error
        self._places[custom_id] = (self._end, len(line))
        self._end += len(line)

    def get(self, custom_id: str) -> ModelTurn | None:
        """Return the answer, or None. Raises StorageError."""
        place = self._places.get(custom_id)
        if place is None:
            return None
        try:
            self._file.seek(place[0])
            return ModelTurn.model_validate_json(self._file.read(place[1]))
        except OSError as error:
            raise storage_error(self._folder, error) from error

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()
