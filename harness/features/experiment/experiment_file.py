"""`experiment.json`: the variants of a grid by name, beside their run directories.

An experiment may grow by variants, problems and samples. Existing names never change.
"""

import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, ValidationError
from pydantic_core import to_json

from harness.errors import RunDirectoryError, UsageError
from harness.features.experiment.decision import Decision, Goal, Say
from harness.features.experiment.grid import factorial_grid, read_grid
from harness.features.experiment.variants import (
    Grid,
    Variant,
    grown_from,
    is_name,
    with_known_shots,
)
from harness.models.protocol import Frozen
from harness.run.settings.spec import RESUMABLE, known_keys, spec_of, stored
from harness.run.store.directory import EXPERIMENT, MANIFEST, default_path, write_json
from harness.run.store.files import read_file
from harness.run.store.results import storage_error
from harness.version import __version__

FILE = EXPERIMENT
SCHEMA = 2
"""Version that is written. Version 1, in which a variant was a cell, is read."""
MOST_BYTES = 64 << 20
BUDGET = frozenset({"max_cost", "max_tokens_total"})


class Stored(Frozen):
    """Contents of `experiment.json`.

    Attributes:
        hash: hash of the grid's variants and baseline.
        baseline: name of the baseline.
        variants: spec of each variant by name; the name is also that of its run directory beside
            the file, which exists once the variant has started.
        auto_shots: variants that get as many samples as another variant's spend pays for.
        decision: the outcome, if the experiment may stop early.
    """

    schema_version: int = Field(alias="schema", ge=1, le=SCHEMA)
    harness: str
    created: str
    hash: str
    baseline: str
    variants: dict[str, dict[str, Any]] = Field(
        min_length=1, validation_alias=AliasChoices("variants", "cells")
    )
    auto_shots: tuple[str, ...] = ()
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """A grid with its directory on disk.

    Attributes:
        path: the experiment's directory.
        variants: variants in the grid's order, with their names on disk.
        baseline: name of the baseline.
        created: time of creation; None for a new experiment.
        auto_shots: see `Stored`.
    """

    path: Path
    variants: tuple[Variant, ...]
    baseline: str
    created: str | None = None
    auto_shots: frozenset[str] = frozenset()

    def run(self, variant: Variant) -> Path:
        """Return the run directory of a variant."""
        return self.path / variant.name

    def write(self, decision: Decision | None = None) -> None:
        """Write `experiment.json`.

        Raises:
            StorageError: the disk refused a write.
        """
        variants = {variant.name: stored(variant.spec) for variant in self.variants}
        value: dict[str, Any] = {
            "schema": SCHEMA,
            "harness": __version__,
            "created": self.created or datetime.now(UTC).isoformat(timespec="seconds"),
            "hash": grid_hash(variants, self.baseline),
            "baseline": self.baseline,
            "variants": variants,
        }
        if self.auto_shots:
            value["auto_shots"] = sorted(self.auto_shots)
        if decision is not None:
            value["decision"] = decision.model_dump(mode="json")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_json(self.path / FILE, value)
        except OSError as error:
            raise storage_error(self.path / FILE, error) from error


def experiment_at(path: Path, grid: Grid) -> Experiment:
    """Return a new experiment at a directory, or the existing one, possibly grown.

    Raises:
        RunDirectoryError: the directory holds something else, or an experiment that this grid does
            not contain; the message states the difference.
        UsageError: no variant, or more than one, matches the baseline.
    """
    created = None
    if (path / FILE).exists():
        before = read_experiment(path)
        grid = with_known_shots(before.variants, grid)
        variants, created = grown_from(before.variants, grid), before.created
    elif (path / MANIFEST).exists():
        raise RunDirectoryError(f"{path} is a run, and no experiment; give another --out")
    elif path.exists() and (not path.is_dir() or _is_used(path)):
        raise RunDirectoryError(f"{path} exists and is no experiment; give another --out")
    else:
        variants = grid.variants
    auto = (
        now.name
        for asked, now in zip(grid.variants, variants, strict=True)
        if asked.name in grid.auto_shots
    )
    return Experiment(path, variants, _baseline(grid, variants), created, frozenset(auto))


def _is_used(folder: Path) -> bool:
    """Return whether a folder has files other than the draft of a crash."""
    return any(each.name != f".{FILE}.draft" for each in folder.iterdir())


