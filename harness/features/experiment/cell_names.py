"""Names of a grid's cells, used as names of their directories."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, cast

from harness.errors import UsageError
from harness.run.spec.spec import RunSpec, uses

LONGEST = 100
LONGEST_PART = 40
MAIN = ("model", "mode", "prompt", "samples_per_problem")
SILENT = frozenset({"price", "prices", "max_cost", "max_tokens_total"})
"""Keys that do not distinguish cells."""

_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._+-]{{0,{LONGEST - 1}}}\Z")
_RESERVED = frozenset({"experiment.json"})


def is_name(name: object) -> bool:
    """Return whether a cell name is valid: a file name that needs no quotes."""
    return isinstance(name, str) and bool(_NAME.match(name)) and name not in _RESERVED


def check_name(name: object, where: str) -> None:
    """Refuse an invalid cell name. Raises UsageError."""
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
    taken: Iterable[str] = (),
) -> list[str]:
    """Name each cell after the settings that differ between cells.

    Args:
        specs: stored specs of all cells.
        given: existing names of the cells; None to make one.
        varied: keys whose value appears in the name even if it is the default.
        taken: names that may not be used.
    """
    keys = [*MAIN, *(key for key in RunSpec.model_fields if key not in MAIN)]
    told = [key for key in keys if key not in SILENT and _differs(key, specs)]
    told = _needed(told, specs, varied) or MAIN[:3]
    used = {*taken, *_RESERVED, *(name for name in given if name is not None)}
    names: list[str] = []
    for spec, own in zip(specs, given, strict=True):
        name = own or _free(_name(spec, told, varied), used)
        used.add(name)
        names.append(name)
    return names


def _differs(key: str, specs: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a key has several values among the cells whose mode uses it."""
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
            words = cast("list[Any]", value) if isinstance(value, list) else [value]
            text = "-".join("default" if word is None else str(word) for word in words)
            return f"{key}-{_word(text)}"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:LONGEST_PART]


def _free(name: str, used: set[str]) -> str:
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name[: LONGEST - 5]}-{number}"
    return free
