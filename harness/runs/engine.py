"""The engine: takes samples through strategy, judge and commit, many at a time."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from harness.agent.attempt import Attempt, Session, StopReason
from harness.agent.events import Event, Graded, Retried, SampleEnd, SampleStart
from harness.agent.strategies import STRATEGIES
from harness.agent.upstream_extraction import EXTRACTORS
from harness.errors import DataError
from harness.grading.judge import judge
from harness.grading.verdict import Grade, Verdict
from harness.models.price import Price, cost
from harness.problem import Problem
from harness.runs.budget import Allowance, Budget
from harness.runs.directory import RunDirectory
from harness.runs.gate import SampleGate
from harness.runs.plan import Plan
from harness.runs.results import SampleResult, outcomes
from harness.runs.throttle import Limiter
from harness.runs.transcript import TranscriptWriter, sample_name
from harness.sandbox.execution import Program, SandboxError
from harness.sandbox.pool import SandboxPool
from harness.sandbox.worker import Worker
from harness.tools.read_problem import ReadProblem
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace
from harness.tools.write_solution import WriteSolution

TOOLBOX = Toolbox((ReadProblem(), WriteSolution(), RunTests()))
BUDGETS = frozenset({StopReason.COST_LIMIT, StopReason.TOKEN_LIMIT})


@dataclass(frozen=True, slots=True)
class Failure:
    """A sample that infrastructure kept from being graded: it stays pending."""

    sample: str
    verdict: Verdict
    cause: str


class Observer(Protocol):
    """Is told how a run goes on."""

    def started(self, sample: str) -> None:
        """A sample has begun."""
        ...

    def finished(self, result: SampleResult) -> None:
        """A sample is graded and committed."""
        ...

    def failed(self, failure: Failure) -> None:
        """A sample stays pending."""
        ...

    def put_off(self, sample: str) -> None:
        """A sample could not be begun after all: the run's budget is spent."""
        ...

    def retried(self, sample: str, retry: Retried) -> None:
        """A request failed and is sent again."""
        ...


