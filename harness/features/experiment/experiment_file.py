"""`experiment.json`: the variants of a grid by name, beside their run directories.

An experiment may grow by variants, problems and samples. Existing names never change.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field
from pydantic_core import to_json

from harness.errors import RunDirectoryError, UsageError
from harness.features.experiment.decision import Decision
from harness.features.experiment.runs_folder import read_contents, refuse_used, write_contents
from harness.features.experiment.variants import (
    Grid,
    Variant,
    grown_from,
    is_name,
    with_known_shots,
)
from harness.frozen import Frozen
from harness.run.settings.spec import stored
from harness.run.store.directory import EXPERIMENT
from harness.version import __version__

FILE = EXPERIMENT
SCHEMA = 2


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

    schema_version: int = Field(alias="schema", ge=SCHEMA, le=SCHEMA)
    harness: str
    created: str
    hash: str
    baseline: str
    variants: dict[str, dict[str, Any]] = Field(min_length=1)
    auto_shots: tuple[str, ...] = ()
    decision: Decision | None = None


class Experiment(NamedTuple):
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

    @property
    def following(self) -> list[Variant]:
        """The variants that get as many samples as another variant's spend pays for."""
        return [variant for variant in self.variants if variant.name in self.auto_shots]

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
        write_contents(self.path / FILE, value)


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
    else:
        refuse_used(path / FILE, "an experiment")
        variants = grid.variants
    auto = (
        now.name
        for asked, now in zip(grid.variants, variants, strict=True)
        if asked.name in grid.auto_shots
    )
    return Experiment(path, variants, _baseline(grid, variants), created, frozenset(auto))


def read_experiment(path: Path) -> Stored:
    """Read `experiment.json`.

    Raises:
        RunDirectoryError: the file is missing or invalid, or was changed by hand.
    """
    file = path / FILE
    stored_file = read_contents(file, Stored, "an experiment")
    wrong = next((name for name in stored_file.variants if not is_name(name)), None)
    if wrong is not None:
        raise RunDirectoryError(f"{file}: {wrong[:100]!r} is not a name of a variant")
    if (
        stored_file.hash != grid_hash(stored_file.variants, stored_file.baseline)
        or stored_file.baseline not in stored_file.variants
    ):
        raise RunDirectoryError(f"{file} was changed by hand; put it back, or give another --out")
    return stored_file


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
    matching = [variant.name for variant in variants if _has(stored(variant.spec), wanted)]
    if len(matching) != 1:
        which = (
            f"{len(matching)} variants match: {', '.join(matching[:3])}"
            if matching
            else "no variant matches"
        )
        raise UsageError(
            f"{grid.path}: baseline: {which}; give the name of one of {', '.join(names[:10])}"
        )
    return matching[0]


def _has(spec: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(spec[key] == value for key, value in wanted.items())
