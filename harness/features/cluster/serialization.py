"""Work on its way to another machine, and its outcome on the way back.

Both travel as pickles between processes of one cluster, which trust each other: what a judged
program made is in them as text and numbers, never as a pickle.
"""

import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from harness.sandbox.executor import Shared
from harness.sandbox.program import SandboxError

LARGE = 32_768
"""Bytes of shared data from which on they are sent to a machine once, and not with each piece."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An outcome that is no result."""

    error: Exception


def pack(
    work: Callable[..., Any],
    keep: Callable[[object, bytes], Any],
    kept: Callable[[object], Any | None],
    pickler: type[pickle.Pickler] = pickle.Pickler,
) -> tuple[bytes, list[Any]]:
    """A piece of work as bytes, and the places of what it shares with others.

    Args:
        work: with its data.
        keep: puts large data, of an object, where every machine can fetch them; returns the place.
        kept: the place of an object's data, where they were put before.
        pickler: what can pickle the work.

    Raises:
        DataError: data that are read when they are sent cannot be read.
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
    """The work that `pack` made bytes of.

    Args:
        body: of it.
        parts: what stood at the places.
    """
    return _Unpacker(io.BytesIO(body), parts).load()


@cache
def _with_places(pickler: type[pickle.Pickler]) -> Callable[..., pickle.Pickler]:
    """A pickler that asks, of each object, whether it stays elsewhere and where."""

    class Packer(pickler):
        def __init__(self, file: io.BytesIO, place_of: Callable[[object], Any]) -> None:
            super().__init__(file, pickle.HIGHEST_PROTOCOL)
            self._place_of = place_of

        def persistent_id(self, obj: Any) -> Any:
            return self._place_of(obj)

    return Packer


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, parts: Sequence[bytes]) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, pid: bytes | int) -> Shared[Any]:
        data = self._parts[pid] if isinstance(pid, int) else pid
        return Shared(pickle.loads(data))  # noqa: S301 - our own driver's


def pack_outcome(outcome: object) -> bytes:
    """What a piece of work returned, or `Raised`, as bytes."""
    try:
        data = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
        if isinstance(outcome, Raised):
            pickle.loads(data)  # noqa: S301 - just made; many an exception cannot be made again
    except Exception as error:  # noqa: BLE001 - anything may be in it
        shown = outcome.error if isinstance(outcome, Raised) else error
        return pickle.dumps(Raised(SandboxError(f"{type(shown).__name__}: {shown}")))
    return data


def unpack_outcome(data: bytes) -> Any:
    """What the work returned. Raises what it raised."""
    outcome = pickle.loads(data)  # noqa: S301 - of a node that this process began
    if isinstance(outcome, Raised):
        raise outcome.error
    return outcome


def _dumps(value: object, pickler: type[pickle.Pickler]) -> bytes:
    file = io.BytesIO()
    pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()
