"""`harness.experiment`: run a grid of variants and rank them, as `harness experiment` does."""

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Unpack, cast

from harness.agent.attempt import StopReason
from harness.errors import RunDirectoryError, UsageError
from harness.features.experiment.experiment_file import experiment_at
from harness.features.experiment.grid_run import GridRun, in_batches
from harness.features.experiment.ranking import rank
from harness.features.experiment.request import ExperimentRequest
from harness.features.experiment.run_parts import CarryOut
from harness.features.experiment.runs_folder import locked
from harness.features.experiment.stopping_goal import check_pair, goal_of
from harness.features.experiment.variant_runs import VariantRuns
from harness.features.experiment.variants import Variant
from harness.features.experiment.view import ExperimentResult
from harness.features.observers.attach import Watcher
from harness.features.observers.observer_events import (
    Observed,
    RunEnded,
    RunStarted,
    Watching,
    watched,
)
from harness.figures import count
from harness.models.protocol import Model
from harness.models.user_code import name_of_code
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import PreparedRun, Read
from harness.run.engine.outcome import Outcome
from harness.run.observer import RunObserver, Watch
from harness.run.plan.budget import Budget
from harness.run.plan.languages import taken_by_all
from harness.run.plan.plan import Plan
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, Reporter, log
from harness.run.session.sync import run as run_async
from harness.run.settings.keys import VariantKeys
from harness.run.settings.python_arguments import names_of, path_of
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.run.settings.spec import RunSpec
from harness.run.settings.unknown_keys import refuse_unknown
from harness.run.store.directory import RunDirectory, check_writable
from harness.text import printable_line

OneModel = str | Model | Callable[[dict[str, Any]], Any] | Mapping[str, Any]
"""A model's name, the user's own model or function, or a name with settings, as in YAML."""
OWN = (
    *("models", "benchmark", "modes", "prompts", "shots", "vary", "stop_when_decided", "level"),
    *("precision", "config", "out", "resume", "progress"),
)


@listing(VariantKeys)
@python_words("experiment()", mode="modes", prompt="prompts")
def experiment(
    models: OneModel | Sequence[OneModel] | None = None,
    benchmark: Benchmark | None = None,
    *,
    modes: str | Sequence[str] | None = None,
    prompts: str | Sequence[str] | None = None,
    shots: int | Literal["auto"] | None = None,
    vary: Mapping[str, Any] | None = None,
    stop_when_decided: bool = False,
    level: float | None = None,
    precision: float | None = None,
    config: str | Path | None = None,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    progress: bool | None = None,
    **keys: Unpack[VariantKeys],
) -> ExperimentResult:
    """Compare ways to solve the same problems: an agent with single shots, model with model.

    The variants are all combinations of models, modes, prompts and varied settings.

    Args:
        models: names of models, or your own functions or model objects, as `evaluate` takes them.
            An object stays open; a class is made anew for each part of a variant. All calls share
            one event loop.
        benchmark: `NAME[:WHERE]`, loaded problems, or rows.
        modes: strategies. Default: `single_shot` and `agentic`.
        prompts: bundled prompt sets, or folders with one.
        shots: samples of a problem in single shot, or `auto` for as many as the agent's spend
            buys. Default: `auto` where there is another mode.
        vary: variants for each value of a setting: `{"reasoning_effort": ["low", "high"]}`.
        stop_when_decided: ask problems in a random order, both variants of each, and stop once they
            differ. For two variants.
        level: chance to see a difference where there is none. Default: 0.05.
        precision: stop once the interval of the difference is narrower than this, in points.
        config: a grid as a YAML file; only a budget may be given beside it.
        out: the experiment's directory; one that is there goes on. Default: a new one in `runs/`,
            or with the file's name.
        resume: directory of an experiment to go on with. Give your own models and problems again.
        progress: whether to show progress on stderr; by default only on a terminal.
        keys: settings of all variants, as for `evaluate`: `max_cost=5`, `max_turns=20`.

    Raises:
        HarnessError: the one-line error of `harness experiment`: an unknown setting, benchmark or
            model, a malformed row, an unavailable sandbox, a directory with another experiment.
        KeyboardInterrupt: the user interrupted; the same call with `out`, or `resume`, goes on.
    """
    refuse_unknown(keys, {*VariantKeys.__annotations__, *OWN}, "experiment()")
    for name, each in (("stop_when_decided", stop_when_decided), ("progress", progress)):
        if each not in {None, True, False}:
            raise UsageError(f"experiment(): {name} is {each!r}; give True or False")
    config, out, resume = (
        None if path is None else path_of("experiment()", name, path)
        for name, path in (("config", config), ("out", out), ("resume", resume))
    )
    names, own = _models(models)
    given = None if benchmark is None else checked(benchmark)
    settings: dict[str, Any] = dict(keys)
    if given is not None and (resume is None or isinstance(given, str)):
        settings["benchmark"] = name_of(given)
    lists = {
        "models": None if resume is not None and len(own) == len(names or ()) else names,
        "modes": None if modes is None else names_of("experiment()", "modes", modes),
        "prompts": None if prompts is None else names_of("experiment()", "prompts", prompts),
        "shots": shots,
        "vary": vary,
    }
    if vary is not None and not isinstance(cast("object", vary), Mapping):
        raise UsageError("experiment(): vary: give values by setting, as {'max_turns': [10, 20]}")
    asked = ExperimentRequest.of(
        settings,
        {key: each for key, each in lists.items() if each is not None},
        goal_of(decided=stop_when_decided, level=level, precision=precision, say=str),
        config=config,
        out=out,
        resume=resume,
        say=str,
    )
    lost = own.keys() - {variant.spec.model for variant in asked.grid.variants}
    if lost:
        raise UsageError(f"experiment(): no variant of {asked.path} has the model {min(lost)}")

    def reader(spec: RunSpec) -> Read:
        return lambda where: read(where if given is None else given, spec)

    watch = watched(None, progress=progress, of_variant=True)
    call = ExperimentRun(asked, LOG, watch, log.info, own=own, reader=reader)
    call.announce = call.controller.remark
    call.prepare()
    them = "" if isinstance(given, str | None) and not own else ", with your models and problems"
    interrupted = False
    try:
        run_async(call.carry_out_in_loop)
    except KeyboardInterrupt:
        interrupted = True
    if interrupted or call.controller.interrupts:
        raise KeyboardInterrupt(f"interrupted; go on with: {asked.again()}{them}")
    for line in call.remarks():
        LOG.notice(printable_line(line + them))
    return ExperimentResult.model_construct(**dict(rank(asked.path)))


