"""Binary format of the fork server's report, imported by both sides."""

import struct
from collections.abc import Iterable
from typing import NamedTuple

# How a test ended, as far as the fork server can tell.
ENDS = (
    *(
        "done",
        "cannot_compile",
        "cpu",
        "wall",
        "asleep",
        "cut",
        "memory",
        "room",
        "threads",
        "gone",
    ),
    *("garbage", "broken"),
)

_RECORD = struct.Struct("=B?dd12q")
_HEAD = struct.Struct("=iq")
_LENGTH = struct.Struct(">I")


class Kept(NamedTuple):
    """Retained part of a file: offset in the output file, length of head and tail."""

    start: int
    head: int
    tail: int


class Record(NamedTuple):
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


class Report(NamedTuple):
    """Report on the tests of one process.

    Attributes:
        status: the wait status, see wait(2).
        peak_bytes: peak memory of the process.
        records: a record for each test.
    """

    status: int
    peak_bytes: int
    records: list[Record]

    def pack(self) -> bytes:
        """Return the report as bytes."""
        return _HEAD.pack(self.status, self.peak_bytes) + b"".join(
            _RECORD.pack(
                ENDS.index(each.end),
                each.too_much,
                each.cpu_s,
                each.wall_s,
                *(number for kept in each.kept for number in kept),
            )
            for each in self.records
        )


def joined(reports: Iterable[Report]) -> bytes:
    """Return reports on several processes as bytes."""
    packed = [report.pack() for report in reports]
    return b"".join(_LENGTH.pack(len(each)) + each for each in packed)


def split(data: bytes) -> list[bytes]:
    """Return the packed reports of `joined`.

    Raises:
        struct.error: the data is malformed.
    """
    parts: list[bytes] = []
    while data:
        (length,) = _LENGTH.unpack_from(data)
        end = _LENGTH.size + length
        parts.append(data[_LENGTH.size : end])
        data = data[end:]
    return parts


def unpack(data: bytes) -> Report:
    """Return the report from its packed form.

    Raises:
        struct.error, IndexError: the data is malformed.
    """
    records = [
        Record(
            ENDS[end],
            too_much,
            cpu_s,
            wall_s,
            (Kept(*k[0:3]), Kept(*k[3:6]), Kept(*k[6:9]), Kept(*k[9:12])),
        )
        for end, too_much, cpu_s, wall_s, *k in _RECORD.iter_unpack(data[_HEAD.size :])
    ]
    status, peak_bytes = _HEAD.unpack_from(data)
    return Report(status, peak_bytes, records)
