"""Fixtures for all tests that judge: a sandbox and a problem."""

from collections.abc import Iterator

import pytest

from harness.problem import ProblemView, Signature, TestCase
from harness.sandbox.worker import Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """A fork server for all tests of a module: it must survive what each program does."""
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def problem() -> ProblemView:
    """A problem with two public tests: print the sum of two integers."""
    return ProblemView(
        id="made/sum",
        source="made",
        title="Sum of Two",
        statement="Read two integers and print their sum.",
        platform="made",
        difficulty="easy",
        tags=(),
        release_date=None,
        starter_code="",
        entry_point=None,
        signature=Signature(),
        preamble="",
        public_tests=(
            TestCase(input="1 2\n", output="3\n", public=True),
            TestCase(input="10 -4\n", output="6\n", public=True),
        ),
    )
