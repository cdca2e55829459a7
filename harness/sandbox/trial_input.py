"""A solution and the inputs that it is run on, in memory files that its processes read."""

import marshal
import os
from collections.abc import Sequence
from typing import overload

from harness.closing import Closing
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program

INPUT_BYTES = 64 << 20


class Encoded(Sequence[bytes]):
    """Texts as UTF-8, each encoded when it is asked for and not kept."""

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
    """A program under trial; a context manager, which lets go of its memory files.

    Args:
        program: what is run.
        inputs: one for each test.
        limits: of each test.
    """

    def __init__(self, program: Program, inputs: Sequence[bytes], limits: Limits) -> None:
        self.program = program
        self.inputs = inputs
        self.limits = limits
        self.is_counted = False  # see `Worker.try_out`
        self._files: list[int] = []
        self._spans: dict[int, tuple[int, int]] = {}
        self._end = 0

    @property
    def files(self) -> list[int]:
        """The program's, the inputs' and the outputs'. Raises OSError where there can be none."""
        names = ("program", "inputs", "outputs")
        while len(self._files) < len(names):
            self._files.append(os.memfd_create(names[len(self._files)]))
            if len(self._files) == 1:
                write(self._files[0], packed(self.program), 0)
        return self._files

    def spans(self, indexes: Sequence[int]) -> list[tuple[int, int]]:
        """Where the inputs of the leading ones of these tests lie in their file.

        At least the first, and as many more as fit in `INPUT_BYTES` together.
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
        """Let go of the files."""
        while self._files:
            os.close(self._files.pop())
        self._spans, self._end = {}, 0


def packed(program: Program) -> bytes:
    """A program as its process reads it: in `marshal`'s format, which costs it the least."""
    signature = program.signature
    data = {
        "code": program.code,
        "entry_point": program.entry_point,
        "arguments": [str(each) for each in signature.arguments],
        "result": str(signature.result),
    }
    return marshal.dumps(data)


def write(file: int, data: bytes, offset: int) -> int:
    """Write all of it; returns where it ends."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
    return offset
