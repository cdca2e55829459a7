"""`evaluate`: run a model or a Python function over the problems of a benchmark."""

# pyright: reportMissingTypeStubs=false

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from rich.console import Group, RenderableType
from rich.text import Text

from harness.errors import HarnessError
from harness.features.evaluate.evaluate_arguments import (
    EvaluateArguments,
    SolutionFunction,
    given_path,
)
from harness.features.observers.observer_events import Told, check_observer, watched
from harness.figures import count
from harness.models.protocol import Model
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import PreparedRun
from harness.run.observer import Failure
from harness.run.plan.problem_loader import Benchmark, read
from harness.run.reporter import LOG
from harness.run.session.sync import first_of, run
from harness.run.settings.keys import RunKeys
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.run.store.directory import MANIFEST, read_manifest
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run, samples_frame
from harness.run.summary.summary import Summary
from harness.sources.files.rows import Loaded
from harness.stats.rates import Rate
from harness.terminal.notebook import NotebookView
from harness.terminal.run_screen import run_screen
from harness.text import printable_line

if TYPE_CHECKING:
    import pandas as pd


class Evaluation(NotebookView, Mapping[str, Any]):
    """Result of `evaluate`: a mapping of figures, with samples and summary.

    The keys are `pass_at_1` and `beyond_at_1` (between 0 and 1; NaN without usable samples), their
    95 % intervals `pass_at_1_ci95` and `beyond_at_1_ci95` (low, high), `beyond_at_1_passed` over
    passed samples only, `percentile` (0 to 100), `problems`, `samples`, `graded`, `pending`
    (ungraded samples, left out of all rates), `verdicts` (count of each), `tokens` and `cost` (US
    dollars; None if unknown), `model`, and `run` (the directory; None if none was kept).

    Attributes:
        run: the loaded run, as comparisons and reports use it.
        path: the run directory; None if none was kept.
        summary: all figures, as in `harness run --json`.
        failures: samples not graded because infrastructure failed, with the cause.
    """

    def __init__(
        self, run: Run, summary: Summary, failures: Sequence[Failure], *, kept: bool
    ) -> None:
        self.run = run
        self.path = run.path if kept else None
        self.summary = summary
        self.failures = tuple(failures)

    @property
    def results(self) -> tuple[SampleResult, ...]:
        """The graded samples, in the order in which they ended."""
        return self.run.results

    @property
    def pass_at_1(self) -> float:
        """The share of problems solved; NaN if none is graded."""
        return _value(self.summary.pass_at_1)

    @property
    def beyond_at_1(self) -> float:
        """Beyond@1 where references tell fast from slow; NaN without such problems."""
        return FIGURES["beyond_at_1"](self)

    def __getitem__(self, key: str) -> Any:
        return FIGURES[key](self)

    def __iter__(self) -> Iterator[str]:
        return iter(FIGURES)

    def __len__(self) -> int:
        return len(FIGURES)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per sample: problem, verdict, tokens, cost (US dollars), seconds."""
        return samples_frame(self.run)

    def view(self) -> RenderableType:
        """Show the last screen of `harness run`, and why samples are pending."""
        shown = run_screen(self.run, self.summary)
        if not self.failures:
            return shown
        first = self.failures[0]
        lines = f"{count(len(self.failures), 'sample')} pending, the first because: {first.cause}"
        return Group(shown, Text(printable_line(lines)))

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {self['model']}: pass@1 {self.pass_at_1:.4f}, "
            f"{self['graded']} of {self['samples']} samples graded>"
        )


def _value(rate: Rate | None) -> float:
    return math.nan if rate is None else rate.value


def _ends(rate: Rate | None) -> tuple[float, float]:
    return (math.nan, math.nan) if rate is None else (rate.low, rate.high)


def _timed(name: str) -> Callable[[Evaluation], Rate | None]:
    def rate(each: Evaluation) -> Rate | None:
        return getattr(each.summary.efficiency, name, None)

    return rate


FIGURES: Mapping[str, Callable[[Evaluation], Any]] = {
    "pass_at_1": lambda each: _value(each.summary.pass_at_1),
    "pass_at_1_ci95": lambda each: _ends(each.summary.pass_at_1),
    "beyond_at_1": lambda each: _value(_timed("beyond")(each)),
    "beyond_at_1_ci95": lambda each: _ends(_timed("beyond")(each)),
    "beyond_at_1_passed": lambda each: _value(_timed("beyond_passed")(each)),
    "percentile": lambda each: 100 * _value(_timed("percentile")(each)),
    "problems": lambda each: each.summary.problems,
    "samples": lambda each: each.summary.planned,
    "graded": lambda each: each.summary.graded,
    "pending": lambda each: sum(each.summary.pending.values()),
    "verdicts": lambda each: dict(each.summary.verdicts),
    "tokens": lambda each: None if each.summary.usage_unknown else each.summary.usage.total_tokens,
    "cost": lambda each: each.summary.cost,
    "model": lambda each: each.run.spec["model"],
    "run": lambda each: each.path,
}


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
    prepared = evaluation.prepare()
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
    prepared = await asyncio.to_thread(evaluation.prepare)
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
    def prepare(self) -> PreparedRun:
        """Load the problems and check the settings before any request is sent."""
        asked, out = self._asked, self._out

        def load(_name: str) -> Loaded:
            return read(asked.benchmark, asked.spec)

        own = asked.own_model
        if out is None or not (out / MANIFEST).exists():
            prepared = self._controller.new(asked.spec, read=load, own_model=own)
        else:
            before = read_manifest(out)
            prepared = self._controller.further(out, asked.spec, before, read=load, own_model=own)
            if not prepared.samples:
                samples = count(len(prepared.plan.samples), "sample")
                LOG.notice(
                    printable_line(f"{self._given}: {samples}, all of them done; nothing is asked")
                )
        self._controller.remark(prepared)
        return prepared

    async def carry_out(self, prepared: PreparedRun) -> Evaluation:
        """Run the pending samples and return the result."""
        with ExitStack() as stack:
            path = self._out or Path(stack.enter_context(TemporaryDirectory(prefix="harness-")))
            outcome = await self._controller.run(prepared, path)
            summary, failures = outcome.summary, outcome.failures
            if self._controller.interrupts:
                raise KeyboardInterrupt(summary.stopped.cause if summary.stopped else "")
            stopped, measured = summary.stopped, summary.measured
            if stopped is not None:
                message = f"the run stopped ({stopped.reason}): {stopped.cause}"
                if not measured:
                    raise EvaluationError(printable_line(f"no sample is graded; {message}"))
                LOG.notice(printable_line(message))
            if outcome.failed and not measured:
                first = ": ".join(outcome.failed[0])
                cause = f"{failures[0].sample}: {failures[0].cause}" if failures else first
                raise EvaluationError(
                    f"none of {len(outcome.failed)} samples could be graded; "
                    f"{printable_line(cause)}"
                )
            done = read_run(path)
            if self._given is None:
                done = replace(done, path=Path(f"evaluation of {prepared.plan.model_name}"))
            elif self._given.absolute() == path:  # else the code has changed the directory
                done = replace(done, path=self._given)
            return Evaluation(done, summary, failures, kept=self._out is not None)
