"""A real fork server, and shorthands for running programs on it."""

from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest
from marks import Marks

from harness.sandbox.execution import Execution
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
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


@pytest.fixture
def fresh_worker() -> Iterator[Worker]:
    """A fork server for a test that kills or breaks it."""
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def run(worker: Worker) -> Run:
    """Runs a program on one input: `run(code, input, **program_and_limits)`."""

    def run(code: str, data: bytes = b"", **options: Any) -> Execution:
        (execution,) = _run(worker, code, data, **options)
        return execution

    return run


@pytest.fixture
def run_batch(worker: Worker) -> Batch:
    """Runs a program on several inputs in one process."""

    def run_batch(code: str, *inputs: bytes, **options: Any) -> list[Execution]:
        return _run(worker, code, *inputs, **options)

    return run_batch


@pytest.fixture
def run_on() -> Callable[..., list[Execution]]:
    """Runs a program on a worker of one's own."""
    return _run


@pytest.fixture
def marks() -> Marks:
    """Code by which a judged program makes itself seen, and the side that sees it."""
    return Marks()
