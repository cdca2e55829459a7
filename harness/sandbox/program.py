"""A program to run in the sandbox, its inputs in memory files, and the result of running it."""

import errno
import fcntl
import json
import marshal
import os
import secrets
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from harness.closing import Closing
from harness.languages import PYTHON
from harness.languages.functions import Function
from harness.languages.starters import function_of
from harness.problem import Problem, ProblemView, Signature
from harness.sandbox.limits import Limits

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

INPUT_BYTES = 64 << 20
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
MFD_EXEC = 0x10  # Linux 6.3: where files in memory are not executable otherwise


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


@dataclass(frozen=True, slots=True)
class Program:
    """Judged code and how to call it.

    Attributes:
        code: the source.
        preamble: source with names that the code relies on; runs first, in its namespace.
        entry_point: function or `Solution` method to call; None to run the code as a script.
        signature: codecs of the arguments and the result.
        language: name of its language, see `harness.languages`.
        flags: the compiler's flags; empty for those of the language.
        files: names and texts of the files beside it: headers, and further sources in its language.
        links_files: whether the further sources are compiled too, and are not just there.
        function: types of the entry point, in a language that is compiled.
        compile_s: CPU seconds of all passes of the compiler; None for the usual ones.
    """

    code: str
    preamble: str = ""
    entry_point: str | None = None
    signature: Signature = field(default_factory=Signature)
    language: str = PYTHON
    flags: str = ""
    files: tuple[tuple[str, str], ...] = ()
    links_files: bool = True
    compile_s: float | None = None
    function: Function | None = None

    @classmethod
    def of(
        cls, problem: Problem | ProblemView, code: str, language: str = PYTHON, flags: str = ""
    ) -> Self:
        """Return the program of a problem's solution.

        Raises:
            NoFunctionError: it asks for a function that the language cannot have.
        """
        if language != PYTHON:  # the preamble is Python
            function = None if problem.entry_point is None else function_of(problem, language)
            return cls(
                *(code, "", problem.entry_point, problem.signature),
                language=language,
                flags=flags,
                function=function,
            )
        return cls(code, problem.preamble, problem.entry_point, problem.signature)


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


@dataclass(frozen=True, slots=True)
class Execution:
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
    stdout: bytes
    stderr: str
    result: bytes | None
    error: str
    code: int
    cpu_s: float
    wall_s: float
    peak_bytes: int
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


def encoded(text: str | bytes) -> bytes:
    """Return a text as UTF-8."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def sealed(name: str, data: bytes) -> int:
    """Return a program in memory that nobody can change any more. Raises OSError."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        file = os.memfd_create(name, flags | MFD_EXEC)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        file = os.memfd_create(name, flags)
    try:
        write(file, data, 0)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(file)
        raise
    return file


class MemoryFiles(Closing):
    """Base class of what hands memory files to the fork server."""

    def __init__(self) -> None:
        self._files: list[int] = []

    def _add(self, name: str, data: bytes = b"") -> None:
        self._files.append(os.memfd_create(name))
        write(self._files[-1], data, 0)

    def close(self) -> None:
        """Close the memory files."""
        while self._files:
            os.close(self._files.pop())


class Trial(MemoryFiles):
    """A program under trial; a context manager that closes its memory files.

    Args:
        program: the program to run.
        inputs: one input for each test; texts are encoded when needed, and not kept so.
        limits: limits of each test.
        apart: whether a program whose tests may leave state for later ones, as far as its text
            shows, gets a process for each test.
        has_folder: whether each input is a test with files and arguments, see
            `harness.sandbox.test_folder`.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[str | bytes],
        limits: Limits,
        *,
        apart: bool = False,
        has_folder: bool = False,
    ) -> None:
        self.program = program
        self.apart = apart
        self.has_folder = has_folder
        self.inputs = inputs
        self.limits = limits
        self.is_counted = False  # among the trials that needed one process; set by the worker
        self.has_run = False  # whether its output file may hold something; set by the worker
        self.binary: int | None = None  # of a compiled program; set by the worker
        # What the judge puts around the result of a compiled function, which nobody else knows.
        self.word = secrets.token_hex(16).encode() if program.function is not None else b""
        self.ends: tuple[int, ...] = ()  # pipes in place of stdin and stdout, in a dialogue
        super().__init__()
        self._spans: dict[int, tuple[int, int]] = {}
        self._end = 0

    @property
    def files(self) -> list[int]:
        """Memory files of program, inputs and outputs. Raises OSError if one fails."""
        if not self._files:
            if self.binary is not None:
                self._files.append(self.binary)
            else:
                self._add("program", packed(self.program, apart=self.apart))
        for name in ("inputs", "outputs")[len(self._files) - 1 :]:
            self._add(name)
        return self._files

    def spans(self, indexes: Sequence[int]) -> list[tuple[int, int]]:
        """Return offset and length of the inputs of the leading ones of these tests.

        Includes at least the first, and as many more as fit in `INPUT_BYTES` together.
        """
        _, file, _ = self.files
        spans: list[tuple[int, int]] = []
        for index in indexes:
            span = self._spans.get(index)
            if span is None:
                data = encoded(self.inputs[index])
                data = b"%s\n%s" % (self.word, data) if self.word else data
                if self._end + len(data) > INPUT_BYTES:
                    if spans:
                        break
                    self._spans, self._end = {}, 0
                    os.ftruncate(file, 0)
                span = self._spans[index] = self._end, len(data)
                self._end = write(file, data, self._end)
            spans.append(span)
        return spans

    def close(self) -> None:
        """Close the memory files."""
        super().close()
        self._spans, self._end = {}, 0


def packed(program: Program, *, apart: bool = False) -> bytes:
    """Return a program in `marshal`'s format, which its process decodes fastest."""
    data: dict[str, Any] = {"code": program.code, "entry_point": program.entry_point}
    data["arguments"] = [str(each) for each in program.signature.arguments]
    return marshal.dumps(data | {"result": str(program.signature.result), "apart": apart})


def write(file: int, data: bytes, offset: int) -> int:
    """Write all bytes; return the offset of their end."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
    return offset
