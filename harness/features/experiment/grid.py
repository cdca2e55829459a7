"""A grid: a selection of problems and many configurations, each a variant.

A grid's file has keys of a run, which apply to every variant, and these keys:

    models, modes, prompts, samples    one value or a list of them
    vary                               a mapping from other keys of a run to such lists
    variants                           more variants, each a mapping of keys, perhaps with a `name`
    baseline                           the variant that the others are compared with

The variants are all combinations of the listed values, then those under `variants`. An entry of the
first four may also be a mapping that sets further keys, such as a model with its address. Keys that
a variant's mode does not use are dropped, and identical variants are merged.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

from harness.agent.strategies.modes import LOOP, SHOT
from harness.agent.strategies.strategies import find_mode
from harness.errors import UsageError
from harness.features.experiment.equal_shots import MOST_SHOTS
from harness.features.experiment.stopping_goal import Say
from harness.features.experiment.variants import (
    OF_THE_WHOLE,
    SILENT,
    Grid,
    Values,
    Variant,
    check_name,
    names_of,
)
from harness.languages import PYTHON
from harness.registry import MODES as REGISTERED
from harness.run.plan.target import resolve_target
from harness.run.settings.given import Given
from harness.run.settings.spec import (
    LISTS,
    SETTINGS,
    RunSpec,
    default_of,
    spec_of,
    stored,
    users_of,
    uses,
)
from harness.run.settings.unknown_keys import refuse_unknown
from harness.run.settings.yaml_file import read_yaml, with_underscores

MOST_VARIANTS = 1_000
AXES = {
    "models": "model",
    "modes": "mode",
    "prompts": "prompt",
    "samples": "samples_per_problem",
}
MODES = (SHOT.name, LOOP.name)
AUTO = "auto"
OWN = frozenset({*AXES, "vary", "variants", "baseline"})
"""Keys of a grid that are not keys of a run."""
FLAGS = "cpp_flags"
"""The key that only variants in C++ use."""

NOT_ALONE = frozenset({"price", "prices", "api_key_env", "header"})
"""Keys that alone do not make a different run; a model or variant may set them."""


def read_grid(path: Path, flags: Mapping[str, Any], environ: Mapping[str, str]) -> Grid:
    """Read a grid from a YAML file.

    Args:
        path: the file.
        flags: budget given on the command line; as `Given`, with settings that were found.
        environ: environment variables, which may hold the model's name and address.

    Raises:
        UsageError: the file cannot be read, a key is unknown or misplaced, or a value is out of
            range; the message names the key, and for an unknown one the most similar key.
    """
    given = Given.of(flags)
    values = read_yaml(path)
    given = given.without(given.found.intersection(values))
    return grid_of({**values, **given}, path, given, environ)


def grid_of(
    values: Values, path: Path | str, flags: Mapping[str, Any], environ: Mapping[str, str]
) -> Grid:
    """Build a grid from the contents of its file.

    Args:
        values: keys and values, as in a grid's file.
        path: the file, or a word for error messages.
        flags: flags given on the command line; as `Given`, with settings that were found.
        environ: see `read_grid`.

    Raises:
        UsageError: see `read_grid`.
    """
    refuse_unknown(values, {*RunSpec.model_fields, *OWN}, str(path))
    given = Given.of(flags)
    listed = given.found & _listed_in(values)
    given = given.without(listed)
    values = {key: value for key, value in values.items() if key not in listed}
    axes = list(_axes(values, path))
    own = [(name, _variant(each, path)) for name, each in _own_variants(values, path)]
    number = math.prod(len(axis) for axis in axes) + len(own)
    if number > MOST_VARIANTS:
        raise UsageError(f"{path}: {number:,} variants; a grid has at most {MOST_VARIANTS:,}")
    base = {key: value for key, value in values.items() if key not in OWN}
    made = list(_combined(base, axes)) if axes or not own else []
    wanted = [(None, each) for each in made]
    wanted += [(name, {**_used({**base, **each}), **each}) for name, each in own]
    common = {*base, *_vary(values, path)} - given.found
    _refuse_unheeded(common, [each for _, each in wanted], path)
    specs: list[tuple[str | None, RunSpec]] = []
    for name, each in wanted:
        own_keys = [key for key in given.found if each.get(key) != values[key]]
        spec = spec_of(each, path, given.without(own_keys))
        target = resolve_target(spec, environ)  # checks that it has an endpoint
        spec = target.without_idle(spec)
        specs.append((name, spec.model_copy(update={"model": target.name})))
    varied = frozenset(_vary(values, path))
    kept = _once(specs, path)
    names = names_of([stored(spec) for _, spec in kept], [own for own, _ in kept], varied)
    variants = (
        Variant(n, own is not None, spec) for n, (own, spec) in zip(names, kept, strict=True)
    )
    return Grid(path, tuple(variants), _baseline(values, path), varied)


def factorial_grid(
    settings: Mapping[str, Any],
    *,
    where: str,
    say: Say,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    models: Sequence[Any] | None = None,
    modes: Sequence[str] | None = None,
    prompts: Sequence[str] | None = None,
    shots: str | int | None = None,
    vary: Sequence[str] | Mapping[str, Any] = (),
) -> Grid:
    """Build the grid of all combinations of models, modes, prompts and varied keys.

    Args:
        settings: settings of all variants, by key of a run.
        where: the caller, for error messages.
        say: spells a setting, for error messages.
        environ: environment variables, which may hold the model's name.
        flags: those of the settings that are flags of the command line, or were found.
        models: names of models. Default: the default model.
        modes: modes. Default: single shot and agentic.
        prompts: prompt sets. Default: the default set.
        shots: samples per problem in single shot: a number, or `auto` for as many as the other
            mode's spend pays for. Default: `auto` if there is another mode, else 1.
        vary: the values of each further key, or texts `KEY=A,B`.

    Raises:
        UsageError: a setting has an invalid value; the message states what to give.
    """
    given = Given.of(flags)
    given = given.without(given.found & {"samples_per_problem"})  # `shots` says how many
    settings = {key: value for key, value in settings.items() if key in given or key not in flags}
    unlike = dict.fromkeys(MODES if modes is None else modes)
    modes = sorted(unlike, key=lambda mode: mode != SHOT.name)
    lists = {"models": models, "modes": modes, "prompts": prompts}
    values = {**settings, **{key: list(each) for key, each in lists.items() if each is not None}}
    if varied := _varied(vary, say):
        values["vary"] = varied
    grid = grid_of(values, where, given, environ)
    number = _shots(shots, modes, say)
    of_shots = {variant.name for variant in grid.variants if variant.spec.mode == SHOT.name}
    auto = frozenset(of_shots) if number is None else frozenset[str]()
    shots_each = {"samples_per_problem": number or 1}
    variants = (
        variant._replace(
            spec=variant.spec.model_copy(update=shots_each if variant.name in of_shots else {}),
        )
        for variant in grid.variants
    )
    return grid._replace(variants=tuple(variants), auto_shots=auto)


def _varied(given: Sequence[str] | Mapping[str, Any], say: Say) -> dict[str, list[Any]]:
    """Return the values of each varied key. Raises UsageError."""
    varied: dict[str, list[Any]] = {}
    for key, values in given.items() if isinstance(given, Mapping) else map(_read_varied, given):
        if plural := next((name for name, single in AXES.items() if key in {name, single}), None):
            meant = say("shots" if plural == "samples" else plural)
            raise UsageError(
                f"{say('vary')} {key}: give {meant} instead, or a YAML file with {say('config')}"
            )
        if key in varied:
            raise UsageError(f"{say('vary')} {key} is given twice; give all its values once")
        varied[key] = [*values] if isinstance(values, list | tuple) else [values]
    return varied


def _read_varied(text: str) -> tuple[str, list[str]]:
    """Read `KEY=A,B`. Raises UsageError."""
    key, equals, values = text.partition("=")
    key = key.strip().replace("-", "_")
    words = [word.strip() for word in values.split(",")]
    if not equals or not key or not all(words):
        raise UsageError(f"--vary {text[:100]}: give KEY=A,B, as reasoning_effort=low,high")
    return key, words


def _shots(given: str | int | None, modes: Sequence[str], say: Say) -> int | None:
    """Return the number of single shots; None for `auto`. Raises UsageError."""
    shots, word = say("shots"), str(given)
    alone = len({SHOT.name, *modes}) == 1
    if given is not None and SHOT.name not in modes:
        raise UsageError(f"{shots} goes with {say('modes')} {SHOT.name}, and no variant has that")
    if given is None:
        return 1 if alone or SHOT.name not in modes else None
    if word == AUTO:
        if alone:
            raise UsageError(f"{shots} auto follows the spend of another mode, and none is given")
        return None
    if not word.isdecimal() or not 1 <= int(word) <= MOST_SHOTS:
        raise UsageError(f"{shots} {word[:100]}: give auto, or a number from 1 to {MOST_SHOTS}")
    return int(word)


def _axes(values: Values, path: Path | str) -> Iterator[list[Values]]:
    """Yield, for each listed key, the settings of each of its entries."""
    for plural, key in AXES.items():
        if plural not in values:
            continue
        if key in values:
            raise UsageError(f"{path}: {plural} and {key} are the same thing; give one")
        yield [_entry(each, plural, key, path) for each in _listed(values[plural], plural, path)]
    for key, entries in _vary(values, path).items():
        yield [{key: each} for each in entries]


def _vary(values: Values, path: Path | str) -> dict[str, list[Any]]:
    """Return the values of each key under `vary`."""
    given = values.get("vary")
    if given is None:
        return {}
    varied = _mapping(given, f"{path}: vary")
    refuse_unknown(varied, RunSpec.model_fields, f"{path}: vary")
    for key in varied:
        plural = next((word for word, single in AXES.items() if single == key), None)
        if plural is not None and (plural in values or key in values):
            raise UsageError(f"{path}: vary: {key} is given already, outside of vary")
        if key in NOT_ALONE:
            raise UsageError(f"{path}: vary: another {key} makes no other run; see `models`")
        if key in values:
            raise UsageError(f"{path}: {key} is given twice, once in vary")
        _refuse_common({key}, f"{path}: vary")
    return {key: _listed(entries, f"vary: {key}", path) for key, entries in varied.items()}


def _listed_in(values: Values) -> set[str]:
    """Return the keys that a grid, which is not checked yet, has lists of."""
    varied: object = values.get("vary")
    keys = with_underscores(cast("Values", varied)) if isinstance(varied, dict) else {}
    return {*keys, *(key for plural, key in AXES.items() if plural in values)}


def _listed(given: Any, name: str, path: Path | str) -> list[Any]:
    """Return a list, or a value as a list. Raises UsageError if it is empty."""
    if not isinstance(given, list):
        return [given]
    if not given:
        raise UsageError(f"{path}: {name}: the list is empty")
    return cast("list[Any]", given)


def _entry(given: Any, plural: str, key: str, path: Path | str) -> Values:
    if not isinstance(given, dict):
        return {key: given}
    where = f"{path}: {plural}"
    entry = _variant(_mapping(given, where), path, where)
    if key not in entry:
        raise UsageError(f"{where}: an entry of several keys is to have {key} among them")
    return entry


def _own_variants(values: Values, path: Path | str) -> Iterator[tuple[str | None, Values]]:
    given = values.get("variants")
    if given is None:
        return
    for number, each in enumerate(_listed(given, "variants", path), 1):
        where = f"{path}: variants: number {number}"
        variant = _mapping(each, where)
        name = variant.pop("name", None)
        if name is not None:
            check_name(name, where)
        yield name, variant


def _variant(values: Values, path: Path | str, where: str | None = None) -> Values:
    """Check the keys of one variant and return them. Raises UsageError."""
    where = where or f"{path}: variants"
    refuse_unknown(values, RunSpec.model_fields, where)
    _refuse_common(values, where)
    return values


def _refuse_common(keys: Iterable[str], where: str) -> None:
    common = next((key for key in keys if key in OF_THE_WHOLE), None)
    if common is not None:
        raise UsageError(f"{where}: {common} is one for the whole grid; give it at the top")


def _mapping(given: Any, where: str) -> Values:
    if not isinstance(given, dict):
        raise UsageError(f"{where}: keys and values are expected, as in `mode: agentic`")
    return with_underscores(cast("dict[Any, Any]", given))


def _combined(base: Values, axes: Sequence[list[Values]]) -> Iterator[Values]:
    """Yield every combination of entries, without keys unused by its mode."""
    for entries in product(*axes):
        listed: Values = {}
        for entry in entries:
            listed |= entry
        yield _used({**base, **listed})


def _used(values: Values) -> Values:
    """Drop keys that the variant's mode or language does not use, except common ones."""
    mode = values.get("mode", default_of("mode"))
    if isinstance(mode, str) and mode not in REGISTERED:
        find_mode(mode)  # so that it is known what it uses
    unused = {FLAGS} if values.get("language", PYTHON) == PYTHON else set[str]()
    kept = {key: each for key, each in values.items() if key not in unused}
    return {key: each for key, each in kept.items() if key in OF_THE_WHOLE or uses(mode, key)}


