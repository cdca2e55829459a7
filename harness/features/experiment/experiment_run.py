"""Run the grid of `harness experiment` on one budget and print the ranking."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic_core import to_json
from rich.console import Console

from harness.agent.attempt import StopReason
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, RunDirectoryError
from harness.features.experiment.cell_runs import CellRuns
from harness.features.experiment.experiment_file import Experiment, experiment_at, locked
from harness.features.experiment.grid_run import GridRun
from harness.features.experiment.invocation import Invocation, check_pair, spelt
from harness.features.experiment.ranking import Ranking, rank
from harness.features.experiment.run_events import WholeRuns
from harness.features.experiment.view import Foretold, RankingView, grid_view, total_cost
from harness.features.observers.attach import taking_leave, with_watchers
from harness.features.observers.thread import Watcher
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import Prepared
from harness.run.plan.estimate import estimate
from harness.run.plan.recordings import PREFIX
from harness.terminal.summary_table import console, write_json
from harness.terminal.terminal_reporter import TerminalReporter
from harness.text import count, printable_line


class Experimenting:
    """One invocation of `harness experiment`."""

    def __init__(self, *, as_json: bool, watchers: Sequence[Watcher] = ()) -> None:
        self.as_json = as_json
        self.out = console()
        self.err = console(error=True)
        self.watchers = list(watchers)  # changed in place by `start`
        reporter = TerminalReporter(self.err)
        self.controller = RunController(reporter, with_watchers(self.watchers, self.err))

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

    def _carry_out(self, experiment: Experiment, runs: CellRuns, asked: Invocation) -> int:
        """Run the pending samples of all cells; return the exit code."""
        left = sum(len(runs.left(experiment, cell, None).samples) for cell in experiment.cells)
        self.err.print(
            f"{count(len(experiment.cells), 'cell')}, {count(left, 'sample')} left to do, "
            f"baseline {experiment.baseline}"
        )
        runs.count_spending(experiment)
        grid_run = GridRun(experiment, runs, asked.goal, self.controller, self.err)
        try:
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
    """Print the ranking as a table or as one JSON object."""
    if as_json:
        write_json(out, [ranking.model_dump_json()])
        return
    out.print(RankingView(ranking))
    out.print(f"experiment directory: {printable_line(ranking.experiment)}", soft_wrap=True)


def _foretold(name: str, prepared: Prepared) -> Foretold:
    plan, samples = prepared.plan, prepared.samples
    played = plan.model_name.startswith(PREFIX)
    return Foretold(name, len(samples), None if played else estimate(plan, samples))