class Engine:
    """Carries out a plan, sample by sample.

    Model requests in flight are bounded by the spec's concurrency, grading by the pool's workers;
    a few more samples than that are under way, so that neither waits for the other. No sample is
    begun once the budget holds no further request.
    """

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        pool: SandboxPool,
        observer: Observer,
        budget: Budget | None = None,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._pool = pool
        self._observer = observer
        self._limiter = Limiter(plan.spec.concurrency)
        self._budget = budget or Budget(Allowance())
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._one_row = asyncio.Lock()  # a suite may be large; that of one sample is held at a time

    async def run(self, samples: Sequence[tuple[Problem, int]]) -> list[Failure]:
        """Take every sample to its end; those that infrastructure stopped are returned.

        Raises:
            StorageError: the disk refused a write; samples under way are dropped, committed ones
                are safe.
        """
        rest = iter(samples)
        failures: list[Failure] = []
        under_way = min(len(samples), self._plan.spec.concurrency + self._pool.size)
        try:
            async with asyncio.TaskGroup() as group:
                self._tasks = [
                    group.create_task(self._work(rest, failures)) for _ in range(under_way)
                ]
        except* Exception as errors:  # noqa: BLE001 - one cause is as good as all
            raise errors.exceptions[0] from None
        return failures

    def stop(self) -> None:
        """Begin no new sample; those under way go on to their ends."""
        self._stopping = True

    def cancel(self) -> None:
        """Drop the samples under way; their transcripts stay, their results do not."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()

    async def _work(self, samples: Iterable[tuple[Problem, int]], failures: list[Failure]) -> None:
        for problem, index in samples:
            if self._stopping or not self._budget.open():
                return
            sample = sample_name(problem.id, index)
            self._observer.started(sample)
            outcome = await self._take(problem, index)
            if outcome is None:
                self._observer.put_off(sample)
            elif isinstance(outcome, Failure):
                failures.append(outcome)
                self._observer.failed(outcome)
            else:
                self._directory.results.append(outcome)
                self._observer.finished(outcome)

    async def _take(self, problem: Problem, index: int) -> SampleResult | Failure | None:
        """One sample, from its first request to its grade; None if there was no money for it."""
        sample, started = sample_name(problem.id, index), time.monotonic()
        with self._directory.transcript(problem.id, index) as record:
            record(self._start(problem, index))
            try:
                # A row that cannot be graded is found before the model is paid.
                async with self._one_row:
                    await asyncio.to_thread(problem.tests.load_hidden)
                attempt = await self._solve(problem, index, record)
                record(_end(attempt))
                if attempt.stop_reason in BUDGETS and not attempt.model_calls:
                    return None
                if attempt.stop_reason is StopReason.MODEL_ERROR:
                    return Failure(sample, Verdict.MODEL_ERROR, attempt.error)
                grade = await self._grade(problem, attempt.code)
            except SandboxError as error:
                return Failure(sample, Verdict.SANDBOX_ERROR, str(error))
            except DataError as error:
                return Failure(sample, Verdict.CHECKER_ERROR, str(error))
            record(Graded(grade=grade))
            if grade.verdict is Verdict.CHECKER_ERROR:
                return Failure(sample, Verdict.CHECKER_ERROR, grade.checker_error)
        price = self._plan.price
        return _result(problem, index, attempt=attempt, grade=grade, price=price, started=started)

    def _start(self, problem: Problem, index: int) -> SampleStart:
        plan = self._plan
        return SampleStart(
            sample=sample_name(problem.id, index),
            problem_id=problem.id,
            index=index,
            mode=plan.spec.mode,
            model=plan.model_name,
            problem_hash=problem.content_hash,
            prompt=plan.prompt.name,
            prompt_hash=plan.prompt.hash,
            settings=plan.settings.model_dump(exclude_none=True),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    async def _solve(self, problem: Problem, index: int, write: TranscriptWriter) -> Attempt:
        plan, view = self._plan, problem.view()
        task = plan.judging.task(problem, "", view.public_tests)
        # The closures below go to strategy and tools: they may hold nothing that holds `problem`.
        pool, tell_retry = self._pool, self._observer.retried

        async def run_public_tests(code: str) -> Grade:
            asked = replace(task, program=Program.of(view, code), isolate=False)
            return await pool.call(lambda worker: judge(worker, asked), urgent=True)

        def record(event: Event) -> None:
            write(event)
            if isinstance(event, Retried):
                tell_retry(sample_name(view.id, index), event)

        session = Session(
            problem=view,
            model=plan.model.for_sample(view, index),
            settings=plan.settings,
            prompt=plan.prompt,
            toolbox=TOOLBOX,
            workspace=Workspace(view, run_public_tests, task.limits.cpu_s),
            limits=plan.limits,
            record=record,
            extract=EXTRACTORS[plan.spec.extract],
            fallback_prompt=plan.fallback_prompt,
            gate=SampleGate(self._limiter, self._budget),
        )
        return await STRATEGIES[plan.spec.mode](session)

    async def _grade(self, problem: Problem, code: str) -> Grade:
        if not self._plan.spec.run_tests:
            return Grade(verdict=Verdict.UNGRADED, public_total=len(problem.tests.public))
        judging = self._plan.judging

        def work(worker: Worker) -> Grade:
            return judge(worker, judging.task(problem, code, problem.tests.all()))

        return await self._pool.call(work)


def _end(attempt: Attempt) -> SampleEnd:
    return SampleEnd(
        stop_reason=attempt.stop_reason,
        chosen_by=attempt.chosen_by,
        extraction=attempt.extraction,
        usage=attempt.usage,
        error=attempt.error,
    )


def _result(
    problem: Problem,
    index: int,
    *,
    attempt: Attempt,
    grade: Grade,
    price: Price | None,
    started: float,
) -> SampleResult:
    usage = attempt.usage if attempt.usage_known else None
    return SampleResult(
        sample=sample_name(problem.id, index),
        problem_id=problem.id,
        index=index,
        title=problem.title,
        problem_hash=problem.content_hash,
        platform=problem.platform,
        difficulty=problem.difficulty,
        tags=problem.tags,
        release_date=problem.release_date,
        known_issues=problem.known_issues,
        verdict=grade.verdict,
        public_passed=grade.public_passed,
        public_total=grade.public_total,
        hidden_passed=grade.hidden_passed,
        hidden_total=grade.hidden_total,
        tests=outcomes(grade),
        judged_again=grade.judged_again,
        isolation=grade.isolation,
        peak_bytes=grade.peak_bytes,
        code=attempt.code,
        chosen_by=attempt.chosen_by,
        extraction=attempt.extraction,
        stop_reason=attempt.stop_reason,
        model_calls=attempt.model_calls,
        tool_calls=attempt.tool_calls,
        malformed_tool_calls=attempt.malformed_tool_calls,
        nudges=attempt.nudges,
        written=attempt.written,
        tool_protocol=attempt.tool_protocol,
        fallback=attempt.fallback,
        refused=attempt.refused,
        usage=usage,
        cost=cost(usage, price),
        seconds=round(time.monotonic() - started, 6),
    )
