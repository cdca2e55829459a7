"""Preparation and execution of runs, for all commands and `evaluate()`."""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.agent.attempt import RunStop
from harness.errors import UsageError
from harness.figures import bad_rows, count
from harness.models.environment import MODEL_ID, Environment
from harness.models.protocol import Model
from harness.models.providers import REPLAY_PREFIX
from harness.models.replay import ReplayModel
from harness.models.servers import missing
from harness.registry import hooks
from harness.run.engine.earlier_spending import budget_of
from harness.run.engine.engine import Engine
from harness.run.engine.lifecycle import PreparedRun, Read, going_on, open_directory
from harness.run.engine.manifest import changed, in_use, refuse_other_mode, unused
from harness.run.engine.outcome import Outcome, reasons_left, stopped_by, sum_up
from harness.run.observer import Failure, Observer, RunObserver, Watch
from harness.run.plan.budget import Budget
from harness.run.plan.estimate import requests_of
from harness.run.plan.plan import Plan, prepare
from harness.run.plan.recordings import BUNDLED, RECORDED_MODEL
from harness.run.plan.target import BUNDLED_PROBLEMS
from harness.run.reporter import Reporter
from harness.run.session.isolation import isolate
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.versions import version_change
from harness.run.summary.summary import Stopped
from harness.sandbox.isolation import Isolation
from harness.sandbox.strongest import ChosenSandbox
from harness.sources.benchmarks import load, parse_spec
from harness.sources.files.rows import Loaded
from harness.text import printable_line

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class RunController:
    """Start, resume and finish runs, one after the other.

    Args:
        reporter: shows notices, and the progress of loading and checking.
        watch: makes the observer of each run.

    Attributes:
        interrupts: number of interrupts by the user. After the first one no further request is
            sent.
        dry_run: whether runs are only described, which needs no key.
    """

    def __init__(self, reporter: Reporter, watch: Watch) -> None:
        self.reporter = reporter
        self.interrupts = 0
        self.dry_run = False
        self._watch = watch

    def new(
        self,
        spec: RunSpec,
        *,
        read: Read | None = None,
        own_model: Model | None = None,
    ) -> PreparedRun:
        """Prepare a new run.

        Args:
            spec: the run's spec.
            read: loads the problems, in place of `harness.sources.benchmarks.load`.
            own_model: model to use in place of the spec's.

        Raises:
            HarnessError: as in `harness.run.plan.plan.prepare`.
        """
        read = read or self.reader(spec)
        plan = prepare(spec, os.environ, read=read, own_model=own_model, dry_run=self.dry_run)
        plan = self._with_parts(plan)
        return PreparedRun(plan, plan.samples)

    def further(  # noqa: PLR0917 - as `new`, for an existing run
        self,
        path: Path,
        spec: RunSpec,
        before: Mapping[str, Any],
        only: Sequence[str] = (),
        read: Read | None = None,
        own_model: Model | None = None,
    ) -> PreparedRun:
        """Prepare the rest of an existing run, including any new samples.

        Args:
            path: the run directory.
            spec: the spec requested now.
            before: the run's manifest.
            only: selects among the remaining samples.
            read: as in `new`.
            own_model: as in `new`.

        Raises:
            RunDirectoryError: the spec is that of another run.
            HarnessError: as in `harness.run.plan.plan.prepare`.
        """
        refuse_other_mode(spec.mode, before)
        read = read or self.reader(spec)
        plan = prepare(
            spec,
            os.environ,
            before,
            read=read,
            own_model=own_model,
            dry_run=self.dry_run,
        )
        return going_on(self._with_parts(plan, before), path, before, only)

    def _with_parts(self, plan: Plan, before: Mapping[str, Any] | None = None) -> Plan:
        """Return the plan with the parts of features, of which a dry run needs none."""
        asked = () if self.dry_run else plan.spec.features
        for join in hooks("join", asked).values():
            plan = join(plan, before, self.reporter)
        return plan

    def reader(self, spec: RunSpec) -> Read:
        """Return a function that loads problems and shows its progress if slow.

        Raises:
            UsageError: the spec's benchmark has an unknown name.
        """
        if spec.benchmark:
            parse_spec(spec.benchmark)

        def read(where: str) -> Loaded:
            with self.reporter.loading() as watch:
                return load(where, skip_bad_rows=spec.skip_bad_rows, watch=watch)

        return read

    def announce(self, prepared: PreparedRun) -> None:
        """Announce the run, and any costs it may incur."""
        plan, left = prepared.plan, len(prepared.samples)
        problems = count(len(plan.problems), "problem")
        samples = count(len(plan.samples), "sample")
        if left < len(plan.samples):
            samples += f", {left} pending" if left else ", all of them done"
        mode, model = plan.spec.known_mode.announced, plan.model_name
        what = f"{problems}, {samples}, model {printable_line(model)}"
        self.reporter.notice(f"{printable_line(mode)}: {what}")
        for line in self._source_of_answers(plan, left):
            self.reporter.notice(line)
        for line in _remarks(plan, left):
            self.reporter.notice(printable_line(line))
        used = (plugin.summary for plugin in in_use(plan))
        was = version_change(prepared.before) if prepared.before is not None and left else ""
        for message in (
            *([was] if was else []),
            *used,
            *changed(plan, prepared.before),
            *unused(plan),
        ):
            self.reporter.notice(printable_line(message))
        if plan.loaded.skipped:
            self.reporter.notice(bad_rows(plan.loaded.skipped))
        if plan.notice:
            self.reporter.notice(plan.notice)
        for part in plan.parts.values():
            if part.notice:
                self.reporter.notice(part.notice)
        if plan.selected.undated:
            self.reporter.notice(
                f"{count(plan.selected.undated, 'problem')} without a date left out"
            )

    def remark(self, prepared: PreparedRun) -> None:
        """Report what callers from Python should know: limits, route and versions of a run."""
        plan, before = prepared.plan, prepared.before
        changed = version_change(before) if before is not None and prepared.samples else ""
        route = plan.target.route
        parts = (part.notice for part in plan.parts.values())
        for line in filter(None, (plan.notice, *parts, route and route.remark, changed)):
            self.reporter.notice(printable_line(line))

    def carry_out(self, prepared: PreparedRun, path: Path, budget: Budget | None = None) -> Outcome:
        """Start or resume the run until it is complete or interrupted; summarize it.

        Args:
            prepared: the run.
            path: the run directory.
            budget: the budget, including what was already spent; default: the spec's.

        Raises:
            IsolationError: no sandbox is strong enough.
            RunDirectoryError: the directory is not writable, or used by another process.
            StorageError: a write to disk failed.
        """
        prepared = self._with_agents(prepared, path)
        choice = self._sandbox(prepared)
        outcome, observer = asyncio.run(
            self._run(prepared, path, choice, budget, stopping=STOPPING)
        )
        return self._ended(outcome, observer)

    async def run(self, prepared: PreparedRun, path: Path, budget: Budget | None = None) -> Outcome:
        """Do the same as `carry_out` in the running loop; the caller handles interrupts."""
        prepared = self._with_agents(prepared, path)
        choice = await asyncio.to_thread(self._sandbox, prepared)
        return self._ended(*await self._run(prepared, path, choice, budget))

    def _ended(self, outcome: Outcome, observer: RunObserver) -> Outcome:
        """Notify the observer last: later interrupts no longer affect the run."""
        observer.ended(outcome.summary, interrupted=self.interrupts > 0)
        return outcome

    def _with_agents(self, prepared: PreparedRun, path: Path) -> PreparedRun:
        agent = prepared.plan.target.agent if prepared.samples else None
        return prepared._replace(plan=agent.with_agents(prepared.plan, path)) if agent else prepared

    def _sandbox(self, prepared: PreparedRun) -> ChosenSandbox:
        unsafe = prepared.plan.spec.unsafe_no_sandbox
        return isolate(self.reporter, prepared.least, unsafe=unsafe)

    async def _run(
        self,
        prepared: PreparedRun,
        path: Path,
        choice: ChosenSandbox,
        budget: Budget | None = None,
        stopping: Sequence[signal.Signals] = (),
    ) -> tuple[Outcome, RunObserver]:
        plan = prepared.plan
        with closing(open_directory(prepared, path, choice)) as directory:
            budget = budget or budget_of(plan, path)
            with self._watch(plan, directory) as observer:
                observer.begun(plan, len(prepared.samples))
                try:
                    failures, stopped = await self._answer_and_judge(
                        prepared, directory, observer, choice.isolation, budget, stopping
                    )
                    summary = sum_up(directory, plan, stopped)
                    left = reasons_left(directory, prepared.samples)
                except BaseException as error:
                    observer.broken(error)
                    raise
        return Outcome(summary, failures, budget, left), observer

    async def _answer_and_judge(  # noqa: PLR0917 - the parts of a run
        self,
        prepared: PreparedRun,
        directory: RunDirectory,
        observer: Observer,
        isolation: Isolation,
        budget: Budget,
        stopping: Sequence[signal.Signals],
    ) -> tuple[list[Failure], Stopped | None]:
        plan, samples = prepared.plan, prepared.samples
        if not samples:
            await plan.model.close()
            return [], None
        loop = asyncio.get_running_loop()
        if (transport := plan.target.transport) is not None:
            answered = await transport.with_answers(
                plan, directory, samples, self._say, stopping, self._count_interrupt
            )
            if answered is None:
                return [], Stopped(reason=RunStop.INTERRUPT)
            plan = answered
        try:
            async with plan.spec.where.open(isolation, self._say) as pool:
                engine = Engine(plan, directory, pool, observer, budget, warn=self._say)
                for word in stopping:
                    loop.add_signal_handler(word, self._interrupt, engine)
                try:
                    failures = await engine.run(samples)
                    if engine.stopping.reason is RunStop.INTERRUPT:
                        self.interrupts = max(1, self.interrupts)  # by the user's own code, too
                    return failures, stopped_by(engine.stopping, budget)
                finally:
                    for word in stopping:
                        loop.remove_signal_handler(word)
        finally:
            await plan.model.close()

    def _say(self, line: str) -> None:
        self.reporter.notice(printable_line(line))

    def _count_interrupt(self) -> None:
        self.interrupts += 1

    def _source_of_answers(self, plan: Plan, left: int) -> Iterator[str]:
        """Yield where the model's answers come from, and what may be billed."""
        if plan.model_name == REPLAY_PREFIX + BUNDLED:
            yield f"demo: replaying what {RECORDED_MODEL} answered{_extent(plan)}; nothing is sent"
            if plan.spec.model is None and (model := _model_of_the_environment()):
                yield (
                    f"{MODEL_ID}={model} is not asked where neither -m nor -b is given; "
                    f"ask it with: -m {model}, or -b {BUNDLED_PROBLEMS}"
                )
        elif left and (agent := plan.target.agent) is not None:
            yield printable_line(agent.notice(plan.spec))
        elif left and plan.target.endpoint is not None:
            together = " by the batch, for half the price" if plan.spec.batch else ""
            most, where = left * requests_of(plan).most, f"{_place(plan)}{together}"
            if self.dry_run:
                yield f"dry run: a real run would send up to {count(most, 'request')} to {where}"
            else:
                yield f"up to {count(most, 'request')} to {where}; its provider may bill them"

    def _interrupt(self, engine: Engine) -> None:
        """Stop sending requests at the first interrupt; cancel all work at the second."""
        self.interrupts += 1
        if self.interrupts == 1:
            engine.stop()
            self.reporter.notice(
                "interrupted: waiting for requests in flight, whose answers are kept; "
                "press Ctrl-C again to stop now"
            )
        else:
            engine.cancel()


