"""How many cores there are to use: what the scheduler gives, and the control groups' quotas."""

import os
from pathlib import Path

import pytest
from for_each import for_each

from harness.sandbox.cores import usable_cores
from harness.sandbox.pool import SandboxPool

CORES = len(os.sched_getaffinity(0))


def process(folder: Path, version: int, group: str, quotas: dict[str, str]) -> Path:
    """The files by which the kernel tells of a process and of the groups that it is in."""
    kind = "cgroup2 cgroup2 rw" if version == 2 else "cgroup cgroup rw,cpu,cpuacct"
    mount = folder / "mounted"
    for path, text in quotas.items():
        file = mount / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    own = f"0::{group}" if version == 2 else f"4:cpu,cpuacct:{group}"
    (folder / "cgroup").write_text(f"3:memory:/x\n{own}\n")
    (folder / "mountinfo").write_text(
        f"22 1 0:2 / /proc rw - proc proc rw\n30 1 0:26 / {mount} rw,nosuid shared:9 - {kind}\n"
    )
    return folder


@for_each(
    ("version", "group", "quotas", "cores"),
    [
        (2, "/", {}, CORES),
        (2, "/", {"cpu.max": "max 100000"}, CORES),
        (2, "/", {"cpu.max": "100000 100000"}, 1),
        (2, "/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "50000 100000"}, 1),
        (2, "/a/b", {"a/b/cpu.max": "1000 100000", "a/cpu.max": "max 100000"}, 1),
        (2, "/", {"cpu.max": f"{CORES * 100000} 100000"}, CORES),
        (2, "/", {"cpu.max": f"{(CORES - 1) * 100000 + 1} 100000"}, CORES),
        (2, "/", {"cpu.max": f"{CORES * 900000} 100000"}, CORES),
        (2, "/", {"cpu.max": "nonsense"}, CORES),
        (1, "/", {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, CORES),
        (1, "/", {"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "50000"}, 1),
        (1, "/a/b", {"a/cpu.cfs_quota_us": "50000", "a/cpu.cfs_period_us": "100000"}, 1),
        # A container that sees its own group alone, and is told its path outside.
        (1, "/docker/0a1b", {"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000"}, 1),
    ],
)
def test_a_quota_bounds_the_cores(
    version: int, group: str, quotas: dict[str, str], cores: int, tmp_path: Path
) -> None:
    assert usable_cores(process(tmp_path, version, group, quotas)) == cores


def test_where_the_kernel_tells_nothing_the_scheduler_s_cores_count(tmp_path: Path) -> None:
    assert usable_cores(tmp_path) == CORES


def test_a_pool_has_a_worker_for_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one = process(tmp_path, 2, "/", {"cpu.max": "10000 100000"})
    monkeypatch.setattr("harness.sandbox.cores.usable_cores.__defaults__", (one,))
    pool = SandboxPool()
    assert pool.size == 1
    pool.close()
