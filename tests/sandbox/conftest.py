"""A real fork server, and shorthands for running programs on it."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from harness.sandbox.execution import Execution, Program
from harness.sandbox.isolation import UNSAFE
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.worker import Worker

collect_ignore = ["hostile"]  # programs to be judged

Run = Callable[..., Execution]
Batch = Callable[..., list[Execution]]


def _run(worker: Worker, code: str, *inputs: bytes, **options: Any) -> list[Execution]:
    limits = Limits(
        cpu_s=options.pop("cpu_s", 3.0),
        memory_bytes=options.pop("memory_bytes", 1024 * MEBIBYTE),
        output_bytes=options.pop("output_bytes", 4 * MEBIBYTE),
        own_wall_s=options.pop("wall", 20.0),
    )
    return worker.run(Program(dedent(code), **options), inputs, limits)


@pytest.fixture(scope="session")
def shared_worker() -> Iterator[Worker]:
    """One fork server for all tests that leave it as they find it."""
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A fork server for a test that kills or breaks it."""
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def unguarded() -> Iterator[Worker]:
    """One without the layers, for programs that a layer would stop before their point."""
    worker = Worker(UNSAFE)
    yield worker
    worker.stop()


@pytest.fixture
def run(shared_worker: Worker) -> Run:
    """Runs a program on one input: `run(code, input, **program_and_limits)`."""

    def run(code: str, data: bytes = b"", **options: Any) -> Execution:
        (execution,) = _run(shared_worker, code, data, **options)
        return execution

    return run


@pytest.fixture
def run_batch(shared_worker: Worker) -> Batch:
    """Runs a program on several inputs in one process."""

    def run_batch(code: str, *inputs: bytes, **options: Any) -> list[Execution]:
        return _run(shared_worker, code, *inputs, **options)

    return run_batch


@pytest.fixture
def run_on() -> Callable[..., list[Execution]]:
    """Runs a program on a worker of one's own."""
    return _run


class Marks:
    """A name that judged programs give to their thread, by which they are seen from outside.

    That is all they can say while they run: there is no way out of the sandbox.
    """

    def __init__(self) -> None:
        self._name = f"mark-{secrets.token_hex(4)}"
        self._seen: set[int] = set()
        self.code = f"import ctypes\nctypes.CDLL(None).prctl(15, b{self._name!r}, 0, 0, 0)\n"

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


@pytest.fixture
def marks() -> Marks:
    """Code by which a judged program makes itself seen, and the side that sees it."""
    return Marks()
