"""A real sandbox for the tests of references and generated inputs."""

from collections.abc import Iterator

import pytest

from harness.sandbox.worker import Worker


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """One for all tests."""
    worker = Worker()
    yield worker
    worker.stop()
