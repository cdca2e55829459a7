"""What the processes of a trial say to the fork server, and where."""

import json
import os
from typing import Any

FILE_NAME = "solution.py"
DETAIL_BYTES = 6_000
# The memory files between the fork server and the runner; the report says why a test failed.
FILES = ("stdin", "stdout", "stderr", "result", "report")

# What the template is told: run in a copy, or in itself.
RUN, RUN_LAST = b"f", b"l"

# What it and the runner say.
READY, FAILED, CANNOT_COMPILE, DONE, DONE_AND_OVER = b"R", b"F", b"C", b"D", b"E"
WORD_BYTES = 16
ORDER_BYTES = 64  # of the phases of `inside.timed`
BETWEEN_TESTS = "\0"  # where one phase has the inputs, or the results, of several tests
RUNNER_FAILED = 70  # EX_SOFTWARE of sysexits.h


def go_word(run: int) -> bytes:
    """What a runner waits for before each test: its own number, from 1, is in it."""
    return b"g%d" % run


def shorten(text: str) -> str:
    """The head and the tail of an error's text, if it is long."""
    if len(text) <= DETAIL_BYTES:
        return text
    head, tail = text[: DETAIL_BYTES // 4], text[-DETAIL_BYTES // 2 :]
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters left out …\n{tail}"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_report(descriptor: int, report: dict[str, Any]) -> None:
    """Say why a test failed, in the file for that."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    write_all(descriptor, json.dumps(report).encode())
