"""Variants of an experiment: their names, which are directories, and growth of a grid on disk."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple, cast

from harness.errors import RunDirectoryError, UsageError
from harness.run.settings.spec import GROWING, RESUMABLE, RunSpec, default_of, stored, uses

OF_THE_WHOLE = frozenset(
    {*(GROWING - {"samples_per_problem"}), "benchmark", "max_cost", "max_tokens_total"}
)
"""Keys common to all variants: the selection of problems and the budget."""

LONGEST = 100
LONGEST_PART = 40
MAIN = ("model", "mode", "prompt", "samples_per_problem")
SILENT = frozenset({"price", "prices", "max_cost", "max_tokens_total"})
"""Keys that do not distinguish variants."""

_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._+-]{{0,{LONGEST - 1}}}\Z")
_RESERVED = frozenset({"experiment.json"})

SAMPLES = "samples_per_problem"

Values = dict[str, Any]
Spec = Mapping[str, Any]


class Variant(NamedTuple):
    """A variant: its name and the settings of its run.

    Attributes:
        name: the name given in the grid, or one made from the settings that differ.
        named: whether the name was given.
        spec: settings of its run; the model is resolved, and the budget is that of the whole grid.
    """

    name: str
    named: bool
    spec: RunSpec


class Grid(NamedTuple):
    """A grid as read from its file or from flags.

    Attributes:
        path: the grid's file, or a word for error messages.
        variants: the variants.
        baseline: a variant's name, or keys and values that only one variant has; None if not given.
        varied: keys listed under `vary`.
        auto_shots: names of variants that get as many samples as another variant's spend pays for.
    """

    path: Path | str
    variants: tuple[Variant, ...]
    baseline: str | Values | None = None
    varied: frozenset[str] = frozenset()
    auto_shots: frozenset[str] = frozenset()


def is_name(name: object) -> bool:
    """Return whether a variant name is valid: a file name that needs no quotes."""
    return isinstance(name, str) and bool(_NAME.match(name)) and name not in _RESERVED


def check_name(name: object, where: str) -> None:
    """Refuse an invalid variant name. Raises UsageError."""
    if not is_name(name):
        given = name[:100] if isinstance(name, str) else type(name).__name__
        raise UsageError(
            f"{where}: a name is up to {LONGEST} letters, digits and . _ + -, and begins with a "
            f"letter, digit or _ (given: {given})"
        )


def names_of(
    specs: Sequence[Mapping[str, Any]],
    given: Sequence[str | None],
    varied: frozenset[str] = frozenset(),
) -> list[str]:
    """Name each variant after the settings that differ between variants.

    Args:
        specs: stored specs of all variants.
        given: existing names of the variants; None to make one.
        varied: keys whose value appears in the name even if it is the default.
    """
    keys = [*MAIN, *(key for key in RunSpec.model_fields if key not in MAIN)]
    differing = [key for key in keys if key not in SILENT and _differs(key, specs)]
    differing = _needed(differing, specs, varied) or MAIN[:3]
    used = {*_RESERVED, *(name for name in given if name is not None)}
    names: list[str] = []
    for spec, own in zip(specs, given, strict=True):
        name = own or _free(_name(spec, differing, varied), used)
        used.add(name)
        names.append(name)
    return names


def _differs(key: str, specs: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a key has several values among the variants whose mode uses it."""
    values = [spec[key] for spec in specs if uses(spec["mode"], key)]
    return any(value != values[0] for value in values)


def _needed(
    keys: Sequence[str], specs: Sequence[Mapping[str, Any]], varied: frozenset[str]
) -> list[str]:
    """Drop keys that follow from the others, as an address follows from its model."""
    kept = list(keys)
    for key in reversed(keys):
        others = [other for other in kept if other != key]
        if key not in {*MAIN, *varied} and _kinds(others, specs) == _kinds(kept, specs):
            kept = others
    return kept


def _kinds(keys: Sequence[str], specs: Sequence[Mapping[str, Any]]) -> int:
    return len({repr([spec[key] for key in keys]) for spec in specs})


def _name(spec: Mapping[str, Any], keys: Iterable[str], varied: frozenset[str]) -> str:
    parts = [_part(key, spec[key]) for key in keys if _is_told(key, spec, varied)]
    return "+".join(part for part in parts if part)[:LONGEST].strip("+-.") or str(spec["mode"])


