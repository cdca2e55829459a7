"""Judged programs that can be observed from outside while they run."""

import contextlib
import secrets
import time
from collections.abc import Iterable
from pathlib import Path

TIMES = "import time\nprint(time.monotonic())\ntime.sleep(0.3)\nprint(time.monotonic())"
"""A program that prints the times of its start and its end."""


def overlap(printed: Iterable[str]) -> bool:
    """Whether two programs overlapped, by the times they printed."""
    times = sorted([float(time) for time in text.split()] for text in printed)
    (_, first_end), (second_start, _) = times
    return second_start < first_end


class Marks:
    """A thread name that judged programs set, which is visible from outside.

    It is the only signal they can give while they run: nothing else leaves the sandbox.
    """

    def __init__(self) -> None:
        self._name = f"mark-{secrets.token_hex(4)}"
        self._seen: set[int] = set()
        self.code = f"import ctypes\nctypes.CDLL(None).prctl(15, b{self._name!r}, 0, 0, 0)\n"

    @property
    def sleeper(self) -> str:
        """A program that is visible and runs until it is killed."""
        return f"{self.code}import time\nwhile True: time.sleep(100)"

    def wait_for_both(self, seconds: float) -> None:
        """Wait until two of these programs run at the same time."""
        first, second = self.wait(seconds), self.wait(seconds)
        assert Path(f"/proc/{first}").exists()
        assert Path(f"/proc/{second}").exists()

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for the next program and return its process id."""
        end = time.monotonic() + seconds
        while not (new := self._new()):
            assert time.monotonic() < end, "no program ran"
            time.sleep(0.005)  # the kernel does not notify of new names
        process = next(iter(new))
        self._seen.add(process)
        return process

    def are_there(self) -> bool:
        return bool(self._new())

    def _new(self) -> set[int]:
        processes: set[int] = set()
        for name in Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):
                if name.read_bytes() == f"{self._name}\n".encode():
                    processes.add(int(name.parent.name))
        return processes - self._seen
