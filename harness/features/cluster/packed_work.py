"""Work of judging as pickles; large shared data are apart, and sent to a machine only once."""

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any, cast

from harness.sandbox.executor import Shared

LARGE = 32_768
"""Bytes from which shared data are sent to a machine only once."""


def pack(
    work: Callable[..., Any],
    keep: Callable[[object, bytes], Any],
    kept: Callable[[object], Any | None],
    pickler: type[pickle.Pickler] = pickle.Pickler,
) -> tuple[bytes, list[Any]]:
    """Serialize work; return the bytes and references to large shared data.

    Args:
        work: the work with its data.
        keep: stores an object's large data where every machine can fetch them; returns a reference.
        kept: returns the reference to an object's data stored before, or None.
        pickler: class that can pickle the work.

    Raises:
        DataError: data that are loaded on sending cannot be read.
    """
    places: list[Any] = []

    def persistent(value: object) -> Any:
        if not isinstance(value, Shared):
            return None
        shared = cast("Shared[Any]", value).value
        place = kept(shared)
        if place is None:
            data = _dumps(shared, pickler)
            if len(data) < LARGE:
                return data
            place = keep(shared, data)
        places.append(place)
        return len(places) - 1

    file = io.BytesIO()

    class Packer(pickler):
        def persistent_id(self, obj: Any) -> Any:
            return persistent(obj)

    Packer(file, pickle.HIGHEST_PROTOCOL).dump(work)
    return file.getvalue(), places


def unpack(body: bytes, parts: Sequence[bytes]) -> Callable[..., Any]:
    """Restore work that `pack` serialized.

    Args:
        body: the bytes.
        parts: the large shared data, in the order of their references.
    """
    return _Unpacker(io.BytesIO(body), parts).load()


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, parts: Sequence[bytes]) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, pid: bytes | int) -> Shared[Any]:
        data = self._parts[pid] if isinstance(pid, int) else pid
        return Shared(pickle.loads(data))  # noqa: S301 - made by the trusted driver


def _dumps(value: object, pickler: type[pickle.Pickler]) -> bytes:
    file = io.BytesIO()
    pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()
