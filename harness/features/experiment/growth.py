"""Check that a changed grid only adds to an experiment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.errors import RunDirectoryError
from harness.features.experiment.cell_names import SILENT, names_of
from harness.features.experiment.grid import OF_THE_WHOLE, Cell, Grid
from harness.run.spec.spec import RESUMABLE, RunSpec, default_of, stored, uses

SAMPLES = "samples_per_problem"

Spec = Mapping[str, Any]


def grown_from(before: Mapping[str, Spec], grid: Grid) -> tuple[Cell, ...]:
    """Return the grid's cells; existing ones keep their names.

    The selection of problems is not compared here, because each cell's run checks that none is
    lost. Settings that may change when a run is resumed distinguish cells only if one of the grids
    has several values of them.

    Args:
        before: the experiment's cells, by name.
        grid: the new grid.

    Raises:
        RunDirectoryError: a cell of the experiment is not in the grid.
    """
    now = [stored(cell.spec) for cell in grid.cells]
    keys = _telling(list(before.values()), now)
    names: dict[int, str] = {}
    for name, spec in before.items():
        index = _same(spec, now, keys, names, alone=_is_alone(spec, before.values(), keys))
        if index is None:
            raise RunDirectoryError(_lost(name, spec, now, keys))
        names[index] = name
    given = [
        names.get(index, cell.name if cell.named else None) for index, cell in enumerate(grid.cells)
    ]
    clash = next((name for name in given if name is not None and given.count(name) > 1), None)
    if clash is not None:
        raise RunDirectoryError(
            f"the experiment has another cell {clash}; give the new one another name"
        )
    made = names_of(now, given, grid.varied)
    return tuple(replace(cell, name=name) for cell, name in zip(grid.cells, made, strict=True))


def with_known_shots(before: Mapping[str, Spec], grid: Grid) -> Grid:
    """Return the grid with at least the experiment's numbers of automatic shots.

    Args:
        before: the experiment's cells, by name.
        grid: the new grid.
    """
    keys = _telling(list(before.values()), [stored(cell.spec) for cell in grid.cells])
    cells: list[Cell] = []
    for cell in grid.cells:
        if cell.name not in grid.auto_shots:
            cells.append(cell)
            continue
        now = stored(cell.spec)
        known = [
            int(_value(spec, SAMPLES))
            for spec in before.values()
            if all(_value(spec, key) == now[key] for key in keys)
        ]
        shots = max([*known, cell.spec.samples_per_problem])
        spec = cell.spec.model_copy(update={SAMPLES: shots})
        cells.append(replace(cell, spec=spec))
    return replace(grid, cells=tuple(cells))


def _telling(before: Sequence[Spec], now: Sequence[Spec]) -> list[str]:
    """Return the keys that identify a cell."""
    keys = [key for key in RunSpec.model_fields if key not in {*OF_THE_WHOLE, *SILENT, SAMPLES}]
    return [
        key for key in keys if key not in RESUMABLE or _varies(key, before) or _varies(key, now)
    ]


def _varies(key: str, specs: Sequence[Spec]) -> bool:
    return any(_value(spec, key) != _value(specs[0], key) for spec in specs)


def _value(spec: Spec, key: str) -> Any:
    """Return a key's value, or its default if it is missing or unused."""
    default = default_of(key)
    return spec.get(key, default) if uses(spec["mode"], key) else default


def _same(
    spec: Spec, now: Sequence[Spec], keys: Sequence[str], taken: Mapping[int, str], *, alone: bool
) -> int | None:
    """Find an earlier cell in the new grid; if alone, it may have more samples."""
    alike = {
        index: int(each[SAMPLES])
        for index, each in enumerate(now)
        if index not in taken and all(_value(spec, key) == each[key] for key in keys)
    }
    samples = int(_value(spec, SAMPLES))
    exact = next((index for index, number in alike.items() if number == samples), None)
    if exact is not None or not alone:
        return exact
    more = [index for index, number in alike.items() if number > samples]
    return min(more, key=alike.__getitem__, default=None)


def _is_alone(spec: Spec, others: Iterable[Spec], keys: Sequence[str]) -> bool:
    """Return whether no other cell differs only in the number of samples."""
    return sum(all(_value(spec, key) == _value(each, key) for key in keys) for each in others) == 1


def _lost(name: str, spec: Spec, now: Sequence[Spec], keys: Sequence[str]) -> str:
    """Return an error message: how a cell differs from the most similar one."""
    keys = [*keys, SAMPLES]
    differing = [[key for key in keys if _value(spec, key) != each[key]] for each in now]
    ranked = [(len(keys), "mode" in keys, "model" in keys) for keys in differing]
    nearest = ranked.index(min(ranked))
    key, *_ = differing[nearest] or [SAMPLES]
    return (
        f"the experiment has a cell {name} with {key} {_value(spec, key)!r}, and the grid has no "
        f"such cell: the nearest has {now[nearest][key]!r}; an experiment may grow, and nothing "
        "else: give another --out"
    )
