"""A real fork server, and shorthands for running programs on it."""

import os
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from harness.sandbox.execution import Execution, Program
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.worker import Worker


@dataclass(frozen=True)
class ShortLimits(Limits):
    """Limits whose wall time is set freely, so that a sleeper's test is not long."""

    cpu_s: float = 3.0
    memory_bytes: int = 1024 * MEBIBYTE
    output_bytes: int = 4 * MEBIBYTE
    wall: float = field(default=20.0)

    @property
    def wall_s(self) -> float:
        return self.wall


Run = Callable[..., Execution]
Batch = Callable[..., list[Execution]]


def _run(worker: Worker, code: str, *inputs: bytes, **options: Any) -> list[Execution]:
    names = {"cpu_s", "memory_bytes", "output_bytes", "wall"}
    limits = ShortLimits(**{key: options.pop(key) for key in names & options.keys()})
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
    """A pipe on which judged programs say that they run."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.code = (
            f"import os\nmark = os.open({str(path)!r}, os.O_WRONLY)\n"
            "os.write(mark, b'%08d' % os.getpid())\nos.close(mark)\n"
        )

    def wait(self, seconds: float = 10.0) -> int:
        """The process that spoke next."""
        assert self.are_there(seconds), "no program ran"
        return int(os.read(self._pipe, 8))

    def are_there(self, seconds: float = 0.0) -> bool:
        return bool(select.select([self._pipe], [], [], seconds)[0])

    def close(self) -> None:
        os.close(self._pipe)


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[Marks]:
    """Code by which a judged program tells its process id, and the side that hears it."""
    marks = Marks(tmp_path / "marks")
    yield marks
    marks.close()
