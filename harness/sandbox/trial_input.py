"""A solution and its test inputs, in memory files that its processes read."""

import marshal
import os
from collections.abc import Sequence
from typing import overload

from harness.closing import Closing
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program

INPUT_BYTES = 64 << 20


class Encoded(Sequence[bytes]):
    """Texts as UTF-8, encoded on access and not kept."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> "Encoded": ...
    def __getitem__(self, index: int | slice) -> "bytes | Encoded":
        if isinstance(index, slice):
            return Encoded(self._texts[index])
        return self._texts[index].encode("utf-8", "surrogatepass")


class Trial(Closing):
    """A program under trial; a context manager that closes its memory files.

    Args:
        program: the program to run.
        inputs: one input for each test.
        limits: limits of each test.
    """

    def __init__(self, program: Program, inputs: Sequence[bytes], limits: Limits) -> None:
        self.program = program
        self.inputs = inputs
        self.limits = limits
        self.is_counted = False  # among the trials that needed one process; set by the worker
        self.has_run = False  # whether its output file may hold something; set by the worker
        self._files: list[int] = []
        self._spans: dict[int, tuple[int, int]] = {}
        self._end = 0

    @property
    def files(self) -> list[int]:
        """Memory files of program, inputs and outputs. Raises OSError if one fails."""
        names = ("program", "inputs", "outputs")
        while len(self._files) < len(names):
            self._files.append(os.memfd_create(names[len(self._files)]))
            if len(self._files) == 1:
                write(self._files[0], packed(self.program), 0)
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
                data = self.inputs[index]
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
        while self._files:
            os.close(self._files.pop())
        self._spans, self._end = {}, 0


def packed(program: Program) -> bytes:
    """Return a program in `marshal`'s format, which its process decodes fastest."""
    signature = program.signature
    data = {
        "code": program.code,
        "entry_point": program.entry_point,
        "arguments": [str(each) for each in signature.arguments],
        "result": str(signature.result),
    }
    return marshal.dumps(data)


def write(file: int, data: bytes, offset: int) -> int:
    """Write all bytes; return the offset of their end."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
    return offset
