"""Arguments of `harness experiment`: the grid, its directory, when to stop."""

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
"""Width in points of the widest interval, from -100 to 100."""


@dataclass(frozen=True)
class Invocation:
    """The experiment to start or resume.

    Attributes:
        grid: the grid.
        path: the experiment's directory.
        goal: when it may stop early.
        words: first arguments of the command that resumes it.
        flags: further flags of that command, by key.
    """

    grid: Grid
    path: Path
    goal: Goal
    words: Sequence[str]
    flags: Mapping[str, Any]

    def again(self, **flags: Any) -> str:
        """Return the command that resumes the experiment, with additional flags."""
        words = ["harness", "experiment", *self.words]
        for name, value in {**self.flags, **self.goal.flags, **flags}.items():
            words += [spelt(name)] if value is True else [spelt(name), str(value)]
        return shlex.join(words)


def spelt(key: str) -> str:
    """Return the flag of a key."""
    return f"--{key.replace('_', '-')}"


def goal_of(*, decided: bool, level: float | None, precision: float | None) -> Goal:
    """Check the flags for early stopping.

    Raises:
        UsageError: a value is out of range or has no effect.
    """
    if level is not None and not 0 < level < 1:
        raise UsageError(f"--level {level:g}: give a chance between 0 and 1, as 0.05")
    if precision is not None and not 0 < precision < WIDEST:
        raise UsageError(f"--precision {precision:g}: give points between 0 and {WIDEST}, as 10")
    if level is not None and not decided and precision is None:
        raise UsageError("--level goes with --stop-when-decided or --precision")
    return Goal(decided, LEVEL if level is None else level, precision)


def check_pair(goal: Goal, cells: int) -> None:
    """Refuse early stopping unless the experiment has two cells. Raises UsageError."""
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
    """Read the grid from flags, from a file, or from an experiment on disk.

    Args:
        keys: settings of all cells.
        cells: `models`, `modes`, `prompts`, `shots` and `vary`, if given.
        goal: when the experiment may stop early.
        config: the grid's file.
        out: the experiment's directory.
        resume: directory of an experiment to resume.

    Raises:
        UsageError: flags cannot be combined, or a value is invalid.
        RunDirectoryError: `resume` is not an experiment.
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
    """Refuse flags that a stored grid already sets. Raises UsageError."""
    names = {"models": "--model", "modes": "--mode", "prompts": "--prompt"}
    for other in sorted(others):
        raise UsageError(
            f"{flag} brings the experiment's own settings; {names.get(other, spelt(other))} "
            "does not go with it"
        )
