"""Messages between the fork server and the processes of a trial, and its report to the worker.

Both sides of the fork server import this: the report's binary format is the last part.
"""

import json
import os
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

FILE_NAME = "solution.py"
DETAIL_BYTES = 6_000
# The memory files between the fork server and the runner; the report has the cause of a failure.
FILES = ("stdin", "stdout", "stderr", "result", "report")

# Orders to the template: run in a copy, or in itself.
RUN, RUN_LAST = b"f", b"l"

# Messages of the template and the runner.
READY, FAILED, CANNOT_COMPILE, DONE, DONE_AND_OVER = b"R", b"F", b"C", b"D", b"E"
READY_APART = b"A"  # ready, and each test needs a process of its own
WORD_BYTES = 16
ORDER_BYTES = 64  # longest order of a phase, see `inside.timing`
BETWEEN_TESTS = "\0"  # separates the inputs, or the results, of several tests in a phase
RUNNER_FAILED = 70  # EX_SOFTWARE of sysexits.h
# How a test ended, as far as the fork server can tell.
ENDS = (
    *("done", "cannot_compile", "cpu", "wall", "asleep", "cut", "memory", "room", "threads"),
    *("gone", "garbage", "broken", "unstarted"),
)
_RECORD = struct.Struct("=B?dd12q")
_HEAD = struct.Struct("=iqd")
_LENGTH = struct.Struct(">I")
FOLDER_HEAD, FOLDER_ENTRY = struct.Struct("<I"), struct.Struct("<HQ")
"""Size of the head of a test with files; lengths of a kept file's name and content."""


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


class Kept(NamedTuple):
    """Retained part of a file: offset in the output file, length of head and tail."""

    start: int
    head: int
    tail: int


class TestRecord(NamedTuple):
    """Record of one test.

    Attributes:
        end: one of `ENDS`.
        too_much: whether it exceeded the output limit.
        cpu_s, wall_s: CPU and wall time in seconds.
        kept: retained parts of stdout, stderr, the result and the report.
    """

    end: str
    too_much: bool
    cpu_s: float
    wall_s: float
    kept: tuple[Kept, Kept, Kept, Kept]


class ProcessReport(NamedTuple):
    """Report on the tests of one process.

    Attributes:
        status: the wait status, see wait(2).
        peak_bytes: peak memory of the process.
        user_s: CPU seconds of the process outside of the kernel.
        records: a record for each test.
    """

    status: int
    peak_bytes: int
    user_s: float
    records: list[TestRecord]


def pack(reports: Iterable[ProcessReport]) -> bytes:
    """Return reports as bytes."""
    return b"".join(_LENGTH.pack(len(each)) + each for each in map(_packed, reports))


def _packed(report: ProcessReport) -> bytes:
    return _HEAD.pack(report.status, report.peak_bytes, report.user_s) + b"".join(
        _RECORD.pack(
            *(ENDS.index(each.end), each.too_much, each.cpu_s, each.wall_s),
            *(number for kept in each.kept for number in kept),
        )
        for each in report.records
    )


def unpack(data: bytes) -> list[ProcessReport]:
    """Return the reports of `pack`.

    Raises:
        struct.error, IndexError: the data is malformed.
    """
    reports: list[ProcessReport] = []
    while data:
        end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        packed, data = data[_LENGTH.size : end], data[end:]
        records = [
            TestRecord(
                *(ENDS[which], too_much, cpu_s, wall_s),
                (Kept(*k[0:3]), Kept(*k[3:6]), Kept(*k[6:9]), Kept(*k[9:12])),
            )
            for which, too_much, cpu_s, wall_s, *k in _RECORD.iter_unpack(packed[_HEAD.size :])
        ]
        status, peak_bytes, user_s = _HEAD.unpack_from(packed)
        reports.append(ProcessReport(status, peak_bytes, user_s, records))
    return reports
