"""Arguments of `harness experiment`: the grid, its directory, when to stop."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.features.experiment.decision import Goal
from harness.features.experiment.experiment_file import read_experiment
from harness.features.experiment.grid import AXES, Cell, Grid, grid_of, read_grid
from harness.features.experiment.shots import MOST, SINGLE_SHOT
from harness.run.spec.spec import RESUMABLE, known_keys, spec_of
from harness.run.store.directory import default_path
from harness.stats.sequential import LEVEL

WHERE = "harness experiment"
MODES = (SINGLE_SHOT, "agentic")
AUTO = "auto"
BUDGET = frozenset({"max_cost", "max_tokens_total"})


def grid_from_flags(
    flags: Mapping[str, Any],
    *,
    models: Sequence[str] = (),
    modes: Sequence[str] = (),
    prompts: Sequence[str] = (),
    shots: str | None = None,
    vary: Sequence[str] = (),
    environ: Mapping[str, str],
) -> Grid:
    """Build the grid of all combinations of models, modes, prompts and varied keys.

    Args:
        flags: settings of all cells, by key of a run.
        models: names of models; the default model if empty.
        modes: modes; single shot and agentic if empty.
        prompts: prompt sets; the default set if empty.
        shots: samples per problem in single shot: a number, or `auto` for as many as the other
            mode's spend pays for. Default: `auto` if there is another mode, else 1.
        vary: `KEY=A,B` for each further key.
        environ: environment variables, which may hold the model's name.

    Raises:
        UsageError: a flag has an invalid value; the message states what to give.
    """
    modes = sorted(dict.fromkeys(modes or MODES), key=lambda mode: mode != SINGLE_SHOT)
    values = {**flags, "modes": modes}
    values |= {"models": list(models)} if models else {}
    values |= {"prompts": list(prompts)} if prompts else {}
    varied = _varied(vary)
    if varied:
        values["vary"] = varied
    grid = grid_of(values, WHERE, flags, environ)
    number = _shots(shots, modes)
    of_shots = {cell.name for cell in grid.cells if cell.spec.mode == SINGLE_SHOT}
    auto = frozenset(of_shots) if number is None else frozenset[str]()
    cells = [_with_shots(cell, number or 1) for cell in grid.cells]
    return replace(grid, cells=tuple(cells), auto_shots=auto)


def grid_on_disk(path: Path, flags: Mapping[str, Any]) -> Grid:
    """Return the grid of an experiment to resume.

    Args:
        path: the experiment's directory.
        flags: a new budget, or other settings that may change when a run is resumed.

    Raises:
        RunDirectoryError: the directory is not an experiment.
        UsageError: a flag cannot be changed on resume.
    """
    fixed = sorted(set(flags) - RESUMABLE - BUDGET)
    if fixed:
        raise UsageError(
            f"--resume takes the experiment's own settings; --{fixed[0].replace('_', '-')} would "
            "make it another experiment"
        )
    found = read_experiment(path)
    cells = [
        Cell(name, True, spec_of({**known_keys(spec), **flags}, str(path), flags))
        for name, spec in found.cells.items()
    ]
    auto = frozenset(found.auto_shots)
    return Grid(path, tuple(cells), found.baseline, auto_shots=auto)


def _varied(given: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each key of `--vary KEY=A,B`."""
    varied: dict[str, list[str]] = {}
    for text in given:
        key, equals, values = text.partition("=")
        key = key.strip().replace("-", "_")
        words = [word.strip() for word in values.split(",")]
        if not equals or not key or not all(words):
            raise UsageError(f"--vary {text[:100]}: give KEY=A,B, as reasoning_effort=low,high")
        if key in AXES.values() or key in AXES:
            flag = {"samples_per_problem": "shots", "samples": "shots"}.get(key, key.rstrip("s"))
            raise UsageError(f"--vary {key}: give --{flag} instead, or a YAML file with -c")
        if key in varied:
            raise UsageError(f"--vary {key} is given twice; give all its values once")
        varied[key] = words
    return varied


def _shots(given: str | None, modes: Sequence[str]) -> int | None:
    """Return the number of single shots; None for `auto`. Raises UsageError."""
    others = [mode for mode in modes if mode != SINGLE_SHOT]
    if SINGLE_SHOT not in modes:
        if given is not None:
            raise UsageError(f"--shots goes with --mode {SINGLE_SHOT}, and no cell has that")
        return 1
    if given is None:
        return None if others else 1
    if given == AUTO:
        if not others:
            raise UsageError("--shots auto follows the spend of another mode, and none is given")
        return None
    if not given.isdecimal() or not 1 <= int(given) <= MOST:
        raise UsageError(f"--shots {given[:100]}: give auto, or a number from 1 to {MOST}")
    return int(given)


def _with_shots(cell: Cell, shots: int) -> Cell:
    if cell.spec.mode != SINGLE_SHOT:
        return cell
    spec = cell.spec.model_copy(update={"samples_per_problem": shots})
    return replace(cell, spec=spec)


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
