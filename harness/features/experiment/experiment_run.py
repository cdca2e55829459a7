"""How `harness experiment` carries a grid out: cell by cell, on one budget."""

import asyncio
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json
from rich.console import Console

from harness.agent.attempt import StopReason
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, RunDirectoryError, UsageError
from harness.features.experiment.experiment_file import Experiment, experiment_at, locked
from harness.features.experiment.grid import Cell, read_grid
from harness.features.experiment.ranking import Ranking, rank
from harness.features.experiment.view import Foretold, RankingView, grid_view, total_cost
from harness.features.observers.attach import taking_leave, with_watchers
from harness.features.observers.thread import Watcher
from harness.models.protocol import Model
from harness.problem import Problem
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import Prepared, Read, Vet, budget_of
from harness.run.plan.budget import NOTHING, Budget, Total
from harness.run.plan.estimate import estimate
from harness.run.plan.recordings import PREFIX
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import MANIFEST, read_manifest
from harness.run.store.transcripts import FOLDER
from harness.sources.files.rows import Loaded
from harness.terminal.summary_table import console, write_json
from harness.terminal.terminal_reporter import TerminalReporter
from harness.text import count, percent, printable_line


class Experimenting:
    """One invocation of `harness experiment`."""

    def __init__(self, *, as_json: bool, watchers: Sequence[Watcher] = ()) -> None:
        self.as_json = as_json
        self.out = console()
        self.err = console(error=True)
        self.watchers = watchers
        reporter = TerminalReporter(self.err)
        self.controller = RunController(reporter, with_watchers(watchers, self.err))

    def start(
        self, config: Path, flags: Mapping[str, Any], *, out: Path | None, dry_run: bool
    ) -> int:
        """The experiment of a grid's file, begun or gone on with; returns the exit code."""
        path = out or Path("runs") / config.stem
        grid = read_grid(config, flags, os.environ)
        experiment = experiment_at(path, grid)
        self.controller.dry_run = dry_run
        prepared = self._prepare(experiment)
        if dry_run:
            self._foretell(experiment, prepared)
            return OK
        with locked(path):
            if experiment_at(path, grid) != experiment:
                raise RunDirectoryError(
                    f"{path} has just been changed by another process; try again"
                )
            experiment.write()
            with taking_leave(self.watchers, self.err):
                code = self._carry_out(experiment, prepared, _Command(config, out, flags))
        print_ranking(self.out, rank(path), as_json=self.as_json)
        return code

    def _prepare(self, experiment: Experiment) -> dict[str, Prepared]:
        """Every cell, so that what is wrong with the last one is found before the first is paid.

        All have the same problems, which are loaded and checked once.
        """
        once = _Once(self.controller)
        prepared: dict[str, Prepared] = {}
        for cell in experiment.cells:
            path = experiment.run(cell)
            try:
                if (path / MANIFEST).exists():
                    before = read_manifest(path)
                    found = self.controller.further(
                        path, cell.spec, before, read=once.read(cell.spec), vet=once.vet(cell.spec)
                    )
                else:
                    read, vet = once.read(cell.spec), once.vet(cell.spec)
                    found = self.controller.new(cell.spec, read=read, vet=vet)
            except UsageError as error:
                raise UsageError(f"cell {cell.name}: {error}") from error
            prepared[cell.name] = found
        return prepared

    def _carry_out(
        self, experiment: Experiment, prepared: Mapping[str, Prepared], command: "_Command"
    ) -> int:
        """Cell by cell, until all are done, the budget is spent or the user interrupts."""
        left = sum(len(each.samples) for each in prepared.values())
        self.err.print(
            f"{count(len(experiment.cells), 'cell')}, {count(left, 'sample')} left to do, "
            f"baseline {experiment.baseline}"
        )
        spent = {
            cell.name: _spent(prepared[cell.name], experiment.run(cell))
            for cell in experiment.cells
        }
        pending = 0
        budget: Budget | None = None
        waiting = {name: each.plan.model for name, each in prepared.items()}
        try:
            for number, cell in enumerate(experiment.cells, 1):
                self.err.print(f"cell {number} of {len(experiment.cells)}: {cell.name}")
                others = (each for name, each in spent.items() if name != cell.name)
                elsewhere = sum(others, NOTHING)
                del waiting[cell.name]
                failed, budget = self._cell(experiment, cell, prepared[cell.name], elsewhere)
                spent[cell.name] = budget.spent - elsewhere
                pending += failed
                if self.controller.interrupts or budget.turned_away:
                    break
        finally:
            asyncio.run(_close(waiting.values()))
        return self._conclude(experiment, pending, budget, command)

    def _cell(
        self, experiment: Experiment, cell: Cell, prepared: Prepared, elsewhere: Total
    ) -> tuple[int, Budget]:
        """One cell to its end; how many samples failed, and what was spent."""
        path = experiment.run(cell)
        self.controller.announce(prepared)
        budget = budget_of(prepared.plan, path, elsewhere)
        _clear_unbegun(path)
        outcome = self.controller.carry_out(_without_budget(prepared), path, budget)
        rate = outcome.summary.pass_at_1
        if prepared.samples and rate is not None:
            self.err.print(f"{cell.name}: pass@1 {percent(rate.value)}")
        if outcome.stopped_by_provider:
            self.err.print(
                printable_line(f"{cell.name}: {outcome.stopped_by_provider}"), soft_wrap=True
            )
            return sum(outcome.summary.pending.values()), budget
        return len(outcome.failures), budget

    def _conclude(
        self, experiment: Experiment, failed: int, budget: Budget | None, command: "_Command"
    ) -> int:
        """Say how it goes on, where it is not done; returns the exit code."""
        if self.controller.interrupts:
            self.err.print(f"interrupted; go on with: {command.again()}", soft_wrap=True)
            return INTERRUPTED
        if budget is not None and budget.turned_away:
            by_tokens = budget.turned_away is StopReason.TOKEN_LIMIT
            flag = "max_tokens_total" if by_tokens else "max_cost"
            is_reached = "is reached" if budget.reached else "is too low for another sample"
            self.err.print(
                f"{_spelt(flag)} {is_reached}: {budget.state}; go on with: "
                f"{command.again(**{flag: 'MORE'})}",
                soft_wrap=True,
            )
        if failed:
            self.err.print(
                f"{count(failed, 'sample')} pending in {experiment.path}; try again with: "
                f"{command.again()}",
                soft_wrap=True,
            )
            return INFRASTRUCTURE
        return OK

    def _foretell(self, experiment: Experiment, prepared: Mapping[str, Prepared]) -> None:
        """The cells, and what they may ask for and cost; nothing is asked or written."""
        cells = [_foretold(name, each) for name, each in prepared.items()]
        asyncio.run(_close([each.plan.model for each in prepared.values()]))
        if not self.as_json:
            self.out.print(grid_view(cells, experiment.baseline))
            return
        told = [
            {"name": cell.name, "samples": cell.samples, "requests": cell.requests}
            | {"tokens": cell.tokens, "cost": cell.cost}
            for cell in cells
        ]
        value = {"baseline": experiment.baseline, "cells": told, "cost": total_cost(cells)}
        write_json(self.out, [to_json(value).decode()])


