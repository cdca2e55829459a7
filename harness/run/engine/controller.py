"""Carries a prepared run out: `harness run` one of them, `harness experiment` one a cell."""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.agent.attempt import RunStop
from harness.features.batch.run import ask_by_batch
from harness.features.external.mode import told_of
from harness.features.external.setup import armed
from harness.features.observers.dispatch import Watching
from harness.features.observers.thread import Watcher
from harness.grading.jobs import Options
from harness.models.model_names import missing
from harness.run.engine.engine import Engine
from harness.run.engine.lifecycle import (
    Outcome,
    Prepared,
    Read,
    Vet,
    budget_of,
    going_on,
    level_of,
    open_directory,
    stopped_by,
    sum_up,
)
from harness.run.observer import Failure, Observer
from harness.run.plan.budget import Budget
from harness.run.plan.estimate import requests_of
from harness.run.plan.plan import Plan, prepare
from harness.run.plan.plugins_used import changed, in_use, unused
from harness.run.plan.pricing import with_costs
from harness.run.plan.recordings import BUNDLED, PREFIX
from harness.run.session.judging_session import Judging, isolate, vet
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.versions import version_change
from harness.run.summary.summary import Stopped
from harness.sandbox.isolation import Isolation, Level
from harness.terminal.progress import load_with_bar
from harness.terminal.run_progress import RunProgress
from harness.text import bad_rows, count, printable_line

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Carrying:
    """Carries runs out, one after the other.

    Attributes:
        watchers: of observers from outside, which are told of each run.
        interrupts: how often the user has interrupted it. After the first nothing more is asked.
        dry_run: whether runs are only described; then no key is needed.
    """

    def __init__(self, err: Console, watchers: Sequence[Watcher] = ()) -> None:
        self.err = err
        self.watchers = watchers
        self.interrupts = 0
        self.dry_run = False

    def new(self, spec: RunSpec, *, read: Read | None = None, vet: Vet | None = None) -> Prepared:
        """A run that has not begun.

        Args:
            spec: of the run.
            read: loads the problems in place of `load_problems`.
            vet: checks their examples, in place of `harness.run.session.judging_session.vet`.

        Raises:
            HarnessError: as `harness.run.plan.plan.prepare` has it.
        """
        read, vet = read or self.reader(spec), vet or self.vetter(spec, spec.require_isolation)
        plan = prepare(spec, os.environ, read=read, vet=vet, dry_run=self.dry_run)
        return Prepared(plan, plan.samples)

    def further(  # noqa: PLR0917 - as `new`, of a run that is there
        self,
        path: Path,
        spec: RunSpec,
        before: Mapping[str, Any],
        only: Sequence[str] = (),
        read: Read | None = None,
        vet: Vet | None = None,
    ) -> Prepared:
        """A run that goes on, with what is left of it, its new samples included.

        Args:
            path: its directory.
            spec: as it is asked for now.
            before: its manifest.
            only: which of the samples that are left.
            read: as in `new`.
            vet: as in `new`.

        Raises:
            RunDirectoryError: it would be another run.
            HarnessError: as `harness.run.plan.plan.prepare` has it.
        """
        read, vet = read or self.reader(spec), vet or self.vetter(spec, level_of(before))
        plan = prepare(spec, os.environ, before, read=read, vet=vet, dry_run=self.dry_run)
        return going_on(plan, path, before, only)

    def reader(self, spec: RunSpec) -> Read:
        """Loads problems, with a bar where that takes a while."""
        return partial(load_with_bar, console=self.err, skip_bad_rows=spec.skip_bad_rows)

    def vetter(self, spec: RunSpec, least: Level) -> Vet:
        """Checks examples, in a sandbox of a level or a stronger one."""
        judging = Judging(Options(), spec.where, least, spec.unsafe_no_sandbox)
        return lambda problems: vet(problems, judging, self.err)

    def announce(self, prepared: Prepared) -> None:
        """What is about to happen, and that it costs money where it does."""
        plan, left = prepared.plan, len(prepared.samples)
        problems = count(len(plan.problems), "problem")
        samples = count(len(plan.samples), "sample")
        if left < len(plan.samples):
            samples += f", {left} of them left to do" if left else ", all of them done"
        self.err.print(
            f"{plan.spec.mode}: {problems}, {samples}, model {printable_line(plan.model_name)}"
        )
        if plan.model_name == PREFIX + BUNDLED:
            self.err.print(
                "the model's words are recordings, written by hand; its tokens estimates"
            )
        elif left and (words := told_of(plan.spec)):
            self.err.print(printable_line(words), soft_wrap=True)
        elif left and plan.endpoint is not None:
            most = left * requests_of(plan).most
            together = " by the batch, for half the price" if plan.spec.batch else ""
            self.err.print(
                f"real requests to {_place(plan)}{together}, at most {most:,}; "
                "its provider may bill them"
            )
        for line in _remarks(plan, left):
            self.err.print(printable_line(line), soft_wrap=True)
        used = (plugin.summary for plugin in in_use(plan))
        was = version_change(prepared.before) if prepared.before is not None and left else ""
        for words in (
            *([was] if was else []),
            *used,
            *changed(plan, prepared.before),
            *unused(plan),
        ):
            self.err.print(printable_line(words), soft_wrap=True)
        if plan.loaded.skipped:
            self.err.print(bad_rows(plan.loaded.skipped))
        if plan.notice:
            self.err.print(plan.notice, soft_wrap=True)
        if plan.selected.undated:
            self.err.print(f"{count(plan.selected.undated, 'problem')} without a date left out")

    def carry_out(self, prepared: Prepared, path: Path, budget: Budget | None = None) -> Outcome:
        """Begin the run, or go on with it, until it is done or interrupted; then sum it up.

        Args:
            prepared: the run.
            path: its directory.
            budget: what it may spend, what was spent already included; its spec's by itself.

        Raises:
            IsolationError: there is no sandbox that is strong enough.
            RunDirectoryError: it cannot be written there, or another process is at work on it.
            StorageError: the disk refused a write.
        """
        if prepared.samples:
            prepared = replace(prepared, plan=armed(prepared.plan, path))
        plan = prepared.plan
        choice = isolate(self.err, prepared.least, unsafe=plan.spec.unsafe_no_sandbox)
        directory = open_directory(prepared, path, choice)
        done = with_costs(directory.committed(), plan.price)
        total = len(plan.samples)
        budget = budget or budget_of(plan, path)
        heading = (plan.model_name, plan.spec.mode, f"prompt {plan.prompt.name}")
        shown = RunProgress(self.err, total, done, problems=plan.problems, heading=heading)
        watching = Watching(shown, self.watchers, path)
        watching.begun(plan, len(prepared.samples))
        try:
            with shown:
                asked = self._engine(prepared, directory, watching, choice.isolation, budget=budget)
                failures, stopped = asyncio.run(asked)
            summary = sum_up(directory, plan, stopped)
        except BaseException as error:
            watching.broken(error)
            raise
        directory.close()
        watching.ended(summary, interrupted=self.interrupts > 0)
        return Outcome(summary, failures, budget)

    async def _engine(
        self,
        prepared: Prepared,
        directory: RunDirectory,
        observer: Observer,
        isolation: Isolation,
        *,
        budget: Budget,
    ) -> tuple[list[Failure], Stopped | None]:
        plan, samples = prepared.plan, prepared.samples
        if not samples:
            await plan.model.close()
            return [], None
        loop = asyncio.get_running_loop()
        if plan.spec.batch:
            asked = await ask_by_batch(
                plan, directory, samples, self._say, STOPPING, self._count_interrupt
            )
            if asked is None:
                return [], Stopped(reason=RunStop.INTERRUPT)
            plan = asked
        async with plan.spec.where.open(isolation, self._say) as pool:
            engine = Engine(plan, directory, pool, observer, budget, warn=self._say)
            for word in STOPPING:
                loop.add_signal_handler(word, self._interrupt, engine)
            try:
                failures = await engine.run(samples)
                return failures, stopped_by(engine.stopping, budget)
            finally:
                for word in STOPPING:
                    loop.remove_signal_handler(word)
                await plan.model.close()

    def _say(self, line: str) -> None:
        self.err.print(printable_line(line), soft_wrap=True)

    def _count_interrupt(self) -> None:
        self.interrupts += 1

    def _interrupt(self, engine: Engine) -> None:
        """The first time nothing more is asked; the second time what is under way is dropped."""
        self.interrupts += 1
        if self.interrupts == 1:
            engine.stop()
            self.err.print(
                "interrupted: nothing more is asked, and what is being answered is kept; "
                "again to stop at once"
            )
        else:
            engine.cancel()


def _remarks(plan: Plan, left: int) -> Iterator[str]:
    """What to know of the key, and what tokens cost, if any are to be used."""
    if not left:
        return
    route = plan.route
    if route is not None and route.remark:
        yield route.remark
    if route is not None and route.needs_key and route.key is None:
        yield f"there is no key yet: a real run needs {missing(route.keys)}"
    if plan.price is not None and plan.price.as_of:
        yield (
            f"prices of {plan.price.as_of}, per million tokens: "
            f"${plan.price.input:g} in, ${plan.price.output:g} out"
        )


def _place(plan: Plan) -> str:
    return "" if plan.route is None else plan.route.host