def _remarks(plan: Plan, left: int) -> Iterator[str]:
    """Yield notes on the key, and on token prices, if requests will be sent."""
    if not left:
        return
    route = plan.target.route
    if route is not None and route.remark:
        yield route.remark
    if route is not None and route.needs_key and route.key is None:
        yield f"there is no key yet: a real run needs {missing(route.keys)}"
    if plan.price is not None and plan.price.as_of:
        yield (
            f"prices of {plan.price.as_of}, per million tokens: "
            f"${plan.price.input:g} in, ${plan.price.output:g} out"
        )


def _extent(plan: Plan) -> str:
    """Return to how many of the bundled problems there are answers, if not to all."""
    bundled = {problem.id for problem in plan.loaded.problems}
    if not isinstance(plan.model, ReplayModel) or bundled <= plan.model.problems:
        return ""
    recorded = len(bundled & plan.model.problems)
    return f" to {recorded} of {len(bundled)} bundled problems"


def _place(plan: Plan) -> str:
    return "" if plan.target.route is None else plan.target.route.host


def _model_of_the_environment() -> str:
    """Return `MODEL_ID`, printable; empty if it is not set, or in a `.env` that cannot be read."""
    try:
        return printable_line(Environment.read(os.environ).text(MODEL_ID))
    except UsageError:  # the recordings need nothing of it
        return ""
