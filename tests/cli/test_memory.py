"""A program without enough memory ends with one line, whoever runs out of it."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from for_each import for_each

from harness.cli.memory import is_out_of_memory

LIMIT = 400 << 20
SAYS = "harness: out of memory of 400 MiB (ulimit -v): raise the limit, or lower --workers"

# Ways to run out of memory beside a thread that never ends.
WAYS = {
    "the main thread": "raise MemoryError",
    "a group": "raise ExceptionGroup('in a task', [ValueError(), MemoryError()])",
    "the way out": "try: raise MemoryError\nfinally: raise ValueError('while it ended')",
    "no thread": 'raise RuntimeError("can\'t start new thread")',
    "another thread": (
        "def fail(): raise MemoryError\n"
        "threading.Thread(target=fail).start()\nthreading.Event().wait()"
    ),
}
PROGRAM = """
import threading
import harness.cli.app as module

def app(**_):
    {way}

module.app = app
waiting = threading.Thread(target=threading.Event().wait)
waiting.start()
import harness.cli
harness.cli.main()
"""


def limited(*command: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
    )


@for_each("way", WAYS.values(), ids=WAYS)
def test_out_of_memory_ends_with_one_line_and_waits_for_no_thread(way: str, tmp_path: Path) -> None:
    program = PROGRAM.format(way=way.replace("\n", "\n    "))
    done = limited("-c", program, cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr.startswith(SAYS)
    assert done.stderr.count("\n") == 1


@pytest.mark.thorough
def test_a_row_that_does_not_fit_into_memory_ends_with_one_line(tmp_path: Path) -> None:
    with (tmp_path / "rows.jsonl").open("wb") as file:
        file.truncate(1 << 30)  # sparse: one line, and it takes no room on the disk
    done = limited("-m", "harness", "problems", "jsonl:rows.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert SAYS in done.stderr


@for_each("error", [ValueError("x"), RuntimeError("x"), OSError(2, "x")])
def test_other_errors_are_not_out_of_memory(error: Exception) -> None:
    assert not is_out_of_memory(error)
