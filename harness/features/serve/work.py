"""Work on the executor: limited wait and cancellation; and the server's metrics."""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.features.serve.requests import SHUTTING_DOWN, Refusal
from harness.sandbox.execution import WorkerStoppedError
from harness.sandbox.executor import Executor, ExecutorError
from harness.sandbox.worker import Worker

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
PATHS = frozenset({"/run_code", "/grade", "/health", "/metrics"})
SMOOTHING = 0.1
T = TypeVar("T")
LONGEST_RETRY_S = 60.0


class Histogram:
    """A cumulative histogram of seconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def values(self) -> Iterator[str]:
        """Yield the histogram's lines, without its name."""
        below = 0
        for bound, number in zip((*map(str, BOUNDS_S), "+Inf"), self.counts, strict=True):
            below += number
            yield f'_bucket{{le="{bound}"}} {below}'
        yield f"_sum {self.total_s:.6f}"
        yield f"_count {below}"


class Metrics:
    """Counts since the server started.

    Attributes:
        requests: answers by path and status.
        verdicts: verdicts of `/grade`, and statuses of `/run_code`, by path.
        waited, worked: seconds until a worker was free, and seconds on it.
        cpu_s: CPU seconds of judged programs.
        usual_s: moving average of the seconds that a worker takes for a piece of work.
        failures: sandbox failures in a row.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.waited = Histogram()
        self.worked = Histogram()
        self.cpu_s = 0.0
        self.usual_s = 0.1
        self.failures = 0

    def answered(self, path: str, status: int) -> None:
        """Count an answer."""
        self.requests[path if path in PATHS else "other", status] += 1

    def judged(self, path: str, verdict: str, cpu_s: float) -> None:
        """Count a verdict, or the status of a run program."""
        self.verdicts[path, verdict] += 1
        self.cpu_s += cpu_s

    def done(self, seconds: float, *, failed: bool) -> None:
        """Count a piece of work that a worker has done."""
        self.worked.observe(seconds)
        self.usual_s += SMOOTHING * (seconds - self.usual_s)
        self.failures = self.failures + 1 if failed else 0

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all metrics as text.

        Args:
            gauges: current values, by name.
        """
        lines: list[str] = []
        for name, kind, description, values in self._families(gauges):
            lines += [f"# HELP harness_{name} {description}", f"# TYPE harness_{name} {kind}"]
            lines += [f"harness_{name}{each}" for each in values]
        return "\n".join(lines) + "\n"

    def _families(
        self, gauges: Mapping[str, float]
    ) -> Iterator[tuple[str, str, str, Iterable[str]]]:
        """Yield the name, kind, words and values of each metric."""
        answers = sorted(self.requests.items())
        rows = [f'{{path="{path}",status="{status}"}} {n}' for (path, status), n in answers]
        yield "requests_total", "counter", "Answers by path and status.", rows
        verdicts = sorted(self.verdicts.items())
        rows = [f'{{path="{path}",verdict="{verdict}"}} {n}' for (path, verdict), n in verdicts]
        yield "verdicts_total", "counter", "Verdicts, or ends of runs.", rows
        what = "CPU seconds of judged programs."
        yield "program_cpu_seconds_total", "counter", what, [f" {self.cpu_s:.6f}"]
        waited, worked = self.waited.values(), self.worked.values()
        yield "wait_seconds", "histogram", "Seconds until a worker was free.", waited
        yield "work_seconds", "histogram", "Seconds on a worker.", worked
        for name, value in gauges.items():
            yield name, "gauge", f"{name.replace('_', ' ').capitalize()}.", [f" {value:g}"]


@dataclass(slots=True)
class Workers:
    """The executor, with counts of waiting and running work.

    Attributes:
        pool: executor of the work.
        metrics: metrics of each piece of work.
        waiting, running: numbers of pieces of work.
    """

    pool: Executor
    metrics: Metrics
    waiting: int = 0
    running: int = 0

    @property
    def retry_s(self) -> float:
        """Estimated seconds until a worker is free."""
        wait = self.waiting * self.metrics.usual_s / max(1, self.pool.size)
        return min(max(1.0, wait), LONGEST_RETRY_S)

    async def do(self, work: Callable[[Worker], T], wait_s: float) -> T:
        """Run a piece of work.

        Args:
            work: function for `Executor.call`.
            wait_s: seconds to wait for a free worker.

        Raises:
            Refusal: 504, no worker was free in time; 503, the executor is gone.
            SandboxError: the sandbox failed.
        """
        began: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def begin(_: float) -> None:
            if not began.done():
                began.set_result(time.monotonic())

        asked = time.monotonic()
        self.waiting += 1
        task = asyncio.ensure_future(self.pool.call(work, queued=begin))
        try:
            async with _ended(task):
                await asyncio.wait(
                    {task, began}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                self.metrics.waited.observe(time.monotonic() - asked)
                if not began.done() and not task.done():
                    what = f"no worker was free within {wait_s:g} s; ask again"
                    raise Refusal(504, what, self.retry_s)
                self.waiting -= 1
                self.running += 1
                try:
                    return await self._finish(task, began)
                finally:
                    self.running -= 1
                    self.waiting += 1
        finally:
            self.waiting -= 1

    async def _finish(self, task: "asyncio.Future[T]", began: "asyncio.Future[float]") -> T:
        start = began.result() if began.done() else time.monotonic()
        failed = True
        try:
            result = await task
            failed = False
        except WorkerStoppedError:
            raise Refusal(503, SHUTTING_DOWN) from None
        except ExecutorError as error:
            raise Refusal(503, str(error), LONGEST_RETRY_S) from None
        except asyncio.CancelledError:
            failed = False
            raise
        finally:
            self.metrics.done(time.monotonic() - start, failed=failed)
        return result


@asynccontextmanager
async def _ended(task: "asyncio.Future[Any]") -> AsyncGenerator[None]:
    """Cancel a task at the end of the block."""
    try:
        yield
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class LeftError(Exception):
    """The client has closed the connection."""


async def while_there(answer: Coroutine[Any, Any, T], left: Coroutine[Any, Any, None]) -> T:
    """Return the answer to a request, unless the client leaves first.

    Args:
        answer: coroutine that makes the answer; cancelled if the client leaves.
        left: coroutine that ends when the client leaves.

    Raises:
        LeftError: the client left.
    """
    making, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(left)
    async with _ended(making), _ended(leaving):
        await asyncio.wait({making, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if making.done():
            return making.result()
        raise LeftError
