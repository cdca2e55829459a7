"""One sample: runs the strategy, grades the solution and returns the result."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from harness.agent.attempt import Attempt, RunStop, StopReason
from harness.agent.events import (
    Event,
    Graded,
    NotGraded,
    PutOff,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    Tested,
    ToolResult,
)
from harness.agent.journal import Journal
from harness.agent.sample_workspace import workspace_of
from harness.agent.session import RunStoppedError, Session, no_warning
from harness.errors import DataError
from harness.grading.jobs import Judgement
from harness.grading.verdict import Grade, Verdict
from harness.languages.starters import view_in
from harness.models.protocol import UserInterruptError
from harness.problem import Problem, TestCase, TestSuite
from harness.run.engine.outage import Outage
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.revisions import steps_of, to_judge
from harness.run.engine.sample_gate import SampleGate
from harness.run.engine.stop_flag import StopFlag
from harness.run.engine.written_tests import count_written_tests
from harness.run.observer import Failure, Observer, tell_progress
from harness.run.plan.budget import Budget, Share
from harness.run.plan.plan import Plan
from harness.run.reporter import Warnings
from harness.run.store.directory import RunDirectory
from harness.run.store.results import ATTEMPTED, SampleResult, graded
from harness.run.store.transcript import TranscriptWriter, facts_of, sample_name
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import Executor, Shared
from harness.text import writable

SMALL_ROW = 1 << 14
"""Most bytes of a row that is decoded without a thread."""
MOST_KEPT = 1 << 16
"""Most characters of hidden tests that a sample keeps until it is graded."""


class CheckFailedError(Exception):
    """A checker failed, even on a correct answer."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """Runs the samples of a run to completion.

    Attributes:
        plan: the run's plan.
        directory: run directory with the transcripts.
        pool: executor for grading.
        observer: receives retries and resumed samples.
        limiter: limits the requests in flight.
        budget: the run's budget.
        stopping: whether and why the run is stopping.
        outage: tracks whether the provider answers.
        warnings: prints warnings for the user.
    """

    plan: Plan
    directory: RunDirectory
    pool: Executor
    observer: Observer
    limiter: RateLimiter
    budget: Budget
    stopping: StopFlag
    outage: Outage
    one_row: asyncio.Lock  # suites may be large, so only one sample's is loaded at a time
    warnings: Warnings = field(default_factory=Warnings)
    seen: set[str] = field(default_factory=set[str])  # problems known to be gradable

    async def take(
        self, problem: Problem, index: int, share: Share | None = None
    ) -> SampleResult | Failure | None:
        """Run one sample from its first request, or from an interruption, to its grade.

        Args:
            problem: the sample's problem.
            index: the sample's index.
            share: the sample's share of the run's budget.

        Returns:
            None if a limit of the run was reached first, so that the sample stays pending.

        Raises:
            StorageError: a write to disk failed.
        """
        sample, started = sample_name(problem.id, index), time.monotonic()
        tests = problem.tests
        gate = SampleGate(self.limiter, self.budget, self.stopping, self.outage, share)
        with self.directory.transcript(problem.id, index) as transcript:
            journal = Journal(self._recorder(sample, transcript), transcript.recorded)
            journal(self._start(problem, index))
            try:
                # Find rows that cannot be graded before paying the model.
                async with self.one_row:
                    if problem.id not in self.seen:
                        tests = await self._checked(problem)
                        self.seen.add(problem.id)
                attempt = await self._solve(problem, index, journal, gate)
                _check_wall(attempt, gate)
                journal(_end(attempt))
                if attempt.stop_reason is StopReason.MODEL_ERROR:
                    return Failure(sample, Verdict.MODEL_ERROR, attempt.error)
                result = await self._judged(problem, index, attempt, journal, tests)
            except RunStoppedError as stopped:
                journal(_put_off(journal, stopped, gate))
                return None
            except UserInterruptError as interrupt:
                self.stopping.stop(RunStop.INTERRUPT, str(interrupt))
                journal(_put_off(journal, RunStoppedError(), gate))
                return None
            except asyncio.CancelledError:
                if self.stopping.reason is not None:
                    stopped = RunStoppedError(self.stopping.reason, self.stopping.cause)
                    journal(_put_off(journal, stopped, gate))
                raise
            except SandboxError as error:
                return _failed(journal, Failure(sample, Verdict.SANDBOX_ERROR, str(error)))
            except (DataError, CheckFailedError) as error:
                return _failed(journal, Failure(sample, Verdict.CHECKER_ERROR, str(error)))
        seconds = round(time.monotonic() - started, 3)
        unheard = transcript.unheard + gate.unheard
        return result.model_copy(update={"seconds": seconds, "unheard": unheard})

    async def _judged(
        self, problem: Problem, index: int, attempt: Attempt, journal: Journal, tests: TestSuite
    ) -> SampleResult:
        """Return the result of an attempt. Raises CheckFailedError."""
        grade = await self._grade(problem, attempt.code, tests)
        open_ones = to_judge(attempt, points=problem.scoring is not None)
        others = {code: await self._grade(problem, code, tests) for code in open_ones}
        journal(Graded(grade=grade))
        if grade.verdict is Verdict.CHECKER_ERROR:
            raise CheckFailedError(grade.checker_error)
        written = None
        if attempt.written_tests or self.plan.spec.known_mode.writes_tests:
            judging = self.plan.judging
            written = await count_written_tests(problem, attempt, grade, judging, self.pool)
        result = result_of(
            problem,
            index,
            attempt,
            grade,
            steps=steps_of(attempt, grade, others, self.plan.price),
            cost=self.plan.cost(attempt),
            written_tests=written,
            cut_off=journal.cut_off,
            answer_seconds=round(journal.answer_seconds, 3),
        )
        for part in self.plan.parts.values():
            result = await part.graded(result, problem, journal.answers, self.pool)
        return result

    async def _checked(self, problem: Problem) -> TestSuite:
        """Run `_check`, in a thread unless the row is small: starting a thread takes longer."""
        size = problem.tests.row_bytes
        if size is not None and size <= SMALL_ROW:
            return self._check(problem)
        return await asyncio.to_thread(self._check, problem)

    def _check(self, problem: Problem) -> TestSuite:
        """Check that the problem's solutions can be graded. Raises DataError.

        Returns:
            Its tests; if they are small they are decoded, so that this is done only once.
        """
        if (judge := self.plan.rules.judge) is not None:
            judge.check(problem)
            return problem.tests
        hidden = problem.tests.load_hidden()
        if sum(len(test.input) + len(test.output) for test in hidden) > MOST_KEPT:
            return problem.tests
        return replace(problem.tests, load_hidden=partial(tuple[TestCase, ...], hidden))

    def _recorder(self, sample: str, write: TranscriptWriter) -> Callable[[Event], None]:
        # The strategy and tools get this closure, which must not refer to a problem.
        observer = self.observer
        retried, resumed = observer.retried, observer.resumed

        def record(event: Event) -> None:
            write(event)
            match event:
                case Retried():
                    retried(sample, event)
                case Resumed():
                    resumed(sample, event)
                case Response() | ToolResult() | Tested() | SampleEnd():
                    tell_progress(observer, sample, event)
                case _:
                    pass

        return record

    def _start(self, problem: Problem, index: int) -> SampleStart:
        return SampleStart(
            sample=sample_name(problem.id, index),
            problem_id=problem.id,
            index=index,
            problem_hash=problem.content_hash,
            **self.plan.sample_facts,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    async def _solve(
        self, problem: Problem, index: int, journal: Journal, gate: SampleGate
    ) -> Attempt:
        plan = self.plan
        view = view_in(problem, plan.judging.language)
        session = Session(
            problem=view,
            model=plan.model.for_sample(view, index),
            settings=plan.settings,
            prompt=plan.prompt,
            toolbox=plan.toolbox,
            workspace=workspace_of(
                problem, plan.judging, self.pool, plan.prompt, plan.spec.report_tests
            ),
            limits=plan.limits,
            journal=journal,
            extract=plan.extract,
            gate=gate,
            options=plan.options,
            tool_use=plan.tool_use,
            warn=self.warnings if plan.target.endpoint is not None else no_warning,
        )
        return _writable(await plan.strategy(session))

    async def _grade(self, problem: Problem, code: str, tests: TestSuite) -> Grade:
        if not self.plan.spec.run_tests:
            return Grade(verdict=Verdict.UNGRADED, public_total=len(problem.tests.public))
        if (judge := self.plan.rules.judge) is not None:
            return judge.grade(problem, code)
        task = self.plan.judging.task(problem, code, ())
        return await self.pool.call(Judgement(task, Shared(tests)))


def _writable(attempt: Attempt) -> Attempt:
    """Return an attempt of the user's code without lone surrogates: what is judged is stored."""
    texts = {name: writable(getattr(attempt, name)) for name in ("code", "extraction", "error")}
    return attempt.model_copy(update=texts)


