"""Run an experiment cell by cell, or in batches of problems if it may stop early."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.features.experiment.cell_runs import (
    CarryOut,
    CellRuns,
    keep_as_not_needed,
    results_of,
)
from harness.features.experiment.cells import Cell
from harness.features.experiment.decision import (
    SINGLE_SHOT,
    Decision,
    Goal,
    Reason,
    affordable,
    agents_of,
    look,
    mean_spend,
    reason_to_stop,
    scores,
    whole_shots,
)
from harness.features.experiment.experiment_file import Experiment
from harness.features.experiment.live_panel import ExperimentPanel
from harness.figures import count, percent
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import Prepared
from harness.run.settings.spec import stored
from harness.stats.sequential import Evidence
from harness.text import printable_line

FIRST = 8
"""Fewest problems of a batch."""

GROWTH = 0.1
"""Smallest size of a later batch, as a share of the problems run before.

So at most this share of problems is run in excess, and 500 problems take about 30 looks.
"""


def random_order(problems: Iterable[str], seed: int) -> list[str]:
    """Return problem ids in a random order.

    The order depends only on the seed and each problem's id. Adding problems does not reorder the
    others, so an experiment can grow.
    """
    return sorted(problems, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())


def batches(order: Sequence[str], concurrency: int) -> Iterator[Sequence[str]]:
    """Yield the problems up to each interim look, including those of earlier looks.

    Args:
        order: all problems, in order.
        concurrency: number of requests in flight, which a batch must keep busy.
    """
    asked = 0
    while asked < len(order):
        asked += max(FIRST, concurrency, int(asked * GROWTH))
        yield order[:asked]


UNITS = {"cost": "costs as much", "tokens": "takes as many tokens", "calls": "takes as many calls"}


def in_order(experiment: Experiment) -> list[Cell]:
    """Return the cells as they are carried out: those that follow another's spend come last."""
    return sorted(experiment.cells, key=lambda cell: cell.name in experiment.auto_shots)


