"""`evaluate`: run a model or a Python function over the problems of a benchmark."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from harness.agent.strategies import COMES, EXTERNAL
from harness.errors import HarnessError, UsageError
from harness.features.evaluate.evaluation import Evaluation
from harness.features.evaluate.misuse import given_path, refuse_misuse
from harness.features.observers.library import Told, check_observer, watched
from harness.models.opening import model_of, name_of_code
from harness.models.protocol import Model
from harness.models.providers import REFERENCES
from harness.problem import Problem
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import Prepared, Vet
from harness.run.plan.problem_loader import Benchmark, Checked, checked, name_of, read
from harness.run.reporter import LOG
from harness.run.session.judging_session import isolate, vetted
from harness.run.session.sync import first_of, run
from harness.run.spec.keys import RunKeys, listing, python_words, spec_from
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import MANIFEST, read_manifest
from harness.run.summary.loaded_run import read_run
from harness.sources.files.rows import Loaded
from harness.text import count, printable_line

MERCURY = "mercury"
SPLIT = "eval"

SolutionFunction = Callable[[dict[str, Any]], str | Awaitable[str]]
"""Function from a problem, without hidden tests, to code or text with code."""


@dataclass(frozen=True, slots=True)
class EvaluateArguments:
    """The checked arguments of `evaluate`.

    Attributes:
        spec: settings of the run.
        benchmark: name of the benchmark, or loaded problems.
        own_model: the user's function as a model; None to use the spec's model.
    """

    spec: RunSpec
    benchmark: Checked
    own_model: Model | None

    @classmethod
    def of(  # noqa: PLR0917 - the arguments of `evaluate`
        cls,
        solution_fn: SolutionFunction | Model | None,
        split: str | None,
        limit: int | None,
        benchmark: Benchmark | None,
        model: str | None,
        efficiency: bool | None,
        keys: RunKeys,
    ) -> "EvaluateArguments":
        """Check the arguments. Raises UsageError."""
        refuse_misuse(solution_fn, split, model, keys)
        given = checked(_place(benchmark, split))
        name = name_of(given)
        external = keys.get("agent_command") is not None or keys.get("mode") in EXTERNAL
        if solution_fn is not None and (model is not None or external):
            what = "model" if model is not None else "an agent of your own"
            raise UsageError(f"evaluate(): pass either solution_fn or {what}, not both")
        if keys.get("mode") == COMES:
            raise UsageError(f"evaluate(): mode {COMES!r}: `harness mcp` begins such a run")
        if external and not isinstance(given, str):
            raise UsageError(
                "evaluate(): an agent is kept from the files of its problems: name them, "
                "as in benchmark='apps:test.jsonl'"
            )
        own = None if solution_fn is None else model_of(name_of_code(solution_fn), solution_fn)
        if own is None and model is None and not external:
            model = REFERENCES
        if efficiency is None:
            efficiency = _of_mercury(name) and keys.get("run_tests", True)
        spec = spec_from(
            "evaluate()",
            keys,
            RunKeys,
            OWN,
            benchmark=name,
            model=model if own is None else own.name,
            efficiency=efficiency,
            sample_size=limit,
        )
        return cls(spec, given, own)


OWN = (
    *("solution_fn", "split", "limit", "benchmark", "model", "efficiency"),
    *("out", "observer", "progress"),
)


def _place(benchmark: Benchmark | None, split: str | None) -> Benchmark:
    """Combine benchmark and split to `NAME:SPLIT`. Raises UsageError."""
    if benchmark is None:
        return f"{MERCURY}:{split or SPLIT}"
    if split is None:
        return benchmark
    if isinstance(benchmark, str) and ":" not in benchmark:
        return f"{benchmark}:{split}"
    raise UsageError("evaluate(): benchmark says already which problems; leave out split")


def _of_mercury(name: str | None) -> bool:
    return name is not None and name.partition(":")[0].strip().lower() == MERCURY


class EvaluationError(HarnessError):
    """No sample of an evaluation could be graded; the message gives the first cause."""


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
    """Solve problems with a model, judge the solutions, and optionally time them.

    Args:
        solution_fn: function of a problem, given as a dictionary with every field of a
            `ProblemView` and, under the names of Mercury's columns, `slug_name`, `prompt`,
            `pretty_content`, `entry_point`, `difficulty`. It returns Python source, or text with a
            code block. It may be a coroutine function, or an object with the methods of a `Model`.
            Each call has an event loop of its own: share an async client with `aevaluate`.
            Without it, and without `model`, the benchmark's own references are evaluated.
        split: split of the benchmark, as in `NAME:SPLIT`; `eval` by default for Mercury.
        limit: most problems to run; the same as `sample_size`.
        benchmark: `NAME[:WHERE]`, or loaded problems; Mercury by default.
        model: name of a model, as for `harness run --model`.
        efficiency: whether to time passing solutions beside the references; by default only for
            Mercury.
        out: run directory. An existing run with the same settings is resumed. Without it nothing
            is left on disk.
        observer: an `Observer`, or a function of events, called as the run proceeds, in the
            evaluation's own thread and loop. The evaluation waits for it, and an exception it
            raises ends the evaluation. A coroutine function is refused.
        progress: whether to show the live table on stderr; by default only on a terminal.
        keys: settings as on the command line: `mode="agentic"`, `samples_per_problem=4`.

    Raises:
        EvaluationError: no sample could be graded.
        HarnessError: the one-line error of `harness run`: an unknown key, benchmark or model, a
            row that does not match its schema, an unavailable sandbox.
        KeyboardInterrupt: the user interrupted, or `solution_fn` raised it; graded samples are
            kept if `out` is given.
    """
    asked = EvaluateArguments.of(solution_fn, split, limit, benchmark, model, efficiency, keys)
    evaluation = _Evaluation(asked, out, observer, progress)
    prepared = evaluation.prepare(lambda problems: run(partial(evaluation.vet, problems)))
    return run(partial(evaluation.carry_out, prepared))


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
    """Async version of `evaluate`; runs coroutine functions in the same loop.

    The name follows `aevaluate` in LangSmith and Ragas, and `ainvoke`, `acompletion` elsewhere.
    """
    asked = EvaluateArguments.of(solution_fn, split, limit, benchmark, model, efficiency, keys)
    evaluation = _Evaluation(asked, out, observer, progress)
    loop = asyncio.get_running_loop()
    vetting = list[Future[tuple[Problem, ...]]]()

    def vet(problems: Sequence[Problem]) -> tuple[Problem, ...]:
        vetting.append(asyncio.run_coroutine_threadsafe(evaluation.vet(problems), loop))
        return vetting[-1].result()

    try:
        prepared = await asyncio.to_thread(evaluation.prepare, vet)
    except asyncio.CancelledError:
        for each in vetting:
            each.cancel()
        raise
    try:
        return await evaluation.carry_out(prepared)
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


class _Evaluation:
    """One call of `evaluate`."""

    def __init__(
        self,
        asked: EvaluateArguments,
        out: str | Path | None,
        observer: Told | None,
        progress: bool | None,
    ) -> None:
        check_observer(observer)
        self._asked = asked
        self._given = given_path(out)
        self._out = None if self._given is None else self._given.absolute()
        watch = watched(observer, progress=progress, run=self._given)
        self._controller = RunController(LOG, watch)

    @python_words("evaluate()")
    def prepare(self, vet: Vet) -> Prepared:
        """Load the problems and check the settings before any request is sent."""
        asked, out = self._asked, self._out
        before: Mapping[str, Any] | None = None
        if out is not None and (out / MANIFEST).exists():
            before = read_manifest(out)

        def load(_name: str) -> Loaded:
            return read(asked.benchmark, asked.spec)

        own = asked.own_model
        if before is None or out is None:
            prepared = self._controller.new(asked.spec, read=load, vet=vet, own_model=own)
        else:
            prepared = self._controller.further(
                out, asked.spec, before, read=load, vet=vet, own_model=own
            )
            if not prepared.samples:
                samples = count(len(prepared.plan.samples), "sample")
                LOG.notice(
                    printable_line(f"{self._given}: {samples}, all of them done; nothing is asked")
                )
        self._controller.remark(prepared)
        return prepared

    async def vet(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        """Check public tests that were parsed from problem statements."""
        spec = self._asked.spec
        choice = isolate(LOG, spec.require_isolation, unsafe=spec.unsafe_no_sandbox)
        return await vetted(problems, spec.where, choice.isolation)

    async def carry_out(self, prepared: Prepared) -> Evaluation:
        """Run the pending samples and return the result."""
        with ExitStack() as stack:
            path = self._out or Path(stack.enter_context(TemporaryDirectory(prefix="harness-")))
            outcome = await self._controller.run(prepared, path)
            summary, failures = outcome.summary, outcome.failures
            if self._controller.interrupts:
                raise KeyboardInterrupt(summary.stopped.cause if summary.stopped else "")
            stopped = summary.stopped
            if stopped is not None:
                words = f"the run stopped ({stopped.reason}): {stopped.cause}"
                if not summary.graded:
                    raise EvaluationError(printable_line(f"no sample is graded; {words}"))
                LOG.notice(printable_line(words))
            if failures and not summary.graded:
                raise EvaluationError(
                    f"none of {len(failures)} samples could be graded; {failures[0].sample}: "
                    f"{printable_line(failures[0].cause)}"
                )
            done = read_run(path)
            if self._given is None:
                done = replace(done, path=Path(f"evaluation of {prepared.plan.model_name}"))
            elif self._given.absolute() == path:  # else the code has changed the directory
                done = replace(done, path=self._given)
            return Evaluation(done, summary, failures, kept=self._out is not None)
