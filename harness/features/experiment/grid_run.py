"""Run an experiment in batches of problems, so that an early end leaves whole problems."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.agent.strategies.modes import mode_named
from harness.features.compare.spend import equal_spend_gains
from harness.features.experiment.decision import Decision, Question, Reason, look, scores
from harness.features.experiment.equal_shots import MOST_SHOTS, Wanted, agents_of, shots_wanted
from harness.features.experiment.experiment_file import Experiment
from harness.features.experiment.run_parts import CarryOut
from harness.features.experiment.stopping_goal import Goal, reason_to_stop
from harness.features.experiment.variant_runs import (
    VariantRuns,
    keep_as_not_needed,
    results_of,
    run_of,
)
from harness.features.experiment.variants import SAMPLES, Variant
from harness.figures import count, percent
from harness.run.engine.lifecycle import PreparedRun
from harness.run.settings.spec import stored
from harness.run.store.results import SampleResult
from harness.stats.sequential import Evidence
from harness.text import printable_line

FIRST = 8
"""Fewest problems of a batch, after the first ones."""

EARLY_GROWTH = 4
"""How many times larger than the one before an early batch is.

The first batch is one problem, so that an end soon after the start leaves a problem that all
variants have done. Few requests are in flight in such batches, so there are few of them.
"""

GROWTH, GROWTH_WITHOUT_LOOKS = 0.1, 0.25
"""Smallest size of a later batch, as a share of the problems run before: where each batch may be
the last, and where only an interrupt ends the experiment.

