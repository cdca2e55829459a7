"""What the fork server says of a test, as bytes: the one module here that both sides import."""

import struct
from typing import NamedTuple

# How a test came to an end, as far as the fork server can tell.
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


class Kept(NamedTuple):
    """What is left of a file: an offset in the answer's, and the lengths of its head and tail."""

    start: int
    head: int
    tail: int


class Record(NamedTuple):
    """One test.

    Attributes:
        end: one of `ENDS`.
        too_much: whether it wrote more than it may.
        cpu_s, wall_s: seconds.
        kept: of stdout, stderr, the result and the report.
    """

    end: str
    too_much: bool
    cpu_s: float
    wall_s: float
    kept: tuple[Kept, Kept, Kept, Kept]


class Report(NamedTuple):
    """The tests of one process.

    Attributes:
        status: as wait(2) gives it.
        peak_bytes: its peak memory.
    """

    status: int
    peak_bytes: int
    records: list[Record]

    def pack(self) -> bytes:
        """As bytes."""
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


def unpack(data: bytes) -> Report:
    """The report that was packed.

    Raises:
        struct.error, IndexError: it is none.
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