def _models(given: object) -> tuple[list[Any] | None, dict[str, object]]:
    """Return the models' names, None for the default, and the user's own models by name."""
    if given is None:
        return None, {}
    several = cast("list[object]", [*given] if isinstance(given, list | tuple) else [given])
    own: dict[str, object] = {}
    for each in several:
        if isinstance(each, str | Mapping):
            continue
        if not callable(each) and not hasattr(each, "generate"):
            raise UsageError(
                f"experiment(): a {type(each).__name__} is not a model; give names, functions of a "
                "problem, or objects with the methods of a Model; problems go to benchmark="
            )
        name = name_of_code(each)
        if name in own:
            raise UsageError(
                f"experiment(): two models have the name {name}; give each a name of its own, "
                "as a function by def"
            )
        own[name] = each
    return [
        each if isinstance(each, str | Mapping) else name_of_code(each) for each in several
    ], own


def _passed(variants: Sequence[Variant], kept: Sequence[frozenset[str]]) -> tuple[Variant, ...]:
    """Return variants without found settings that their runs have passed over."""
    return tuple(
        variant._replace(spec=variant.spec.without_found(variant.spec.found - found))
        for variant, found in zip(variants, kept, strict=True)
    )


class ExperimentRun:
    """One call of `harness experiment` or `harness.experiment`.

    Args:
        asked: which experiment, and when it may stop early.
        reporter: shows notices, and the progress of loading and checking.
        watch: makes the observer of each part of a variant.
        tell: called with each line on the progress.
        watchers: receive the events of all runs.
        own, reader: as in `VariantRuns`; default: none, and the controller's.

    Attributes:
        announce: called with each variant's run before it starts.
    """

    def __init__(
        self,
        asked: ExperimentRequest,
        reporter: Reporter,
        watch: Watch,
        tell: Callable[[str], None],
        *,
        watchers: Sequence[Watcher] = (),
        own: Mapping[str, object] | None = None,
        reader: Callable[[RunSpec], Read] | None = None,
    ) -> None:
        self.watchers = list(watchers)
        self.controller = RunController(reporter, self._shown)
        self.announce = self.controller.announce
        languages = {variant.spec.language for variant in asked.grid.variants}
        read = reader or self.controller.reader
        if len(languages) > 1:
            read = taken_by_all(read, languages, reporter.notice)
        self.runs = VariantRuns(asked.path, self.controller, own or {}, read)
        self.experiment = experiment_at(asked.path, asked.grid)
        check_pair(asked.goal, len(self.experiment.variants), asked.say)
        self._asked, self._watch, self._tell = asked, watch, tell

    def prepare(self) -> Mapping[str, PreparedRun]:
        """Prepare every variant, so that mistakes are found before anything costs."""
        if not self.controller.dry_run:
            check_writable(self.experiment.path, "an experiment")
        prepared = self.runs.prepare(self.experiment.variants)
        kept = [prepared[each.name].plan.spec.found for each in self.experiment.variants]
        grid = self._asked.grid._replace(variants=_passed(self._asked.grid.variants, kept))
        self._asked = self._asked._replace(grid=grid)
        variants = _passed(self.experiment.variants, kept)
        self.experiment = self.experiment._replace(variants=variants)
        return prepared

    async def carry_out_in_loop(self) -> None:
        """Do the same as `carry_out`; every part of a variant runs in the running loop."""
        loop = asyncio.get_running_loop()
        parts: list[asyncio.Task[Outcome]] = []
        stopping = False

        async def part(prepared: PreparedRun, path: Path, budget: Budget) -> Outcome:
            if stopping:
                raise asyncio.CancelledError
            parts.append(asyncio.ensure_future(self.controller.run(prepared, path, budget)))
            return await parts[-1]

        def carry_out(prepared: PreparedRun, path: Path, budget: Budget) -> Outcome:
            return asyncio.run_coroutine_threadsafe(part(prepared, path, budget), loop).result()

        work = asyncio.ensure_future(asyncio.to_thread(self.carry_out, carry_out))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            stopping = True
            for each in parts:
                each.cancel()
            await asyncio.wait([work])
            raise

    def carry_out(self, carry_out: CarryOut) -> None:
        """Run the pending samples of all variants.

        Args:
            carry_out: runs part of a variant.

        Raises:
            RunDirectoryError: another process is at work on the experiment, or has changed it.
            StorageError: a write to disk failed.
        """
        asked, experiment, runs = self._asked, self.experiment, self.runs
        if in_batches(experiment.variants, asked.goal):  # runs proceed in parts
            self.watchers[:] = cast("list[Watcher]", [*map(WholeRuns, self.watchers)])
        with locked(asked.path, "experiment"):
            if experiment_at(asked.path, asked.grid) != experiment:
                raise RunDirectoryError(
                    f"{asked.path} has just been changed by another process; try again"
                )
            experiment.write()
            runs.count_spending()
            grid_run = GridRun(
                experiment,
                runs,
                asked.goal,
                run_part=carry_out,
                announce=self.announce,
                tell=self._tell,
            )
            self._tell(
                f"{count(len(experiment.variants), 'variant')}, "
                f"{count(grid_run.pending, 'sample')} pending, baseline {experiment.baseline}"
            )
            try:
                grid_run.carry_out()
            finally:
                runs.close()

    def remarks(self) -> Iterator[str]:
        """Yield why the experiment is not complete, and how it goes on."""
        asked, budget, failed = self._asked, self.runs.budget, self.runs.failed
        if self.controller.interrupts:
            yield f"interrupted; go on with: {asked.again()}"
            return
        if budget is not None and budget.turned_away:
            by_tokens = budget.turned_away is StopReason.TOKEN_LIMIT
            key = "max_tokens_total" if by_tokens else "max_cost"
            more = f"go on with: {asked.again(**{key: 'MORE'})}"
            more = more if budget.can_be_raised else f"start anew without {asked.say(key)}"
            yield f"{asked.say(key)} {budget.ending('problem')}; {more}"
        if failed:
            pending = f"{count(failed, 'sample')} pending in {asked.path}"
            why = f" ({self.runs.cause})" if self.runs.cause and asked.say is str else ""
            yield f"{pending}{why}; try again with: {asked.again()}"

    @contextmanager
    def _shown(self, plan: Plan, directory: RunDirectory) -> Generator[RunObserver]:
        """Show a part of a variant: by a table on a terminal, by lines elsewhere."""
        with self._watch(plan, directory) as shown:
            yield Watching(shown, self.watchers, directory.path)


class WholeRuns:
    """Forwards events to a watcher, with one start and one end per run.

    Ends are forwarded on `close`, when the experiment ends.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._begun: set[str] = set()
        self._ended: dict[str, RunEnded] = {}

    def tell(self, event: Observed) -> None:
        """Forward an event now, or on `close` if it is an end."""
        match event:
            case RunStarted():
                if event.run in self._begun:
                    return
                self._begun.add(event.run)
            case RunEnded():
                self._ended[event.run] = event
                return
            case _:
                pass
        self._watcher.tell(event)

    def close(self, until: float) -> str | None:
        """Forward the ends, then wait as `Watcher.close` does."""
        for event in self._ended.values():
            self._watcher.tell(event)
        self._ended.clear()
        return self._watcher.close(until)
