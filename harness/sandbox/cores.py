"""CPU cores this process may use, and the lock of programs that must run alone on them."""

import contextlib
import math
import os
import platform
import threading
import time
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

PROCESS = Path("/proc/self")


class Pausable(Protocol):
    """A runner of programs that can be paused."""

    stopped: bool

    def pause(self) -> None:
        """Stop the running programs and start no new ones."""
        ...

    def resume(self) -> None:
        """Continue after a pause."""
        ...


class Exclusive:
    """A lock held by many runners together or by one alone while the others pause.

    After a pause, the others run for at least as long as they were paused before the next one may
    run alone.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running: set[Pausable] = set()
        self._alone = False
        self._next_pause = 0.0  # earliest time of the next pause while others run

    @contextlib.contextmanager
    def together(self, who: Pausable) -> Generator[None]:
        """Run beside others, after waiting for a runner that is alone."""
        with self._change:
            self._change.wait_for(lambda: not self._alone or who.stopped)
            self._running.add(who)
        try:
            yield
        finally:
            with self._change:
                self._running.discard(who)
                self._change.notify_all()

    @contextlib.contextmanager
    def alone(self, who: Pausable) -> Generator[None]:
        """Run while all others are paused; if stopped, pause nobody, as nothing will run."""
        with self._change:
            while not who.stopped and (wait := self._seconds_to_wait()):
                self._change.wait(wait)
            quiet = not who.stopped
            paused = list(self._running) if quiet else []
            self._alone = self._alone or quiet
            for other in paused:
                other.pause()
        start = time.monotonic()
        try:
            yield
        finally:
            with self._change:
                for other in paused:
                    other.resume()
                if quiet:
                    end = time.monotonic()
                    self._next_pause = end + (end - start)
                    self._alone = False
                self._change.notify_all()

    def _seconds_to_wait(self) -> float | None:
        """Return the seconds until a runner may be alone; None if it may be at once."""
        if self._alone:
            return threading.TIMEOUT_MAX
        left = self._next_pause - time.monotonic()
        return left if self._running and left > 0 else None

    def wake(self) -> None:
        """Wake the waiting runners so that they see whether they were stopped."""
        with self._change:
            self._change.notify_all()


def usable_cores(process: Path = PROCESS) -> int:
    """Return the number of usable cores: CPU affinity, capped by control groups.

    A quota that is not a whole number of cores is rounded up.

    Args:
        process: the process's folder in /proc, see proc(5).
    """
    shares = [*_shares(process), float(len(os.sched_getaffinity(0)))]
    return max(1, math.ceil(min(shares)))


def _shares(process: Path) -> Iterator[float]:
    """Yield the CPU quota, in cores, of each control group above this process."""
    for version, mount, group in _groups(process):
        folder = mount / group.lstrip("/")
        for each in (folder, *folder.parents):
            if (share := _share(version, each)) is not None:
                yield share
            if each == mount:
                break


def _groups(process: Path) -> Iterator[tuple[int, Path, str]]:
    """Yield version, mount point and path of each group that may limit CPU time."""
    try:
        groups = [line.split(":", 2) for line in (process / "cgroup").read_text().splitlines()]
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in groups:
        for fields in mounts:
            kind, _, options = fields[fields.index("-") + 1 :][:3]
            if not controllers and kind == "cgroup2":
                yield 2, Path(fields[4]), path
            if "cpu" in controllers.split(",") and kind == "cgroup" and "cpu" in options.split(","):
                yield 1, Path(fields[4]), path


def _share(version: int, folder: Path) -> float | None:
    """Return the CPU time allowed per unit of wall time; None if unlimited."""
    if version == 2:  # noqa: PLR2004
        quota, _, period = _read(folder / "cpu.max").partition(" ")
    else:
        quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    if not quota.isdigit() or not period.isdigit() or not int(period):
        return None
    return int(quota) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # the root group has no such file; a container may hide the groups above it
        return ""


@cache
def processor() -> str:
    """Return the processor's model name, or else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