@dataclass(frozen=True)
class _Command:
    """What the user has given, to be told how it goes on."""

    config: Path
    out: Path | None
    flags: Mapping[str, Any]

    def again(self, **flags: Any) -> str:
        """The same command, perhaps with another budget."""
        words = ["harness", "experiment", "-c", str(self.config)]
        words += ["--out", str(self.out)] if self.out else []
        for name, value in {**self.flags, **flags}.items():
            words += [_spelt(name), str(value)]
        return shlex.join(words)


def _spelt(flag: str) -> str:
    return f"--{flag.replace('_', '-')}"


class _Once:
    """What the cells have in common, done once: problems are loaded, and their examples checked."""

    def __init__(self, controller: RunController) -> None:
        self._controller = controller
        self._loaded: dict[str, Loaded] = {}
        self._vetted: dict[tuple[str, ...], tuple[Problem, ...]] = {}

    def read(self, spec: RunSpec) -> Read:
        def read(where: str) -> Loaded:
            if where not in self._loaded:
                self._loaded[where] = self._controller.reader(spec)(where)
            return self._loaded[where]

        return read

    def vet(self, spec: RunSpec) -> Vet:
        def vet(problems: Sequence[Problem]) -> tuple[Problem, ...]:
            key = tuple(problem.content_hash for problem in problems)
            if key not in self._vetted:
                check = self._controller.vetter(spec, spec.require_isolation)
                self._vetted[key] = check(problems)
            return self._vetted[key]

        return vet


def print_ranking(out: Console, ranking: Ranking, *, as_json: bool) -> None:
    """The table and where the experiment is, or all of it as one JSON object."""
    if as_json:
        write_json(out, [ranking.model_dump_json()])
        return
    out.print(RankingView(ranking))
    out.print(f"experiment directory: {printable_line(ranking.experiment)}", soft_wrap=True)


def _foretold(name: str, prepared: Prepared) -> Foretold:
    plan, samples = prepared.plan, prepared.samples
    played = plan.model_name.startswith(PREFIX)
    return Foretold(name, len(samples), None if played else estimate(plan, samples))


def _spent(prepared: Prepared, path: Path) -> Total:
    """What a cell spent before, of what is limited."""
    return NOTHING if prepared.before is None else budget_of(prepared.plan, path).spent


def _without_budget(prepared: Prepared) -> Prepared:
    """The same run, to be kept without the budget, which is the whole grid's."""
    spec = prepared.plan.spec.model_copy(update={"max_cost": None, "max_tokens_total": None})
    return replace(prepared, plan=replace(prepared.plan, spec=spec))


def _clear_unbegun(path: Path) -> None:
    """Remove what is left where a crash met a cell before it had begun."""
    if path.is_dir() and not (path / MANIFEST).exists():
        (path / f".{MANIFEST}.draft").unlink(missing_ok=True)
        if (path / FOLDER).is_dir() and not any((path / FOLDER).iterdir()):
            (path / FOLDER).rmdir()


async def _close(models: Iterable[Model]) -> None:
    for model in models:
        await model.close()
