"""What a process and all below it use."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.features.external import process as process_memory
from harness.features.external.process import tree_bytes

MB = 1 << 20
CHILD = """
import mmap, os, sys
own = b"1" * (40 << 20)
shared = mmap.mmap(-1, 60 << 20)
shared.write(b"1" * (60 << 20))
if not os.fork():
    grown = b"2" * (40 << 20)
    len(shared[:])
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)
os.wait()
"""


@pytest.fixture
def tree() -> Iterator[int]:
    """A process of 40 MB and its child of 40 MB more, with 60 MB that both share."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.communicate()


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "searched"])
def test_all_below_a_process_count_and_what_they_share_counts_once(
    tree: int, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not listed:
        monkeypatch.setattr(process_memory, "CHILDREN", "no such file")
    assert 140 * MB < tree_bytes(tree) < 260 * MB
    assert tree_bytes(os.getpid()) > tree_bytes(tree)


def test_a_process_that_is_gone_uses_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    assert tree_bytes(int(done.stdout)) == 0
