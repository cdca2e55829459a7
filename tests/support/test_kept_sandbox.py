"""One sandbox for the calls of a test's own process."""

import os
import signal

import pytest

from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import spare_servers
from harness.sandbox.worker import Worker

pytestmark = pytest.mark.usefixtures("kept_sandbox")


LEAVES = "import os\nprint(os.listdir())\nopen('left', 'w').close()"


def used() -> tuple[int, bytes]:
    """Run a program on a worker of its own; return the fork server's process and the output."""
    worker = Worker()
    try:
        (execution,) = worker.run(Program(LEAVES), [""], Limits())
        assert worker.process_id is not None
        return worker.process_id, execution.stdout
    finally:
        worker.stop()


def test_a_kept_sandbox_goes_from_one_call_to_the_next() -> None:
    first, second = used(), used()
    assert first == second
    assert first[1] == b"[]\n"


def test_a_kept_sandbox_that_was_killed_is_replaced() -> None:
    process, output = used()
    ((server, _),) = spare_servers.values()
    os.killpg(process, signal.SIGKILL)
    server.process.wait()
    other, again = used()
    assert other != process
    assert again == output
