"""Fixtures for all tests that judge: a sandbox and a problem."""

import secrets
from collections.abc import Iterator

import pytest
from lent_servers import Keeper

from harness.kinds.cpp.headers import Headers
from harness.problem import ProblemView, Signature, TestCase
from harness.sandbox.isolation import UNSAFE
from harness.sandbox.worker import Worker

SEARCH = """
import ctypes, gc, os, re, sys
PATTERN = re.compile(rb'wanted:' + rb'[0-9a-f]{32}')
def texts(items):
    return ' '.join(item for item in items if type(item) is str).encode('utf-8', 'replace')
def search():
    for frame in sys._current_frames().values():
        while frame:
            yield texts([*frame.f_locals.values(), *frame.f_globals.values()])
            frame = frame.f_back
    for item in gc.get_objects():
        if type(item) is dict: yield texts([*item, *item.values()])
        elif type(item) in (list, tuple, set): yield texts(item)
    yield repr(dict(os.environ)).encode()
    for name in [*os.listdir(), *(f'/proc/self/fd/{n}' for n in os.listdir('/proc/self/fd'))]:
        if name != '/proc/self/fd/0':
            try:
                with open(name, 'rb') as file: yield file.read(10 ** 6)
            except OSError: pass
    with open('/proc/self/maps') as maps:
        lines = maps.readlines()
    for line in lines:
        span, access, *_ = line.split()
        if 'r' in access and '[v' not in line:
            start, end = (int(x, 16) for x in span.split('-'))
            if end - start < 1 << 26: yield ctypes.string_at(start, end - start)
def found():
    for part in search():
        match = PATTERN.search(part)
        if match: return match[0].decode()
    return 'nothing'
"""


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """A fork server for all tests: it must survive what each program does.

    The header of C++ is precompiled for the first program, not for the third: each takes as long.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Headers.__init__, "__defaults__", (None, 1))
        worker = Worker()
        yield worker
        worker.stop()


@pytest.fixture(scope="session")
def unguarded() -> Iterator[Worker]:
    """A fork server without the layers, for programs that a layer would stop before their point."""
    worker = Worker(UNSAFE)
    yield worker
    worker.stop()


@pytest.fixture(scope="session")
def _keeper() -> Iterator[Keeper]:  # pyright: ignore[reportUnusedFunction] - a fixture
    keeper = Keeper()
    yield keeper
    keeper.end()


@pytest.fixture
def kept_sandbox(_keeper: Keeper) -> Iterator[None]:
    """For tests whose calls need a sandbox one after another: none of them starts its own."""
    _keeper.lend()
    yield
    _keeper.take_back()


@pytest.fixture
def search() -> str:
    """Code of `found()`: what it can see that looks like a secret of `secret`, or 'nothing'."""
    return SEARCH


@pytest.fixture
def secret() -> str:
    """A word that nobody could guess."""
    return f"wanted:{secrets.token_hex(16)}"


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
