"""A program under trial, with its inputs and outputs in memory files."""

import errno
import fcntl
import os
import secrets
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

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


@dataclass(eq=False)
class Trial(MemoryFiles):
    """A program under trial; a context manager that closes its memory files.

    Attributes:
        program: the program to run.
        inputs: one input for each test; texts are encoded when needed, and not kept so.
        limits: limits of each test.
        apart: whether a program whose tests may leave state for later ones, as far as its text
            shows, gets a process for each test.
        has_folder: whether each input is a test with files and arguments, see
            `harness.sandbox.test_folder`.
        seeds: whether each process of a Python program draws random numbers of its own, as one that
            was started would; else all draw the same, so that a second run confirms the first.
        word: what the judge puts around the result of a compiled function, which nobody else knows.
    """

    program: Program
    inputs: Sequence[str | bytes]
    limits: Limits
    _: KW_ONLY
    apart: bool = False
    has_folder: bool = False
    seeds: bool = False
    word: bytes = field(init=False, default=b"")
    _files: list[int] = field(init=False, default_factory=list[int])
    _spans: dict[int, tuple[int, int]] = field(
        init=False, default_factory=dict[int, tuple[int, int]]
    )

    def __post_init__(self) -> None:
        if self.program.function is not None:
            self.word = secrets.token_hex(16).encode()

    @property
    def is_written(self) -> bool:
        """Whether its memory files were made."""
        return bool(self._files)

    @property
    def files(self) -> list[int]:
        """Memory files of program, inputs, outputs and launcher. Raises OSError if one fails."""
        if not self._files:
            self.write()
        return self._files

    @property
    def opening(self) -> dict[str, Any]:
        """What the fork server has to know besides its files and limits."""
        marks = {"has_folder": self.has_folder, "returns": bool(self.word)}
        told = {mark: True for mark, holds in marks.items() if holds}
        return {"do": "open", "preamble": self.program.preamble, **told}

    def write(self, *compiled: int) -> None:
        """Make the memory files.

        Args:
            compiled: files of the compiled program and its launcher, which are copied; none for a
                program that is not compiled.

        Raises:
            OSError: one cannot be made; there are none then.
        """
        try:
            if compiled:
                self._files.append(os.dup(compiled[0]))
            else:
                self._add("program", packed(self.program, apart=self.apart, seeds=self.seeds))
            self._add("inputs")
            self._add("outputs")
            self._files += map(os.dup, compiled[1:])
        except BaseException:
            self.close()
            raise

    def spans(self, indexes: Sequence[int]) -> list[tuple[int, int]]:
        """Return offset and length of the inputs of the leading ones of these tests.

        Includes at least the first, and as many more as fit in `INPUT_BYTES` together.
        """
        file = self.files[1]
        spans: list[tuple[int, int]] = []
        for index in indexes:
            span = self._spans.get(index)
            if span is None:
                data = encoded(self.inputs[index])
                data = b"%s\n%s" % (self.word, data) if self.word else data
                end = sum(next(reversed(self._spans.values()), ()))
                if end + len(data) > INPUT_BYTES:
                    if spans:
                        break
                    self._spans, end = {}, 0
                    os.ftruncate(file, 0)
                write(file, data, end)
                span = self._spans[index] = end, len(data)
            spans.append(span)
        return spans

    def close(self) -> None:
        """Close the memory files."""
        super().close()
        self._spans = {}


def write(file: int, data: bytes, offset: int) -> int:
    """Write all bytes; return the offset of their end."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
    return offset
