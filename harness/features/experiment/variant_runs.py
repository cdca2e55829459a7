"""Prepare the runs of an experiment's variants, run them in parts on one budget, read them."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from harness.agent.attempt import StopReason
from harness.errors import UsageError
from harness.features.experiment.run_parts import (
    CarryOut,
    carry_out_part,
    close_models,
    first_failure,
    prepare_part,
)
from harness.features.experiment.variants import Variant
from harness.models.protocol import Model
from harness.models.replay import ReplayModel
from harness.models.user_code import UserModel, model_of
from harness.problem import Problem
from harness.run.engine.controller import RunController
from harness.run.engine.earlier_spending import budget_of
from harness.run.engine.lifecycle import PreparedRun, Read
from harness.run.engine.outcome import Outcome, sum_up
from harness.run.plan.budget import NOTHING, ROUNDING, Budget, Total
from harness.run.plan.plan import Plan
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.pending import NOT_NEEDED
from harness.run.store.results import SampleResult
from harness.run.store.transcript import sample_name
from harness.run.summary.loaded_run import Run, read_run
from harness.run.summary.summary import Stopped
from harness.sources.files.rows import Loaded
from harness.text import printable_line


@dataclass(slots=True)
class VariantRuns:
    """The runs of all variants. A variant may run in several parts.

    Args:
        path: the experiment's directory.
        controller: prepares the runs.
        own: models that are objects of the user, by name.
        reader: returns a function that loads problems.

    Attributes:
        plans: the latest plan of each variant.
        failed: number of samples that failed in this invocation because of infrastructure.
        cause: which sample failed first, and why.
        budget: budget of the latest part; None before the first.
    """

    path: Path
    controller: RunController
    own: Mapping[str, object]
    reader: Callable[[RunSpec], Read]
    plans: dict[str, Plan] = field(default_factory=dict[str, Plan])
    failed: int = 0
    cause: str = ""
    budget: Budget | None = None
    _loaded: dict[str, Loaded] = field(default_factory=dict[str, Loaded])
    _ready: dict[str, PreparedRun] = field(default_factory=dict[str, PreparedRun])
    _spent: dict[str, Total] = field(default_factory=dict[str, Total])
    _tried: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def prepare(self, variants: Iterable[Variant]) -> Mapping[str, PreparedRun]:
        """Prepare every variant, so that mistakes are found before anything costs.

        All variants have the same problems, which are loaded once.

        Raises:
            HarnessError: see `harness.run.plan.plan.prepare`.
        """
        for variant in variants:
            self._ready[variant.name] = self._prepared(variant)
        return self._ready

    def count_spending(self) -> None:
        """Read what each variant has spent so far of the budget."""
        for name, each in self._ready.items():
            if each.before is not None:
                self._spent[name] = budget_of(each.plan, self.path / name).spent

    def close(self) -> None:
        """Close the models of variants that were prepared but not started."""
        close_models(self._ready.values())
        self._ready.clear()

    @property
    def problems(self) -> list[str]:
        """Ids of the problems, which all variants have in common."""
        return [problem.id for problem in next(iter(self.plans.values())).problems]

    @property
    def is_limited(self) -> bool:
        """Whether the experiment has a budget."""
        specs = [plan.spec for plan in self.plans.values()]
        return any(spec.max_cost or spec.max_tokens_total for spec in specs)

    def room(self, problems: int) -> float:
        """Return how many further problems the budget can pay for in all variants.

        Args:
            problems: number of problems done in all of them; if none is, the answer is 1.
        """
        if not problems:
            return 1.0
        spec, spent = next(iter(self.plans.values())).spec, sum(self._spent.values(), NOTHING)
        limits = (spec.max_cost, spent.cost), (spec.max_tokens_total, spent.tokens)
        return min(
            (
                (limit - used) * (1 + ROUNDING) / (used / problems)
                for limit, used in limits
                if limit and used
            ),
            default=math.inf,
        )

    def refuse(self) -> None:
        """Note that the budget is too low for another problem."""
        if self.budget is None:
            name, plan = next(iter(self.plans.items()))
            self.budget = budget_of(plan, self.path / name, self._elsewhere(name))
        limit = self.budget.allowance.cost
        self.budget.turned_away = self.budget.reached or (
            StopReason.TOKEN_LIMIT if limit is None else StopReason.COST_LIMIT
        )

    def left(
        self,
        variant: Variant,
        asked: Sequence[str] | None,
        most: Mapping[str, int] | None = None,
    ) -> PreparedRun:
        """Return a prepared variant with its pending samples, problem by problem.

        Args:
            variant: the variant with its current settings.
            asked: ids of the problems to run, in order; None for all. If given, samples that failed
                in this invocation are not tried again.
            most: how many samples of each problem to run, problems without a sample first; default:
                all.
        """
        prepared = self._ready.get(variant.name)
        if (
            prepared is None
            or prepared.plan.spec.samples_per_problem != variant.spec.samples_per_problem
        ):
            if prepared is not None:
                close_models([self._ready.pop(variant.name)])
            prepared = self._ready[variant.name] = self._prepared(variant)
        if asked is None:
            return prepared
        place = {problem: number for number, problem in enumerate(asked)}
        samples = [
            (problem, index)
            for problem, index in prepared.samples
            if problem.id in place
            and (variant.name, sample_name(problem.id, index)) not in self._tried
        ]
        samples.sort(key=lambda each: (place[each[0].id], each[1]))
        if most is not None:
            samples = _at_most(samples, most)
        return prepared._replace(samples=samples)

    def carry_out(self, variant: Variant, prepared: PreparedRun, carry_out: CarryOut) -> Outcome:
        """Run some samples of a variant; other variants' spending counts in the budget."""
        elsewhere = self._elsewhere(variant.name)
        self._ready.pop(variant.name, None)
        outcome = carry_out_part(prepared, self.path / variant.name, elsewhere, carry_out)
        self.budget = outcome.budget
        self._spent[variant.name] = outcome.budget.spent - elsewhere
        self._tried |= {
            (variant.name, sample_name(each.id, index)) for each, index in prepared.samples
        }
        pending = sum(outcome.summary.pending.values())
        self.failed += pending if outcome.stopped_by_provider else len(outcome.failed)
        if outcome.failures and not self.cause:
            self.cause = printable_line(f"{variant.name}, {first_failure(outcome)}")
        return outcome

    def _elsewhere(self, name: str) -> Total:
        """Return what all variants but one have spent."""
        return sum((each for other, each in self._spent.items() if other != name), NOTHING)

    def recorded(self, variant: Variant) -> int | None:
        """Return how many samples per problem are recorded; None if a model is used."""
        model = self.plans[variant.name].model
        if not isinstance(model, ReplayModel):
            return None
        return model.most_samples(problem.id for problem in self.plans[variant.name].problems)

    def _prepared(self, variant: Variant) -> PreparedRun:
        spec = variant.spec
        thing = self.own.get(str(spec.model))
        own = None if thing is None else _own_model(str(spec.model), thing)

        def read(where: str) -> Loaded:
            if where not in self._loaded:
                self._loaded[where] = self.reader(spec)(where)
            return self._loaded[where]

        try:
            prepared = prepare_part(self.controller, self.path / variant.name, spec, read, own)
        except UsageError as error:
            raise UsageError(f"variant {variant.name}: {error}") from error
        self.plans[variant.name] = prepared.plan
        return prepared