@dataclass(slots=True)
class GridRun:
    """Runs an experiment whose cells are prepared.

    Args:
        experiment: the experiment.
        runs: the prepared runs of its cells.
        goal: when it may stop early.
        controller: knows whether the user has interrupted, and reports notices.
        run_part: runs part of a cell.
        announce: called with each cell's run before it starts.
        tell: called with each line on the progress.
        panel: the live panel, if there is one.

    Attributes:
        experiment: the experiment, updated with more shots as the agent's spend becomes known.
        decision: the outcome, if the experiment may stop early.
        begun: names of the cells that have been announced.
    """

    experiment: Experiment
    runs: CellRuns
    goal: Goal
    controller: RunController
    run_part: CarryOut
    announce: Callable[[Prepared], None]
    tell: Callable[[str], None]
    panel: ExperimentPanel | None = None
    decision: Decision | None = None
    begun: set[str] = field(default_factory=set[str])

    def carry_out(self) -> None:
        """Run pending samples until all are done, enough is known, or the run must stop."""
        if not self._in_batches:
            self._ask(None)
        elif not self._enough("incomplete"):
            self._ask_in_batches()
        if self.decision is not None and self.decision.reason in {"decided", "precise"}:
            for name, plan in self.runs.plans.items():
                keep_as_not_needed(self.experiment.path / name, plan, self.decision.line)
        if self.goal.stops:
            self.experiment.write(self.decision)

    @property
    def _in_batches(self) -> bool:
        """Whether problems are run in batches, each batch in all cells.

        True if the experiment may stop early, or if a budget may end it before the last cell has
        started.
        """
        specs = [cell.spec for cell in self.experiment.cells]
        limited = any(spec.max_cost or spec.max_tokens_total for spec in specs)
        return self.goal.stops or (bool(self.experiment.auto_shots) and limited)

    def _ask_in_batches(self) -> None:
        """Run batches of problems until enough is known."""
        plans = list(self.runs.plans.values())
        order = random_order((problem.id for problem in plans[0].problems), plans[0].spec.seed)
        concurrency = max(plan.spec.concurrency for plan in plans)
        for asked in batches(order, concurrency):
            worked, goes_on = self._ask(asked)
            last = len(asked) == len(order)
            reason: Reason = "all_done" if last and goes_on else "incomplete"
            if (worked or last or not goes_on) and self._enough(reason, told=True):
                return
            if not goes_on:
                return

    def _ask(self, asked: Sequence[str] | None) -> tuple[bool, bool]:
        """Run problems in every cell; return whether any ran and whether to go on."""
        worked = False
        auto = self.experiment.auto_shots
        for cell in in_order(self.experiment):
            did, goes_on = self._part(cell, asked)
            worked = worked or did
            if not goes_on:
                return worked, False
        if self.goal.stops and self.experiment.pilot:
            return worked, True
        while more := self._more_shots():  # the later shots may be cheaper than the first
            for cell in more:
                did, goes_on = self._part(cell, asked)
                worked = worked or did
                if not goes_on:
                    return worked, False
        if self.goal.stops and auto:
            self.experiment = replace(self.experiment, pilot=tuple(asked or ()))
            self.experiment.write()
        return worked, True

    def _part(self, cell: Cell, asked: Sequence[str] | None) -> tuple[bool, bool]:
        """Run part of a cell; return whether samples were pending and whether to go on."""
        prepared = self.runs.left(self.experiment, cell, asked)
        if asked is not None and not prepared.samples:
            return False, True
        if cell.name not in self.begun:
            self.begun.add(cell.name)
            number = f"{len(self.begun)} of {len(self.experiment.cells)}"
            self.tell(f"cell {number}: {cell.name}")
            self.announce(prepared)
        outcome = self.runs.carry_out(self.experiment, cell, prepared, self.run_part)
        rate = outcome.summary.pass_at_1
        if asked is None and prepared.samples and rate is not None:
            self.tell(f"{cell.name}: pass@1 {percent(rate.value)}")
        stopped = outcome.stopped_by_provider
        if stopped:
            self.controller.reporter.notice(printable_line(f"{cell.name}: {stopped}"))
        halts = self.controller.interrupts or outcome.budget.turned_away
        return bool(prepared.samples), not (halts or (stopped and asked is not None))

    def _more_shots(self) -> list[Cell]:
        """Match the numbers of shots to the agent's spend; return changed cells."""
        grown = {
            cell.name: shots
            for cell in self.experiment.cells
            if cell.name in self.experiment.auto_shots
            and (shots := self._shots_of(cell)) > cell.spec.samples_per_problem
        }
        cells = tuple(
            replace(cell, spec=cell.spec.model_copy(update={"samples_per_problem": shots}))
            if (shots := grown.get(cell.name))
            else cell
            for cell in self.experiment.cells
        )
        if grown:
            self.experiment = replace(self.experiment, cells=cells)
            self.experiment.write()
        return [cell for cell in cells if cell.name in grown]

    def _shots_of(self, cell: Cell) -> int:
        """Return how many shots per problem equal the spend of the costliest agent cell."""
        path, now = self.experiment.path, cell.spec.samples_per_problem
        shot = mean_spend(results_of(path / cell.name))
        specs = {each.name: stored(each.spec) for each in self.experiment.cells}
        found = (mean_spend(results_of(path / name)) for name in agents_of(specs[cell.name], specs))
        agents = [spend for spend in found if spend is not None]
        if shot is None or not agents:
            return now
        ratio, unit = max(affordable(agent, shot) for agent in agents)
        shots, recorded = whole_shots(ratio), self.runs.recorded(cell)
        limited = ""
        if recorded is not None and recorded < shots:
            shots, limited = recorded, "; no more are recorded"
        if shots > now:
            self.tell(
                f"{cell.name}: {count(shots, 'shot')} a problem: a sample of the other mode "
                f"{UNITS[unit]} as {ratio:.2f} of them{limited}"
            )
        return shots

    def _enough(self, reason: Reason, *, told: bool = False) -> bool:
        """Evaluate the pairs and store the decision; return whether to stop."""
        if not self.goal.stops:
            return False
        found, problems = self._look()
        why = reason_to_stop(found, self.goal)
        cell, baseline = self._arms()
        plan = self.runs.plans[cell.name]
        self.decision = Decision(
            reason=why or reason,
            cell=cell.name,
            baseline=baseline.name,
            problems=problems,
            planned=len(plan.problems),
            **found._asdict(),
            level=self.goal.level,
            precision=self.goal.precision,
        )
        if self.panel is not None:
            self.panel.decision = self.decision
        elif told and not why and reason == "incomplete" and found.pairs:
            self.tell(
                f"{problems:,} of {count(len(plan.problems), 'problem')}: {cell.name} less "
                f"{baseline.name} {self.decision.points}, e-value {found.e_value:.3g} of "
                f"{1 / self.goal.level:g}"
            )
        return why is not None

    def _look(self) -> tuple[Evidence, int]:
        """Return the evidence of the pairs, and how many problems both cells have done."""
        arms = self._arms()
        of_cell, of_baseline = (self._scores(cell) for cell in arms)
        pairs = of_cell.keys() & of_baseline.keys()
        pilot = set(self.experiment.pilot)
        return look(of_cell, of_baseline, pilot, self.goal.level), len(pairs)

    def _scores(self, cell: Cell) -> Mapping[str, float]:
        """Return a cell's score by problem.

        Of several shots, the one chosen by public tests counts.
        """
        samples = cell.spec.samples_per_problem
        modes = {each.spec.mode for each in self.experiment.cells}
        chosen = samples > 1 and cell.spec.mode == SINGLE_SHOT and len(modes) > 1
        return scores(results_of(self.experiment.run(cell)), samples, chosen=chosen)

    def _arms(self) -> tuple[Cell, Cell]:
        """Return the cell that is compared, and the baseline."""
        cells = {cell.name: cell for cell in self.experiment.cells}
        baseline = cells.pop(self.experiment.baseline)
        (other,) = cells.values()
        return other, baseline