So at most this share of problems is run in excess, or left without its shots; 500 problems take
about 30 looks.
"""

ROUNDS = 10
"""Most times that shots are bought for one batch: later ones may be cheaper than the first."""

UNITS = {"cost": "costs as much", "tokens": "takes as many tokens", "calls": "takes as many calls"}
ENOUGH_SHOTS = "shots beyond what the agent spends"


def random_order(problems: Iterable[str], seed: int) -> list[str]:
    """Return problem ids in a random order.

    The order depends only on the seed and each problem's id. Adding problems does not reorder the
    others, so an experiment can grow.
    """
    return sorted(problems, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())


def batches(
    order: Sequence[str],
    concurrency: int,
    growth: float = GROWTH,
    room: Callable[[Sequence[str]], int] = len,
) -> Iterator[Sequence[str]]:
    """Yield the problems up to each interim look, including those of earlier looks.

    The first batch is one problem, so that an early end leaves problems that all variants have
    done; the next ones grow until they keep the requests busy.

    Args:
        order: all problems, in order.
        concurrency: number of requests in flight, which a later batch must keep busy.
        growth: smallest size of a later batch, as a share of the problems before.
        room: returns how many of the next problems may be asked; after 0, no batch follows.
    """
    size, asked = 1, 0
    while asked < len(order) and (more := room(order[asked : asked + size])):
        asked += more
        yield order[:asked]
        size = min(EARLY_GROWTH * size, max(FIRST, concurrency, int(asked * growth)))


def in_batches(variants: Sequence[Variant], goal: Goal) -> bool:
    """Return whether problems are run in batches, each batch in all variants.

    That is so wherever an early end would leave variants without a common problem. Several variants
    that send their shots by a provider's batch API run one after the other, unless they may stop
    early or are compared with attempts: each part would wait for hours.
    """
    modes = {variant.spec.mode for variant in variants}
    compared = any(mode_named(mode).single for mode in modes) and len(modes) > 1
    by_batch_api = any(variant.spec.batch for variant in variants)
    return goal.stops or compared or (len(variants) > 1 and not by_batch_api)


@dataclass(slots=True)
class GridRun:
    """Runs an experiment whose variants are prepared.

    Args:
        experiment: the experiment.
        runs: the prepared runs of its variants.
        goal: when it may stop early.
        run_part: runs part of a variant.
        announce: called with each variant's run before it starts.
        tell: called with each line on the progress.

    Attributes:
        experiment: the experiment, updated with more shots as the agent's spend becomes known.
        decision: the outcome, if the experiment may stop early.
        begun: names of the variants that have been announced.
        stopped: names of the variants that their provider stopped.
    """

    experiment: Experiment
    runs: VariantRuns
    goal: Goal
    run_part: CarryOut
    announce: Callable[[PreparedRun], None]
    tell: Callable[[str], None]
    decision: Decision | None = None
    begun: set[str] = field(default_factory=set[str])
    stopped: set[str] = field(default_factory=set[str])

    def carry_out(self) -> None:
        """Run pending samples until all are done, enough is known, or the run must stop."""
        if not in_batches(self.experiment.variants, self.goal):
            for variant in self.experiment.variants:
                if not self._part(variant, None)[1]:
                    break
        elif not self._enough("incomplete"):
            self._ask_in_batches()
        if self.decision is not None and self.decision.reason in {"decided", "precise"}:
            for name, plan in self.runs.plans.items():
                keep_as_not_needed(self.experiment.path / name, plan, self.decision.line)
        else:
            self._leave_out_dear_shots()
        if self.goal.stops:
            self.experiment.write(self.decision)

    def _ask_in_batches(self) -> None:
        """Run batches of problems until enough is known."""
        plans = list(self.runs.plans.values())
        order = random_order(self.runs.problems, plans[0].spec.seed)
        concurrency = max(plan.spec.concurrency for plan in plans)
        growth = GROWTH if self.goal.stops else GROWTH_WITHOUT_LOOKS
        for asked in batches(order, concurrency, growth, self._affordable):
            worked, goes_on = self._ask(asked)
            last = len(asked) == len(order)
            reason: Reason = "all_done" if last and goes_on else "incomplete"
            if (worked or last or not goes_on) and self._enough(reason, told=True):
                return
            if not goes_on:
                return

    def _affordable(self, following: Sequence[str]) -> int:
        """Return how many of the next problems the budget can pay for."""
        if not self.runs.is_limited:
            return len(following)
        done = self._whole_problems()
        new = len(set(following) - done)
        room = self.runs.room(len(done))
        if new and room < 1:
            self.runs.refuse()
            return 0
        return len(following) - new + int(min(new, room))

    def _whole_problems(self) -> set[str]:
        """Return the problems that have a result in every variant."""
        done = [
            {result.problem_id for result in results_of(self.experiment.run(variant))}
            for variant in self.experiment.variants
            if variant.name not in self.stopped
        ]
        return set[str].intersection(*done) if done else set()

    def _ask(self, asked: Sequence[str]) -> tuple[bool, bool]:
        """Run problems in every variant; return whether any ran and whether to go on.

        Each problem gets a first shot before the agent is asked, so that every attempt that ends
        can be compared with a shot, and the price of a shot is known when the others are bought.
        """
        following = [variant.name for variant in self.experiment.following]
        others = [each.name for each in self.experiment.variants if each.name not in following]
        parts = [(name, self._first_shots) for name in following]
        parts += [(name, self._part) for name in others]
        parts += [(name, self._buy_shots) for name in following]
        worked = False
        for name, run_part in parts:
            if name in self.stopped:
                continue
            did, goes_on = run_part(self._variant(name), asked)
            worked = worked or did
            if not goes_on:
                return worked, False
        return worked, True

    def _variant(self, name: str) -> Variant:
        """Return a variant with its current settings: buying shots changes them."""
        return next(each for each in self.experiment.variants if each.name == name)

    def _first_shots(self, variant: Variant, asked: Sequence[str]) -> tuple[bool, bool]:
        """Run a shot of each problem that has none; return the same as `_part`."""
        done = {result.problem_id for result in results_of(self.experiment.run(variant))}
        return self._part(variant, asked, {problem: 1 for problem in asked if problem not in done})

    def _buy_shots(self, variant: Variant, asked: Sequence[str]) -> tuple[bool, bool]:
        """Run as many shots as the agent's spend buys; return the same as `_part`."""
        worked = False
        for _ in range(ROUNDS):
            done = results_of(self.experiment.run(variant))
            wanted = self._wanted(variant, done, asked).at_once(done)
            variant = self._with_shots(variant, wanted)
            did, goes_on = self._part(variant, asked, _to_buy(wanted, done))
            worked = worked or did
            if not did or not goes_on:
                return worked, goes_on
        return worked, True

    def _wanted(
        self, variant: Variant, done: Iterable[SampleResult], asked: Sequence[str]
    ) -> Wanted:
        """Return how many shots each problem is to have."""
        specs = {each.name: stored(each.spec) for each in self.experiment.variants}
        agents = [
            results_of(self.experiment.path / name)
            for name in agents_of(specs[variant.name], specs)
        ]
        recorded = self.runs.recorded(variant)
        most = MOST_SHOTS if recorded is None else max(1, min(MOST_SHOTS, recorded))
        return shots_wanted(list(done), agents, asked, most)

    def _with_shots(self, variant: Variant, wanted: Wanted) -> Variant:
        """Return the variant with room for the wanted shots, stored in the experiment."""
        if wanted.most <= variant.spec.samples_per_problem:
            return variant
        if wanted.ratio is not None:
            self.tell(
                f"{variant.name}: up to {count(wanted.most, 'shot')} a problem, as a sample of the "
                f"other mode {UNITS[wanted.unit]} as {wanted.ratio:.2f} of them"
            )
        grown = variant._replace(spec=variant.spec.model_copy(update={SAMPLES: wanted.most}))
        variants = tuple(grown if each is variant else each for each in self.experiment.variants)
        self.experiment = self.experiment._replace(variants=variants)
        self.experiment.write()
        return grown

    @property
    def pending(self) -> int:
        """Number of samples still to run, without shots beyond what the agent spends."""
        every = self.runs.problems
        return sum(
            sum(self._still_to_buy(variant, every).values())
            if variant.name in self.experiment.auto_shots
            else len(self.runs.left(variant, None).samples)
            for variant in self.experiment.variants
        )

    def _still_to_buy(self, variant: Variant, asked: Sequence[str]) -> dict[str, int]:
        done = results_of(self.experiment.run(variant))
        return _to_buy(self._wanted(variant, done, asked), done)

    def _leave_out_dear_shots(self) -> None:
        """Record that shots beyond the agent's spend are not needed, once all others are done."""
        if self.experiment.auto_shots and not self.pending:
            for variant in self.experiment.following:
                path, plan = self.experiment.run(variant), self.runs.plans[variant.name]
                keep_as_not_needed(path, plan, ENOUGH_SHOTS, ends=False)

    def _part(
        self, variant: Variant, asked: Sequence[str] | None, most: Mapping[str, int] | None = None
    ) -> tuple[bool, bool]:
        """Run part of a variant; return whether samples were pending and whether to go on.

        Args:
            variant: the variant.
            asked: ids of the problems to run, in order; None for all.
            most: how many samples of each problem to run; default: all.
        """
        prepared = self.runs.left(variant, asked, most)
        if asked is not None and not prepared.samples:
            return False, True
        if variant.name not in self.begun:
            self.begun.add(variant.name)
            number = f"{len(self.begun)} of {len(self.experiment.variants)}"
            self.tell(f"variant {number}: {variant.name}")
            self.announce(prepared)
        outcome = self.runs.carry_out(variant, prepared, self.run_part)
        rate = outcome.summary.pass_at_1
        if asked is None and prepared.samples and rate is not None:
            self.tell(f"{variant.name}: pass@1 {percent(rate.value)}")
        stopped = outcome.stopped_by_provider
        if stopped:
            self.stopped.add(variant.name)
            self.runs.controller.reporter.notice(printable_line(f"{variant.name}: {stopped}"))
        halts = self.runs.controller.interrupts or outcome.budget.turned_away
        paired = self.goal.stops or bool(self.experiment.auto_shots)
        return bool(prepared.samples), not (halts or (stopped and asked is not None and paired))

    def _enough(self, reason: Reason, *, told: bool = False) -> bool:
        """Evaluate the pairs and store the decision; return whether to stop."""
        if not self.goal.stops:
            return False
        evidence, question, problems = self._look()
        why = reason_to_stop(evidence, self.goal)
        variant, baseline = self._arms()
        plan = self.runs.plans[variant.name]
        self.decision = Decision(
            reason=why or reason,
            question=question,
            variant=variant.name,
            baseline=baseline.name,
            problems=problems,
            planned=len(plan.problems),
            **evidence._asdict(),
            level=self.goal.level,
            precision=self.goal.precision,
        )
        if told and not why and reason == "incomplete" and evidence.pairs:
            self.tell(self.decision.line)
        return why is not None

    def _look(self) -> tuple[Evidence, Question, int]:
        """Return the evidence, its question, and how many problems both variants have done.

        The question is that of the first sentence of `harness compare`: attempts against the shots
        that their spend buys, if these are known, else all samples of both.
        """
        variant, baseline = self._arms()
        runs = [run_of(self.experiment.run(each)) for each in (baseline, variant)]
        of_baseline, of_variant = (
            scores(run.results if run else (), each.spec.samples_per_problem, whole=not auto)
            for run, each in zip(runs, (baseline, variant), strict=True)
            for auto in (each.name in self.experiment.auto_shots,)
        )
        both = of_baseline.keys() & of_variant.keys()
        one, other = runs
        gains = None if one is None or other is None or not both else equal_spend_gains(one, other)
        if gains is not None:
            return look(list(gains.values()), self.goal.level), "equal_spend", len(both)
        plain = [of_variant[problem] - of_baseline[problem] for problem in sorted(both)]
        return look(plain, self.goal.level), "solved", len(both)

    def _arms(self) -> tuple[Variant, Variant]:
        """Return the variant that is compared, and the baseline."""
        variants = {variant.name: variant for variant in self.experiment.variants}
        baseline = variants.pop(self.experiment.baseline)
        (other,) = variants.values()
        return other, baseline


def _to_buy(wanted: Wanted, done: Iterable[SampleResult]) -> dict[str, int]:
    """Return how many more shots each problem is to get."""
    has = Counter(result.problem_id for result in done)
    return {problem: shots - has[problem] for problem, shots in wanted.shots.items()}
