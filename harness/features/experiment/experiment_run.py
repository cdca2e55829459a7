"""Run the grid of `harness experiment` on one budget and print the ranking."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

from pydantic_core import to_json
from rich.console import Console

from harness.agent.attempt import StopReason
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, RunDirectoryError
from harness.features.experiment.cell_runs import CellRuns
from harness.features.experiment.experiment_file import Experiment, experiment_at, locked
from harness.features.experiment.grid_run import GridRun, in_order
from harness.features.experiment.invocation import Invocation, check_pair, spelt
from harness.features.experiment.live_panel import Arm, ExperimentPanel
from harness.features.experiment.ranking import Ranking, rank
from harness.features.experiment.view import Foretold, grid_view, last_screen, total_cost
from harness.features.observers.attach import taking_leave, with_watchers
from harness.features.observers.observer_events import Observed, RunEnded, RunStarted
from harness.features.observers.thread import Watcher
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import Prepared
from harness.run.observer import RunObserver
from harness.run.plan.estimate import estimate
from harness.run.plan.plan import Plan
from harness.run.plan.target import PREFIX
from harness.run.store.directory import RunDirectory
from harness.terminal.progress import TerminalReporter
from harness.terminal.run_progress import run_progress
from harness.terminal.summary_table import console, write_json
from harness.text import count, printable_line, quantity


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


class Experimenting:
    """One invocation of `harness experiment`."""

    def __init__(self, *, as_json: bool, watchers: Sequence[Watcher] = ()) -> None:
        self.as_json = as_json
        self.out = console()
        self.err = console(error=True)
        self.watchers = list(watchers)  # changed in place by `start`
        reporter = TerminalReporter(self.err)
        self.panel: ExperimentPanel | None = None
        watch = with_watchers(self.watchers, self.err, self._shown)
        self.controller = RunController(reporter, watch)

    def start(self, asked: Invocation, *, dry_run: bool = False) -> int:
        """Start or resume an experiment; return the exit code.

        Args:
            asked: which experiment, and when it may stop early.
            dry_run: only print the cells and an estimate of their cost.

        Raises:
            HarnessError: a cell cannot be run, or the directory holds another experiment.
        """
        grid, path, goal = asked.grid, asked.path, asked.goal
        experiment = experiment_at(path, grid)
        check_pair(goal, len(experiment.cells))
        self.controller.dry_run = dry_run
        runs = CellRuns(self.controller)
        prepared = runs.prepare(experiment)
        if dry_run:
            self._foretell(experiment, prepared)
            runs.close()
            return OK
        if goal.stops or experiment.auto_shots:  # runs proceed in parts
            whole = [WholeRuns(watcher) for watcher in self.watchers]
            self.watchers[:] = cast("list[Watcher]", whole)
        with locked(path):
            if experiment_at(path, grid) != experiment:
                raise RunDirectoryError(
                    f"{path} has just been changed by another process; try again"
                )
            experiment.write()
            with taking_leave(self.watchers, self.err):
                code = self._carry_out(experiment, runs, asked)
        print_ranking(self.out, rank(path), as_json=self.as_json)
        return code

    def _shown(self, plan: Plan, directory: RunDirectory) -> AbstractContextManager[RunObserver]:
        """Return what shows a part of a cell: the panel on a terminal, lines elsewhere."""
        watch = self.panel.watch if self.panel else run_progress(self.err)
        return watch(plan, directory)

    def _panel(self, experiment: Experiment, runs: CellRuns) -> ExperimentPanel | None:
        """Return the live panel; None where there is no terminal to show it on."""
        if not self.err.is_terminal or self.err.is_dumb_terminal:
            return None
        plans = [(cell, runs.plans[cell.name]) for cell in in_order(experiment)]
        arms = [
            Arm(cell.name, len(plan.samples), cell.spec.samples_per_problem) for cell, plan in plans
        ]
        spec, problems = plans[0][0].spec, len(plans[0][1].problems)
        heading = f"experiment   {count(len(arms), 'cell')} x {count(problems, 'problem')}"
        if spec.max_cost is not None:
            heading += f", budget ${spec.max_cost:,.2f}"
        elif spec.max_tokens_total is not None:
            heading += f", budget {quantity(spec.max_tokens_total)} tokens"
        return ExperimentPanel(self.err, heading, arms, experiment.baseline)

    def _carry_out(self, experiment: Experiment, runs: CellRuns, asked: Invocation) -> int:
        """Run the pending samples of all cells; return the exit code."""
        left = sum(len(runs.left(experiment, cell, None).samples) for cell in experiment.cells)
        self.err.print(
            f"{count(len(experiment.cells), 'cell')}, {count(left, 'sample')} left to do, "
            f"baseline {experiment.baseline}"
        )
        runs.count_spending(experiment)
        self.panel = self._panel(experiment, runs)
        grid_run = GridRun(
            experiment, runs, asked.goal, self.controller, self.err, panel=self.panel
        )
        try:
            with self.panel or nullcontext():
                grid_run.carry_out()
        finally:
            runs.close()
        return self._conclude(grid_run, runs, asked)

    def _conclude(self, grid_run: GridRun, runs: CellRuns, asked: Invocation) -> int:
        """Print how to resume an unfinished experiment; return the exit code."""
        experiment, budget, failed = grid_run.experiment, runs.budget, runs.failed
        if self.controller.interrupts:
            self.err.print(f"interrupted; go on with: {asked.again()}", soft_wrap=True)
            return INTERRUPTED
        if budget is not None and budget.turned_away:
            by_tokens = budget.turned_away is StopReason.TOKEN_LIMIT
            flag = "max_tokens_total" if by_tokens else "max_cost"
            is_reached = "is reached" if budget.reached else "is too low for another sample"
            self.err.print(
                f"{spelt(flag)} {is_reached}: {budget.state}; go on with: "
                f"{asked.again(**{flag: 'MORE'})}",
                soft_wrap=True,
            )
        if failed:
            self.err.print(
                f"{count(failed, 'sample')} pending in {experiment.path}; try again with: "
                f"{asked.again()}",
                soft_wrap=True,
            )
            return INFRASTRUCTURE
        return OK

    def _foretell(self, experiment: Experiment, prepared: Mapping[str, Prepared]) -> None:
        """Print the cells and an estimate of their cost, without writing files."""
        cells = [_foretold(name, each) for name, each in prepared.items()]
        if not self.as_json:
            self.out.print(grid_view(cells, experiment.baseline))
            if experiment.auto_shots:
                self.out.print(
                    "single shot gets as many samples as the other mode's spend buys; "
                    "here is what the first takes"
                )
            return
        told = [
            {"name": cell.name, "samples": cell.samples, "requests": cell.requests}
            | {"tokens": cell.tokens, "cost": cell.cost}
            for cell in cells
        ]
        value: dict[str, Any] = {
            "baseline": experiment.baseline,
            "cells": told,
            "cost": total_cost(cells),
        }
        if experiment.auto_shots:
            value["auto_shots"] = sorted(experiment.auto_shots)
        write_json(self.out, [to_json(value).decode()])


def print_ranking(out: Console, ranking: Ranking, *, as_json: bool) -> None:
    """Print the answer and where the experiment is, or all of it as one JSON object."""
    if as_json:
        write_json(out, [ranking.model_dump_json()])
        return
    out.print(last_screen(ranking), crop=False)
    out.print(f"experiment directory: {printable_line(ranking.experiment)}", soft_wrap=True)


def _foretold(name: str, prepared: Prepared) -> Foretold:
    plan, samples = prepared.plan, prepared.samples
    played = plan.model_name.startswith(PREFIX)
    return Foretold(name, len(samples), None if played else estimate(plan, samples))
