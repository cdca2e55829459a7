"""How running a program ended: an execution with its result, or an error of the sandbox."""

import json
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not data; only the name of its type is known."""

    name: str


def decode(result: bytes) -> Any:
    """Decode a function's result, see `harness.sandbox.inside.values`.

    Tuples and other sequences, linked lists and trees become lists; a cyclic linked list is
    Opaque.

    Raises:
        ValueError: the program wrote a malformed result itself.
    """
    try:
        return _value(json.loads(result))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"no result: {error}") from error


def _value(tagged: Any) -> Any:  # noqa: PLR0911 - one case a line
    match tagged:
        case list():
            return [_value(item) for item in tagged]
        case {"i": str(digits)}:
            return int(digits, 16)
        case {"d": list(pairs)}:
            return {_fixed(_value(key)): _value(value) for key, value in pairs}
        case {"s": list(items)}:
            return {_fixed(_value(item)) for item in items}
        case {"u": list(items)} | {"q": [str(), *items]} | {"l": list(items)} | {"t": list(items)}:
            return [_value(item) for item in items]
        case {"c": list()}:
            return Opaque("cycle")
        case {"o": str(name)}:
            return Opaque(name)
        case dict():
            raise ValueError("no result: an unknown tag")
        case _:
            return tagged


def _fixed(value: Any) -> Any:
    """Convert a value to a hashable one: lists were tuples before, sets were frozen."""
    if isinstance(value, list):
        return tuple(map(_fixed, value))
    return frozenset(value) if isinstance(value, set) else value


class Ending(StrEnum):
    """How a test's process, or its turn in a batch, ended."""

    FINISHED = "finished"
    ERROR = "error"
    EXIT = "exit"
    SIGNAL = "signal"
    MEMORY_LIMIT = "memory_limit"
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    OUTPUT_LIMIT = "output_limit"
    CANNOT_COMPILE = "cannot_compile"
    CUT_SHORT = "cut_short"  # it needs more time than a test beside others gets; no verdict
    SANDBOX_LOST = "sandbox_lost"  # the sandbox repeatedly fails on this program


class Execution(NamedTuple):
    """Execution of one test. All values except times come from judged code.

    Attributes:
        ending: how it ended.
        stdout: standard output; only head and tail after OUTPUT_LIMIT.
        stderr: standard error; only head and tail if long.
        result: a function's result in the notation of `harness.sandbox.inside.values`; None if
            there is none.
        error: the traceback or compiler message, or how the process ended without an exception.
        code: exit code or signal number.
        cpu_s, wall_s: CPU and wall seconds, measured outside the process.
        peak_bytes: peak memory of the process, over all tests it ran.
        alone: whether the process ran only this test.
        borderline: whether a time limit was missed so narrowly, while so idle, or by so much time
            in the kernel, that the machine may be the cause.
        asleep: whether it hit the wall limit while neither running nor waiting for a core.
        partial: the result written so far, if the test did not finish.
    """

    ending: Ending
    stdout: bytes = b""
    stderr: str = ""
    result: bytes | None = None
    error: str = ""
    code: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_bytes: int = 0
    alone: bool = True
    borderline: bool = False
    asleep: bool = False
    partial: bytes = b""

    @property
    def killed(self) -> bool:
        """Whether SIGKILL ended it, as the kernel sends it when memory is short."""
        return self.ending is Ending.SIGNAL and self.code == signal.SIGKILL

    @property
    def value(self) -> Any:
        """A function's result as Python data.

        Raises:
            ValueError: there is none: the test did not finish, or the program wrote to the judge's
                own channel.
        """
        if self.result is None:
            raise ValueError(f"no result: {self.ending}")
        return decode(self.result)


class SandboxError(Exception):
    """The sandbox failed, not the program; run it again on a fresh worker."""


class WorkerStoppedError(Exception):
    """The worker was stopped for good, and its work is no longer needed."""
