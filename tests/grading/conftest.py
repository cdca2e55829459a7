"""A real sandbox, and shorthands for judging programs in it."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from typing import Any

import pytest

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade
from harness.problem import TestCase
from harness.sandbox.isolation import UNSAFE
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

LIMITS = Limits(cpu_s=3.0, memory_bytes=1024 * MEBIBYTE, output_bytes=4 * MEBIBYTE)


@pytest.fixture(scope="session")
def unguarded() -> Iterator[Worker]:
    """The same without the layers, for programs that a layer would stop before their point."""
    worker = Worker(UNSAFE)
    yield worker
    worker.stop()


@pytest.fixture
def search() -> str:
    """Code of `found()`: what it can see that looks like a secret of `secret`, or 'nothing'."""
    return SEARCH


@pytest.fixture
def secret() -> str:
    """A word that nobody could guess."""
    return f"wanted:{secrets.token_hex(16)}"


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


@pytest.fixture
def grade(worker: Worker) -> Callable[..., Grade]:
    """Judges code on (input, output) pairs, the first `public` of which are public."""

    def grade(
        code: str,
        pairs: Sequence[tuple[str, str]],
        *,
        public: int = 1,
        limits: Limits = LIMITS,
        isolate: bool = False,
        stop: Stop = Stop.AUTO,
        **program: Any,
    ) -> Grade:
        tests = [
            TestCase(input=given, output=wanted, public=index < public)
            for index, (given, wanted) in enumerate(pairs)
        ]
        task = Task(Program(dedent(code), **program), tests, limits, isolate=isolate, stop=stop)
        return judge(worker, task)

    return grade