def _refuse_unheeded(given: set[str], variants: Iterable[Values], path: Path | str) -> None:
    """Refuse keys given for all variants that no variant's mode uses. Raises UsageError."""
    lost = sorted(given - set[str]().union(*variants))
    if lost == [FLAGS]:
        raise UsageError(f"{path}: {FLAGS} goes with language cpp, and no variant has that")
    if lost:
        modes = " or ".join(users_of(lost[0]))
        raise UsageError(f"{path}: {lost[0]} goes with mode {modes}, and no variant has that")


def _once(
    specs: Iterable[tuple[str | None, RunSpec]], path: Path | str
) -> list[tuple[str | None, RunSpec]]:
    """Drop repeated variants; raise UsageError if a repeated variant has a name of its own."""
    seen: dict[str, str | None] = {}
    kept: list[tuple[str | None, RunSpec]] = []
    for name, spec in specs:
        values = [
            (key, SETTINGS[key].usual if value is None else value)
            for key, value in stored(spec).items()
            if key not in SILENT
        ]
        same = repr([*values, *spec.header])
        if same not in seen:
            seen[same] = name
            kept.append((name, spec))
        elif name is not None:
            raise UsageError(f"{path}: variants: {name} is the same run as another variant")
    names = [name for name, _ in kept if name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{path}: variants: two have the name {twice}")
    return kept


def _baseline(values: Values, path: Path | str) -> str | Values | None:
    given = values.get("baseline")
    if given is None or isinstance(given, str):
        return given
    where = f"{path}: baseline"
    keys = _mapping(given, where)
    refuse_unknown(keys, RunSpec.model_fields, where)
    for key in LISTS:
        if isinstance(keys.get(key), str):
            keys[key] = [keys[key]]
    return keys
