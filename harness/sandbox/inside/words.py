"""Messages between the fork server and the processes of a trial, and their files."""

import json
import os
from typing import Any

FILE_NAME = "solution.py"
DETAIL_BYTES = 6_000
# The memory files between the fork server and the runner; the report has the cause of a failure.
FILES = ("stdin", "stdout", "stderr", "result", "report")

# Orders to the template: run in a copy, or in itself.
RUN, RUN_LAST = b"f", b"l"

# Messages of the template and the runner.
READY, FAILED, CANNOT_COMPILE, DONE, DONE_AND_OVER = b"R", b"F", b"C", b"D", b"E"
WORD_BYTES = 16
ORDER_BYTES = 64  # longest order of a phase, see `inside.timing`
BETWEEN_TESTS = "\0"  # separates the inputs, or the results, of several tests in a phase
RUNNER_FAILED = 70  # EX_SOFTWARE of sysexits.h


def go_word(run: int) -> bytes:
    """Return the order that starts a test; contains the run's number, from 1."""
    return b"g%d" % run


def shorten(text: str) -> str:
    """Shorten an error's text to its head and tail, if it is long."""
    if len(text) <= DETAIL_BYTES:
        return text
    head, tail = text[: DETAIL_BYTES // 4], text[-DETAIL_BYTES // 2 :]
    return f"{head}\n… {len(text) - len(head) - len(tail)} characters left out …\n{tail}"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, in several calls if necessary."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_report(descriptor: int, report: dict[str, Any]) -> None:
    """Write the cause of a test's failure to the report file."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    write_all(descriptor, json.dumps(report).encode())
