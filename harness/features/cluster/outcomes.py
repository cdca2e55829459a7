"""Outcomes of judging as pickles: what a piece of work returned, or the exception it raised.

Processes of one cluster trust each other. Output of a judged program is in a pickle as text and
numbers, never as a pickle.
"""

import pickle
from typing import Any, NamedTuple

from harness.sandbox.execution import SandboxError


class Raised(NamedTuple):
    """The outcome of work that raised an exception."""

    error: Exception


def pack_outcome(outcome: object) -> bytes:
    """Serialize the return value of a piece of work, or `Raised`."""
    try:
        data = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
        if isinstance(outcome, Raised):
            pickle.loads(data)  # noqa: S301 - own data; many exceptions cannot be unpickled
    except Exception as error:  # noqa: BLE001 - pickling runs methods of any class
        shown = outcome.error if isinstance(outcome, Raised) else error
        return pickle.dumps(Raised(SandboxError(f"{type(shown).__name__}: {shown}")))
    return data


def unpack_outcome(data: bytes) -> Any:
    """Return the return value of the work, or raise its exception."""
    outcome = pickle.loads(data)  # noqa: S301 - from an actor that this process started
    if isinstance(outcome, Raised):
        raise outcome.error
    return outcome
