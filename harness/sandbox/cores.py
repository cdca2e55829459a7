"""CPU cores that this process may use."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

PROCESS = Path("/proc/self")


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
