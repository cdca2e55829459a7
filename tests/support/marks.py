"""Judged programs that are seen from outside while they run."""

import contextlib
import secrets
import time
from collections.abc import Iterable
from pathlib import Path

TIMES = "import time\nprint(time.monotonic())\ntime.sleep(0.3)\nprint(time.monotonic())"
"""A program that prints when it began and when it ended."""


def overlap(printed: Iterable[str]) -> bool:
    """Whether two programs ran at once, by what each of them has printed of its times."""
    times = sorted([float(time) for time in text.split()] for text in printed)
    (_, first_end), (second_start, _) = times
    return second_start < first_end


class Marks:
    """A name that judged programs give to their thread, by which they are seen from outside.

    That is all they can say while they run: there is no way out of the sandbox.
    """

    def __init__(self) -> None:
        self._name = f"mark-{secrets.token_hex(4)}"
        self._seen: set[int] = set()
        self.code = f"import ctypes\nctypes.CDLL(None).prctl(15, b{self._name!r}, 0, 0, 0)\n"

    @property
    def sleeper(self) -> str:
        """A program that is seen, and stays until it is killed."""
        return f"{self.code}import time\nwhile True: time.sleep(100)"

    def wait_for_both(self, seconds: float) -> None:
        """Wait until two of these programs are there at once."""
        first, second = self.wait(seconds), self.wait(seconds)
        assert Path(f"/proc/{first}").exists()
        assert Path(f"/proc/{second}").exists()

    def wait(self, seconds: float = 10.0) -> int:
        """The process that was named next."""
        end = time.monotonic() + seconds
        while not self.are_there():
            assert time.monotonic() < end, "no program ran"
            time.sleep(0.005)  # the kernel tells nobody of a new name
        process = next(iter(self._new()))
        self._seen.add(process)
        return process

    def are_there(self) -> bool:
        return bool(self._new())

    def _new(self) -> set[int]:
        found: set[int] = set()
        for name in Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):
                if name.read_bytes() == f"{self._name}\n".encode():
                    found.add(int(name.parent.name))
        return found - self._seen
