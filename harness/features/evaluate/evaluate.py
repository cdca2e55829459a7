"""`evaluate`: a model, or a Python function, over the problems of a benchmark."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from harness.agent.attempt import RunStop
from harness.errors import HarnessError
from harness.features.batch.run import ask_by_batch
from harness.features.evaluate.arguments import Asked, SolutionFunction
from harness.features.evaluate.evaluation import Evaluation
from harness.features.external.session import EXTERNAL
from harness.features.observers.library import Told, check_observer, watched
from harness.models.protocol import Model
from harness.problem import Problem
from harness.run.engine.engine import Engine
from harness.run.engine.lifecycle import (
    Prepared,
    budget_of,
    going_on,
    open_directory,
    stopped_by,
    sum_up,
)
from harness.run.observer import Failure, Observer
from harness.run.plan.plan import prepare
from harness.run.plan.problem_loader import Benchmark, log, read
from harness.run.session.sandboxes import isolate, open_pool, vetted
from harness.run.session.sync import first_of, run
from harness.run.spec.call_signature import listing
from harness.run.spec.keys import RunKeys
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.versions import version_change
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import Stopped, Summary
from harness.sandbox.isolation import Isolation
from harness.text import printable_line


class EvaluationError(HarnessError):
    """No sample of an evaluation could be graded; the message says why the first could not."""


@listing(RunKeys)
def evaluate(
    solution_fn: SolutionFunction | Model | None = None,
    split: str | None = None,
    limit: int | None = None,
    *,
    benchmark: Benchmark | None = None,
    model: str | None = None,
    efficiency: bool | None = None,
    out: str | Path | None = None,
    observer: Told | None = None,
    progress: bool | None = None,
    **keys: Unpack[RunKeys],
) -> Evaluation:
    """Have problems solved, judge the solutions, and time them where that is wanted.

    Args:
        solution_fn: is given a problem as a dictionary: every field of a `ProblemView`, and under
            the names of Mercury's columns `slug_name`, `prompt`, `pretty_content`, `entry_point`,
            `difficulty`. It returns the source, or text with a block of it. It may be a coroutine
            function, or an object with the methods of a `Model`. Without it, and without `model`,
            the benchmark's own references are evaluated.
        split: of the benchmark, as in `NAME:SPLIT`; Mercury's is `eval` by default.
        limit: how many problems at most; another word for `sample_size`.
        benchmark: `NAME[:WHERE]`, or problems that are loaded; Mercury by default.
        model: a model by its name, as for `harness run --model`.
        efficiency: time solutions that pass beside the references; None for where the benchmark is
            Mercury.
        out: the run's directory. A run that is there already goes on, if it is the same. Without
            it nothing is left on disk.
        observer: is told how it goes: an `Observer`, or a function of events. What it raises ends
            the evaluation.
        progress: show the live table on stderr; None for where that is a terminal.
        keys: of a spec, as on the command line: `mode="agentic"`, `samples_per_problem=4`.

    Raises:
        EvaluationError: no sample could be graded.
        HarnessError: as `harness run` ends with, in one line: a key, a benchmark or a model that
            is not there, a row that is not as its schema says, a sandbox that cannot be had.
        KeyboardInterrupt: it was interrupted; what was graded is kept where `out` was given.
    """
    asked = Asked.of(solution_fn, split, limit, benchmark, model, efficiency, keys)
    doing = _Doing(asked, None if out is None else Path(out), observer, progress)
    doing.prepare(lambda problems: run(partial(doing.vet, problems)))
    return run(doing.carry_out)


@listing(RunKeys)
async def aevaluate(
    solution_fn: SolutionFunction | Model | None = None,
    split: str | None = None,
    limit: int | None = None,
    *,
    benchmark: Benchmark | None = None,
    model: str | None = None,
    efficiency: bool | None = None,
    out: str | Path | None = None,
    observer: Told | None = None,
    progress: bool | None = None,
    **keys: Unpack[RunKeys],
) -> Evaluation:
    """The same in the running loop, which a coroutine function is called in as well.

    Named as `aevaluate` of LangSmith and Ragas and `ainvoke`, `acompletion` of their kin are.
    """
    asked = Asked.of(solution_fn, split, limit, benchmark, model, efficiency, keys)
    doing = _Doing(asked, None if out is None else Path(out), observer, progress)
    loop = asyncio.get_running_loop()
    vetting = list[Future[tuple[Problem, ...]]]()

    def vet(problems: Sequence[Problem]) -> tuple[Problem, ...]:
        vetting.append(asyncio.run_coroutine_threadsafe(doing.vet(problems), loop))
        return vetting[-1].result()

    try:
        await asyncio.to_thread(doing.prepare, vet)
    except asyncio.CancelledError:
        for each in vetting:
            each.cancel()
        raise
    try:
        return await doing.carry_out()
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


@dataclass(slots=True)
class _Doing:
    """An evaluation on its way."""

    asked: Asked
    out: Path | None
    observer: Told | None
    progress: bool | None
    prepared: Prepared | None = field(default=None, init=False)

    def prepare(self, vet: Callable[[Sequence[Problem]], tuple[Problem, ...]]) -> None:
        """Load the problems and look at everything that can be wrong before anybody is asked."""
        check_observer(self.observer)
        asked, out = self.asked, self.out
        before: Mapping[str, Any] | None = None
        if out is not None and (out / MANIFEST).exists():
            before = read_manifest(out)
        plan = prepare(
            asked.spec,
            os.environ,
            before,
            read=lambda _: read(asked.benchmark, asked.spec),
            vet=vet,
            own_model=asked.own_model,
        )
        for line in filter(None, (plan.notice, plan.route and plan.route.remark)):
            log.warning(printable_line(line))
        if before is None or out is None:
            self.prepared = Prepared(plan, plan.samples)
        else:
            self.prepared = going_on(plan, out, before)
            if self.prepared.samples and (words := version_change(before)):
                log.warning(printable_line(words))

    async def vet(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        """Check examples that were read off statements."""
        spec = self.asked.spec
        choice = isolate(spec.require_isolation, unsafe=spec.unsafe_no_sandbox)
        return await vetted(problems, spec, choice.isolation)

    async def carry_out(self) -> Evaluation:
        """Do what is left of the run, and say what it came to."""
        prepared = self.prepared
        assert prepared is not None
        spec = prepared.plan.spec
        choice = await asyncio.to_thread(isolate, prepared.least, unsafe=spec.unsafe_no_sandbox)
        with ExitStack() as stack:
            path = self.out or Path(stack.enter_context(TemporaryDirectory(prefix="harness-")))
            if prepared.samples and spec.mode in EXTERNAL:
                from harness.features.external.setup import armed

                prepared = replace(prepared, plan=armed(prepared.plan, path))
            directory = open_directory(prepared, path, choice)
            stack.callback(directory.close)
            summary, failures = await self._watched(prepared, directory, choice.isolation)
            stopped = summary.stopped
            if stopped is not None and stopped.reason != RunStop.INTERRUPT:
                words = f"the run stopped ({stopped.reason}): {stopped.cause}"
                if not summary.graded:
                    raise EvaluationError(printable_line(f"no sample is graded; {words}"))
                log.warning(printable_line(words))
            if failures and not summary.graded:
                raise EvaluationError(
                    f"none of {len(failures)} samples could be graded; {failures[0].sample}: "
                    f"{printable_line(failures[0].cause)}"
                )
            done = read_run(path)
            if self.out is None:
                done = replace(done, path=Path(f"evaluation of {prepared.plan.model_name}"))
            return Evaluation(done, summary, failures, kept=self.out is not None)

    async def _watched(
        self, prepared: Prepared, directory: RunDirectory, isolation: Isolation
    ) -> tuple[Summary, list[Failure]]:
        plan = prepared.plan
        with watched(self.observer, plan, directory, progress=self.progress) as watching:
            watching.begun(plan, len(prepared.samples))
            try:
                failures, stopped = await self._asked_and_judged(
                    prepared, directory, watching, isolation
                )
                summary = sum_up(directory, plan, stopped)
            except BaseException as error:
                watching.broken(error)
                raise
        watching.ended(summary, interrupted=False)
        return summary, failures

    async def _asked_and_judged(
        self,
        prepared: Prepared,
        directory: RunDirectory,
        observer: Observer,
        isolation: Isolation,
    ) -> tuple[list[Failure], Stopped | None]:
        plan, samples = prepared.plan, prepared.samples
        try:
            if not samples:
                return [], None
            if plan.spec.batch:
                known = await ask_by_batch(plan, directory, samples, log.info, (), lambda: None)
                plan = known or plan
            async with open_pool(plan.spec, isolation) as pool:
                budget = budget_of(plan, directory.path)
                engine = Engine(plan, directory, pool, observer, budget, warn=log.warning)
                failures = await engine.run(samples)
                return failures, stopped_by(engine.stopping, budget)
        finally:
            await plan.model.close()
