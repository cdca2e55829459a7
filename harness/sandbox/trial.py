"""A program under trial, with its inputs and outputs in memory files."""

import errno
import fcntl
import os
import secrets
from collections.abc import Sequence

from harness.closing import Closing
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program, packed

INPUT_BYTES = 64 << 20
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
MFD_EXEC = 0x10  # Linux 6.3: where files in memory are not executable otherwise


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
        seeds: whether each process of a Python program draws random numbers of its own, as one that
            was started would; else all draw the same, so that a second run confirms the first.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[str | bytes],
        limits: Limits,
        *,
        apart: bool = False,
        has_folder: bool = False,
        seeds: bool = False,
    ) -> None:
        self.program = program
        self.seeds = seeds
        self.apart = apart
        self.has_folder = has_folder
        self.inputs = inputs
        self.limits = limits
        self.is_counted = False  # among the trials that needed one process; set by the worker
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
                self._add("program", packed(self.program, apart=self.apart, seeds=self.seeds))
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


def write(file: int, data: bytes, offset: int) -> int:
    """Write all bytes; return the offset of their end."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
    return offset