def _is_told(key: str, spec: Mapping[str, Any], varied: frozenset[str]) -> bool:
    if not uses(spec["mode"], key):
        return False
    usual = spec[key] == RunSpec.model_fields[key].get_default()
    return key in MAIN or key in varied or not usual


def _part(key: str, value: Any) -> str:
    match key, value:
        case "samples_per_problem", _:
            return f"k{value}"
        case "prompt", _:
            return _word(PurePath(value).name)
        case "model" | "mode", _:
            return _word(value)
        case _, bool():
            return key if value else f"no_{key}"
        case _, _:
            items = cast("list[Any]", value) if isinstance(value, list) else [value]
            text = "-".join("default" if word is None else str(word) for word in items)
            return f"{key}-{_word(text)}"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:LONGEST_PART]


def _free(name: str, used: set[str]) -> str:
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name[: LONGEST - 5]}-{number}"
    return free


def grown_from(before: Mapping[str, Spec], grid: Grid) -> tuple[Variant, ...]:
    """Return the grid's variants; existing ones keep their names.

    The selection of problems is not compared here, because each variant's run checks that none is
    lost. Settings that may change when a run is resumed distinguish variants only if one of the
    grids has several values of them.

    Args:
        before: the experiment's variants, by name.
        grid: the new grid.

    Raises:
        RunDirectoryError: a variant of the experiment is not in the grid.
    """
    now = [stored(variant.spec) for variant in grid.variants]
    keys = _telling(list(before.values()), now)
    names: dict[int, str] = {}
    for name, spec in before.items():
        index = _same(spec, now, keys, names, alone=_is_alone(spec, before.values(), keys))
        if index is None:
            raise RunDirectoryError(_lost(name, spec, now, keys))
        names[index] = name
    given = [
        names.get(index, variant.name if variant.named else None)
        for index, variant in enumerate(grid.variants)
    ]
    clash = next((name for name in given if name is not None and given.count(name) > 1), None)
    if clash is not None:
        raise RunDirectoryError(
            f"the experiment has another variant {clash}; give the new one another name"
        )
    made = names_of(now, given, grid.varied)
    return tuple(
        variant._replace(name=name) for variant, name in zip(grid.variants, made, strict=True)
    )


def with_known_shots(before: Mapping[str, Spec], grid: Grid) -> Grid:
    """Return the grid with at least the experiment's numbers of automatic shots.

    Args:
        before: the experiment's variants, by name.
        grid: the new grid.
    """
    keys = _telling(list(before.values()), [stored(variant.spec) for variant in grid.variants])
    variants: list[Variant] = []
    for variant in grid.variants:
        if variant.name not in grid.auto_shots:
            variants.append(variant)
            continue
        now = stored(variant.spec)
        known = [
            int(_value(spec, SAMPLES))
            for spec in before.values()
            if all(_value(spec, key) == now[key] for key in keys)
        ]
        shots = max([*known, variant.spec.samples_per_problem])
        spec = variant.spec.model_copy(update={SAMPLES: shots})
        variants.append(variant._replace(spec=spec))
    return grid._replace(variants=tuple(variants))


def _telling(before: Sequence[Spec], now: Sequence[Spec]) -> list[str]:
    """Return the keys that identify a variant."""
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
    """Find an earlier variant in the new grid; if alone, it may have more samples."""
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
    """Return whether no other variant differs only in the number of samples."""
    return sum(all(_value(spec, key) == _value(each, key) for key in keys) for each in others) == 1


def _lost(name: str, spec: Spec, now: Sequence[Spec], keys: Sequence[str]) -> str:
    """Return an error message: how a variant differs from the most similar one."""
    keys = [*keys, SAMPLES]
    differing = [[key for key in keys if _value(spec, key) != each[key]] for each in now]
    ranked = [(len(keys), "mode" in keys, "model" in keys) for keys in differing]
    nearest = ranked.index(min(ranked))
    key, *_ = differing[nearest] or [SAMPLES]
    return (
        f"the experiment has a variant {name} with {key} {_value(spec, key)!r}, and the grid has "
        f"no such variant: the nearest has {now[nearest][key]!r}; an experiment may grow, and "
        "nothing else: give another --out"
    )
