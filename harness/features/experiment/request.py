"""The experiment to start or resume, as the command or the library asks for it."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.features.experiment.experiment_file import read_experiment
from harness.features.experiment.grid import factorial_grid, read_grid
from harness.features.experiment.stopping_goal import Goal, Say
from harness.features.experiment.variants import Grid, Variant
from harness.run.settings.given import Given
from harness.run.settings.spec import RESUMABLE, SET, flag_of, known_keys, spec_of
from harness.run.store.directory import default_path

BUDGET = frozenset({"max_cost", "max_tokens_total"})


def as_flag(key: str) -> str:
    """Return the flag of a setting, or `--set KEY` for one that has none."""
    singular = {"models": "--model", "modes": "--mode", "prompts": "--prompt", "config": "-c"}
    return singular.get(key) or flag_of(key)


def as_arguments(key: str, value: object) -> list[str]:
    """Return the arguments that give a setting a value."""
    flag = as_flag(key)
    if flag.startswith(SET):
        return [SET, f"{key}={value}"]
    return [flag] if value is True else [flag, str(value)]


class ExperimentRequest(NamedTuple):
    """The experiment to start or resume, for the command and the library.

    Attributes:
        grid: the grid.
        path: the experiment's directory.
        goal: when it may stop early.
        arguments: first arguments of the command that resumes it.
        flags: further flags of that command, by key.
        say: spells a setting as its caller does.
    """

    grid: Grid
    path: Path
    goal: Goal
    arguments: Sequence[str]
    flags: Mapping[str, Any]
    say: Say = as_flag

    @classmethod
    def of(
        cls,
        keys: Mapping[str, Any],
        lists: Mapping[str, Any],
        goal: Goal,
        *,
        config: Path | None = None,
        out: Path | None = None,
        resume: Path | None = None,
        say: Say = as_flag,
        found: Mapping[str, Any] | None = None,
    ) -> "ExperimentRequest":
        """Read the grid from lists of settings, from a file, or from an experiment on disk.

        Args:
            keys: settings of all variants.
            lists: `models`, `modes`, `prompts`, `shots` and `vary`, if given.
            goal: when the experiment may stop early.
            config: the grid's file.
            out: the experiment's directory.
            resume: directory of an experiment to resume.
            say: spells a setting, for messages.
            found: settings that were found, which all others win over.

        Raises:
            UsageError: settings cannot be combined, or a value is invalid.
            RunDirectoryError: `resume` is not an experiment.
        """
        flags = keys if say is as_flag else dict[str, Any]()
        below = Given.of(found or {})
        if config is not None:
            others = [*lists, *(set(keys) - BUDGET), *(["resume"] if resume else [])]
            _refuse("config", others, say)
            grid = read_grid(config, Given.of(keys).over(below), os.environ)
            arguments = ["-c", str(config), *(["--out", str(out)] if out else [])]
            return cls(grid, out or Path("runs") / config.stem, goal, arguments, keys, say)
        if resume is not None:
            _refuse("resume", [*lists, *(["out"] if out else [])], say)
            grid = _grid_on_disk(resume, keys, flags, say)
            return cls(grid, resume, goal, ["--resume", str(resume)], keys, say)
        where = "experiment" if say is as_flag else "experiment()"
        flags = Given.of(flags).over(below)
        keys = {**below, **keys}
        grid = factorial_grid(keys, where=where, say=say, environ=os.environ, flags=flags, **lists)
        path = out or default_path("experiment", str(grid.variants[0].spec.model))
        return cls(grid, path, goal, ["--resume", str(path)], {}, say)

    def again(self, **more: Any) -> str:
        """Return the command or call that resumes the experiment, with additional settings."""
        given = {**self.flags, **self.goal.flags, **more}
        if self.say is not as_flag:
            arguments = [f"resume={str(self.path)!r}", *(f"{key}={given[key]}" for key in given)]
            return f"experiment({', '.join(arguments)})"
        arguments = ["harness", "experiment", *self.arguments]
        for name, value in given.items():
            arguments += as_arguments(name, value)
        return shlex.join(arguments)


def _refuse(source: str, others: Sequence[str], say: Say) -> None:
    """Refuse settings that a stored grid already has. Raises UsageError."""
    for other in sorted(others):
        raise UsageError(
            f"{say(source)} brings the experiment's own settings; {say(other)} does not go with it"
        )


def _grid_on_disk(
    path: Path, settings: Mapping[str, Any], flags: Mapping[str, Any], say: Say
) -> Grid:
    """Return the grid of an experiment to resume, with a new budget or other settings.

    Raises:
        RunDirectoryError: the directory is not an experiment.
        UsageError: a setting cannot be changed on resume.
    """
    fixed = sorted(set(settings) - RESUMABLE - BUDGET)
    if fixed:
        raise UsageError(
            f"{say('resume')} takes the experiment's own settings; {say(fixed[0])} would make it "
            "another experiment"
        )
    experiment = read_experiment(path)
    variants = [
        Variant(name, True, spec_of({**known_keys(spec), **settings}, str(path), flags))
        for name, spec in experiment.variants.items()
    ]
    auto = frozenset(experiment.auto_shots)
    return Grid(path, tuple(variants), experiment.baseline, auto_shots=auto)
