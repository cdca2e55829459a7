"""The engine: runs samples to completion and commits them, many at a time."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from harness.agent.attempt import RunStop
from harness.problem import Problem
from harness.run.engine.outage import Outage
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.sample import Sampler
from harness.run.engine.stop_flag import StopFlag
from harness.run.observer import Failure, Observer
from harness.run.plan.budget import Allowance, Budget, Share
from harness.run.plan.plan import Plan
from harness.run.reporter import Warnings, print_nothing
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, sample_name
from harness.sandbox.executor import Executor


class Engine:
    """Carries out a plan, sample by sample.

    The spec's concurrency limits the model requests in flight, and the pool's workers, whose
    number may change, limit grading. A few more samples are under way, so that neither waits for
    the other. A sample is started only if the budget suffices to finish it.
    """

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        pool: Executor,
        observer: Observer,
        budget: Budget | None = None,
        *,
        warn: Callable[[str], None] = print_nothing,
    ) -> None:
        self._directory = directory
        self._observer = observer
        self._budget = budget or Budget(Allowance())
        self._concurrency = plan.spec.concurrency
        self._pool = pool
        self._tasks: list[asyncio.Task[None]] = []
        self._turns = max(1, plan.limits.turns)
        self._stopping = StopFlag()
        self._sampler = Sampler(
            plan=plan,
            directory=directory,
            pool=pool,
            observer=observer,
            limiter=RateLimiter(plan.spec.concurrency),
            budget=self._budget,
            stopping=self._stopping,
            outage=Outage(self._stopping, plan.spec.outage_timeout, warn),
            one_row=asyncio.Lock(),
            warnings=Warnings(warn),
        )

    async def run(self, samples: Sequence[tuple[Problem, int]]) -> list[Failure]:
        """Run every sample to completion; return those that infrastructure stopped.

        Raises:
            StorageError: a write to disk failed; samples under way are lost, committed ones are
                safe.
        """
        failures: list[Failure] = []
        rest = iter(samples)
        self._tasks = []
        watch = asyncio.create_task(self._watch())
        try:
            async with asyncio.TaskGroup() as group:

                def begin_more() -> None:
                    under_way = min(len(samples), self._concurrency + self._pool.size)
                    while len(self._tasks) < under_way:
                        work = self._work(rest, failures, begin_more)
                        self._tasks.append(group.create_task(work))

                begin_more()
        except ExceptionGroup as errors:  # any one of the causes will do
            raise errors.exceptions[0] from None
        finally:
            watch.cancel()
        return failures

    @property
    def stopping(self) -> StopFlag:
        """Whether and why the run was stopped early."""
        return self._stopping

    async def _watch(self) -> None:
        """Stop when a sample finds that the run cannot continue."""
        await self._stopping.event.wait()
        self.stop()

    def stop(self) -> None:
        """Send no further request; samples that need one stay pending, others finish.

        Requests in flight are answered and recorded, so that they need not be sent again. Failed
        requests waiting for a retry are dropped.
        """
        self._stopping.stop(RunStop.INTERRUPT)
        for task in self._tasks:
            if self._stopping.is_waiting(task):
                task.cancel()

    def cancel(self) -> None:
        """Cancel the samples under way; transcripts are kept, results are not."""
        self._stopping.stop(RunStop.INTERRUPT)
        for task in self._tasks:
            task.cancel()

    async def _work(
        self,
        samples: Iterable[tuple[Problem, int]],
        failures: list[Failure],
        begin_more: Callable[[], None],
    ) -> None:
        for problem, index in samples:
            share = await self._begin(problem, index)
            if share is None or self._stopping.asked:
                return
            begin_more()
            sample, finished = sample_name(problem.id, index), False
            self._observer.started(sample)
            try:
                outcome = await self._sampler.take(problem, index, share)
                finished = isinstance(outcome, SampleResult)
            finally:
                self._budget.end(share, finished=finished)
            if outcome is None:
                self._observer.put_off(sample)
            elif isinstance(outcome, Failure):
                failures.append(outcome)
                self._observer.failed(outcome)
            else:
                self._directory.results.append(outcome)
                self._observer.finished(outcome)

    async def _begin(self, problem: Problem, index: int) -> Share | None:
        """Wait until the budget covers a sample; None if it never will or the run stops."""
        if self._stopping.asked:
            return None
        self._stopping.waits()
        try:
            return await self._budget.begin(file_name(problem.id, index), self._turns)
        finally:
            self._stopping.goes_on()
