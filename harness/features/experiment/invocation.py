"""Read one call of `harness experiment`: the grid, its directory, when to stop."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.features.experiment.decision import Goal
from harness.features.experiment.flag_grid import BUDGET, grid_from_flags, grid_on_disk
from harness.features.experiment.grid import Grid, read_grid
from harness.run.store.directory import default_path
from harness.stats.sequential import LEVEL

PAIR = 2
WIDEST = 200
"""Points of an interval that says nothing: from -100 to 100."""


@dataclass(frozen=True)
class Invocation:
    """Which experiment is to be begun, or to go on.

    Attributes:
        path: its directory.
        goal: when it may stop early.
        words: how its command begins, where it goes on.
        flags: a budget, where that was given.
    """

    grid: Grid
    path: Path
    goal: Goal
    words: Sequence[str]
    flags: Mapping[str, Any]

    def again(self, **flags: Any) -> str:
        """The command that goes on, perhaps with another budget."""
        words = ["harness", "experiment", *self.words]
        for name, value in {**self.flags, **self.goal.flags, **flags}.items():
            words += [spelt(name)] if value is True else [spelt(name), str(value)]
        return shlex.join(words)


def spelt(key: str) -> str:
    """Return the flag of a key."""
    return f"--{key.replace('_', '-')}"


def goal_of(*, decided: bool, level: float | None, precision: float | None) -> Goal:
    """Return when an experiment may stop early.

    Raises:
        UsageError: a value is out of range, or has no effect.
    """
    if level is not None and not 0 < level < 1:
        raise UsageError(f"--level {level:g}: give a chance between 0 and 1, as 0.05")
    if precision is not None and not 0 < precision < WIDEST:
        raise UsageError(f"--precision {precision:g}: give points between 0 and {WIDEST}, as 10")
    if level is not None and not decided and precision is None:
        raise UsageError("--level goes with --stop-when-decided or --precision")
    return Goal(decided, LEVEL if level is None else level, precision)


def check_pair(goal: Goal, cells: int) -> None:
    """Refuse to stop an experiment early that has no two cells. Raises UsageError."""
    if goal.stops and cells != PAIR:
        raise UsageError(
            f"--stop-when-decided and --precision compare two cells, and this experiment has "
            f"{cells}; leave them out"
        )


def invocation(
    keys: Mapping[str, Any],
    cells: Mapping[str, Any],
    goal: Goal,
    *,
    config: Path | None,
    out: Path | None,
    resume: Path | None,
) -> Invocation:
    """Return what the flags ask for: a grid of flags, of a file, or of an experiment on disk.

    Args:
        keys: settings of a run, for all cells.
        cells: `models`, `modes`, `prompts`, `shots` and `vary`, where they were given.
        goal: when it may stop early.
        config: the grid's file.
        out: the experiment's directory.
        resume: the directory of one that goes on.

    Raises:
        UsageError: flags that do not go together, or a value that is not as it should be.
        RunDirectoryError: `resume` is no experiment.
    """
    if config is not None:
        _refuse("-c", [*cells, *(set(keys) - BUDGET), *(["resume"] if resume else [])])
        grid = read_grid(config, keys, os.environ)
        words = ["-c", str(config), *(["--out", str(out)] if out else [])]
        return Invocation(grid, out or Path("runs") / config.stem, goal, words, keys)
    if resume is not None:
        _refuse("--resume", [*cells, *(["out"] if out else [])])
        grid = grid_on_disk(resume, keys)
        return Invocation(grid, resume, goal, ["--resume", str(resume)], keys)
    grid = grid_from_flags(keys, environ=os.environ, **cells)
    path = out or default_path("experiment", str(grid.cells[0].spec.model))
    return Invocation(grid, path, goal, ["--resume", str(path)], {})


def _refuse(flag: str, others: Sequence[str]) -> None:
    """Refuse flags that the experiment's own settings leave no room for. Raises UsageError."""
    names = {"models": "--model", "modes": "--mode", "prompts": "--prompt"}
    for other in sorted(others):
        raise UsageError(
            f"{flag} brings the experiment's own settings; {names.get(other, spelt(other))} "
            "does not go with it"
        )
