"""Answers that wait to be used, on disk: those of a whole run may be more than memory holds."""

import tempfile
from pathlib import Path

from pydantic_core import PydanticSerializationError

from harness.closing import Closing
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import ModelTurn
from harness.run.store.results import storage_error


class Spool(Closing):
    """Turns by custom id, in a file without a name that ends with the process.

    Args:
        folder: on whose disk it lies.
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
        """Whether there is an answer."""
        return custom_id in self._places

    def put(self, custom_id: str, turn: ModelTurn) -> None:
        """Keep an answer.

        Raises:
            MalformedAnswerError: it holds what JSON cannot.
            StorageError: the disk refused.
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
        """The answer, None where there is none. Raises StorageError."""
        place = self._places.get(custom_id)
        if place is None:
            return None
        try:
            self._file.seek(place[0])
            return ModelTurn.model_validate_json(self._file.read(place[1]))
        except OSError as error:
            raise storage_error(self._folder, error) from error

    def close(self) -> None:
        """Let go of the file, and with it of its contents."""
        self._file.close()