def read_experiment(path: Path) -> Stored:
    """Read `experiment.json`.

    Raises:
        RunDirectoryError: the file is missing or invalid, or was changed by hand.
    """
    file = path / FILE
    try:
        found = Stored.model_validate_json(read_file(file, MOST_BYTES))
    except FileNotFoundError as error:
        raise RunDirectoryError(f"{path} is not an experiment: it has no {FILE}") from error
    except OSError as error:
        raise RunDirectoryError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise RunDirectoryError(
            f"{file} is not an experiment's, or another version's{where and f' ({where})'}"
        ) from error
    wrong = next((name for name in found.variants if not is_name(name)), None)
    if wrong is not None:
        raise RunDirectoryError(f"{file}: {wrong[:100]!r} is no name of a variant")
    if (
        found.hash != grid_hash(found.variants, found.baseline)
        or found.baseline not in found.variants
    ):
        raise RunDirectoryError(f"{file} was changed by hand; put it back, or give another --out")
    return found


def grid_hash(variants: Mapping[str, Mapping[str, Any]], baseline: str) -> str:
    """Return the SHA-256 of a grid's variants and baseline."""
    ordered = {name: dict(sorted(spec.items())) for name, spec in variants.items()}
    return hashlib.sha256(to_json([baseline, list(ordered.items())])).hexdigest()


def _baseline(grid: Grid, variants: tuple[Variant, ...]) -> str:
    """Return the name of the baseline, by default the first variant. Raises UsageError."""
    wanted, names = grid.baseline, [variant.name for variant in variants]
    if wanted is None:
        return names[0]
    if isinstance(wanted, str):
        if wanted in names:
            return wanted
        near = get_close_matches(wanted[:200], names, n=1, cutoff=0)
        raise UsageError(
            f"{grid.path}: baseline: no variant {wanted[:200]!r}; did you mean {near[0]!r}?"
        )
    found = [variant.name for variant in variants if _has(stored(variant.spec), wanted)]
    if len(found) != 1:
        which = (
            f"{len(found)} variants match: {', '.join(found[:3])}"
            if found
            else "no variant matches"
        )
        raise UsageError(
            f"{grid.path}: baseline: {which}; give the name of one of {', '.join(names[:10])}"
        )
    return found[0]


def _has(spec: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(spec[key] == value for key, value in wanted.items())


def as_flag(key: str) -> str:
    """Return the flag of a setting."""
    singular = {"models": "--model", "modes": "--mode", "prompts": "--prompt", "config": "-c"}
    return singular.get(key, f"--{key.replace('_', '-')}")


@dataclass(frozen=True)
class ExperimentRequest:
    """The experiment to start or resume, for the command and the library.

    Attributes:
        grid: the grid.
        path: the experiment's directory.
        goal: when it may stop early.
        words: first arguments of the command that resumes it.
        flags: further flags of that command, by key.
        say: spells a setting as its caller does.
    """

    grid: Grid
    path: Path
    goal: Goal
    words: Sequence[str]
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

        Raises:
            UsageError: settings cannot be combined, or a value is invalid.
            RunDirectoryError: `resume` is not an experiment.
        """
        flags = keys if say is as_flag else dict[str, Any]()
        if config is not None:
            others = [*lists, *(set(keys) - BUDGET), *(["resume"] if resume else [])]
            _refuse("config", others, say)
            grid = read_grid(config, keys, os.environ)
            words = ["-c", str(config), *(["--out", str(out)] if out else [])]
            return cls(grid, out or Path("runs") / config.stem, goal, words, keys, say)
        if resume is not None:
            _refuse("resume", [*lists, *(["out"] if out else [])], say)
            grid = _grid_on_disk(resume, keys, flags, say)
            return cls(grid, resume, goal, ["--resume", str(resume)], keys, say)
        where = "harness experiment" if say is as_flag else "experiment()"
        grid = factorial_grid(keys, where=where, say=say, environ=os.environ, flags=flags, **lists)
        path = out or default_path("experiment", str(grid.variants[0].spec.model))
        return cls(grid, path, goal, ["--resume", str(path)], {}, say)

    def again(self, **more: Any) -> str:
        """Return the command or call that resumes the experiment, with additional settings."""
        given = {**self.flags, **self.goal.flags, **more}
        if self.say is not as_flag:
            words = [f"resume={str(self.path)!r}", *(f"{key}={given[key]}" for key in given)]
            return f"experiment({', '.join(words)})"
        words = ["harness", "experiment", *self.words]
        for name, value in given.items():
            words += [as_flag(name)] if value is True else [as_flag(name), str(value)]
        return shlex.join(words)


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
    found = read_experiment(path)
    variants = [
        Variant(name, True, spec_of({**known_keys(spec), **settings}, str(path), flags))
        for name, spec in found.variants.items()
    ]
    auto = frozenset(found.auto_shots)
    return Grid(path, tuple(variants), found.baseline, auto_shots=auto)