def _at_most(
    samples: Sequence[tuple[Problem, int]], most: Mapping[str, int]
) -> list[tuple[Problem, int]]:
    """Return the first samples of each problem, those of problems without any sample first."""
    taken: Counter[str] = Counter()
    kept: list[tuple[Problem, int]] = []
    for problem, index in samples:
        if taken[problem.id] < most.get(problem.id, 0):
            taken[problem.id] += 1
            kept.append((problem, index))
    new = {problem.id for problem, index in kept if not index}
    return sorted(kept, key=lambda each: each[0].id not in new)


class _OpenModel(UserModel):
    """The user's model object, which several variants may use; it stays open."""

    async def close(self) -> None:
        """Leave it open: it is the user's to close."""


def _own_model(name: str, thing: object) -> Model:
    """Return the model of a user's object; a class is made anew. Raises UsageError."""
    model = model_of(name, thing)
    is_shared = isinstance(model, UserModel) and not isinstance(thing, type)
    return _OpenModel(name, cast("Model", thing)) if is_shared else model


def run_of(path: Path) -> Run | None:
    """Return the run of a variant; None if not started."""
    return read_run(path) if (path / MANIFEST).exists() else None


def results_of(path: Path) -> Collection[SampleResult]:
    """Return the graded samples of a variant with costs; none if not started."""
    run = run_of(path)
    return run.results if run else ()


def keep_as_not_needed(path: Path, plan: Plan, cause: str, *, ends: bool = True) -> None:
    """Record in a run that its pending samples are not needed, and why.

    Args:
        path: the run directory.
        plan: the run's plan.
        cause: why they are not needed.
        ends: whether that ended the run early.
    """
    if not (path / MANIFEST).exists():
        return
    directory = RunDirectory.resume(path)
    try:
        manifest = read_manifest(path)
        if len(directory.committed()) < len(plan.samples):
            directory.write_manifest({**manifest, NOT_NEEDED: cause})
            sum_up(directory, plan, Stopped(reason="decided", cause=cause) if ends else None)
    finally:
        directory.close()