def _check_wall(attempt: Attempt, gate: SampleGate) -> None:
    """Raise RunStoppedError if the wall time ran out while waiting for the run."""
    if attempt.stop_reason is StopReason.WALL_LIMIT and gate.waits_for is not None:
        raise RunStoppedError(gate.waits_for, "the sample's wall time ended meanwhile")


def _put_off(journal: Journal, stopped: RunStoppedError, gate: SampleGate) -> PutOff:
    return PutOff(
        turn=len(journal.answers),
        reason=stopped.reason,
        cause=stopped.cause,
        in_flight=gate.in_flight,
    )


def _failed(journal: Journal, failure: Failure) -> Failure:
    """Record why a sample was not graded."""
    journal(NotGraded(verdict=failure.verdict, cause=writable(failure.cause)))
    return failure


def _end(attempt: Attempt) -> SampleEnd:
    return SampleEnd(
        stop_reason=attempt.stop_reason,
        chosen_by=attempt.chosen_by,
        extraction=attempt.extraction,
        usage=attempt.usage,
        error=attempt.error,
    )


def result_of(
    problem: Problem, index: int, attempt: Attempt, grade: Grade, **facts: Any
) -> SampleResult:
    """Return the result of an attempt and its grade, with further fields of the result."""
    values: dict[str, Any] = {
        **facts_of(problem, index),
        **graded(grade),
        **{name: getattr(attempt, name) for name in ATTEMPTED},
        "usage": attempt.usage if attempt.usage_known else None,
        "cost": None,
        "seconds": 0.0,
    }
    return SampleResult(**{**values, **facts})
