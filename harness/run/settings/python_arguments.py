"""Check the arguments of the Python functions: keys of a spec, paths."""

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex, cast

from harness.errors import UsageError
from harness.run.settings.spec import RunSpec, spec_of
from harness.run.settings.unknown_keys import refuse_unknown


def spec_from(
    caller: str, given: Mapping[str, Any], takes: type, own: Iterable[str], **more: Any
) -> RunSpec:
    """Return the spec of a function's arguments.

    Args:
        caller: name of the function, for messages.
        given: its keyword arguments that are keys.
        takes: a `TypedDict` of the keys it accepts.
        own: names of its other arguments, which a wrong key may be meant for.
        more: further keys, derived from its other arguments.

    Raises:
        UsageError: a key is unknown, or a value out of range; the message names the key, and the
            most similar valid one.
    """
    refuse_unknown(given, {*takes.__annotations__, *own}, caller)
    if more.get("sample_size") is not None and given.get("sample_size") is not None:
        raise UsageError(f"{caller}: limit and sample_size mean the same; give one")
    if more.get("sample_size") is not None:
        more["sample_size"] = _limit(caller, more["sample_size"])
    settings = {key: value for key, value in more.items() if value is not None}
    return spec_of({**given, **settings}, caller)


def _limit(caller: str, value: object) -> int:
    """Check `limit`, which means the same as `sample_size`. Raises UsageError."""
    try:
        number = 0 if isinstance(value, bool) else index(cast("SupportsIndex", value))
    except TypeError:
        number = 0
    if number < 1:
        given = repr(value)[:100] if isinstance(value, str | int | float) else type(value).__name__
        raise UsageError(f"{caller}: limit: give a whole number of at least 1 (given: {given})")
    return number


def path_of(caller: str, name: str, given: object) -> Path:
    """Return an argument that is a path. Raises UsageError."""
    if not isinstance(given, str | Path):
        raise UsageError(f"{caller}: {name} is of type {type(given).__name__}; give a path")
    if "\0" in str(given):
        raise UsageError(f"{caller}: {name} {str(given)!r:.60}: a path has no NUL")
    return Path(given)


def names_of(caller: str, name: str, given: object) -> list[str]:
    """Return an argument that is a name, or a list of names. Raises UsageError."""
    names = [given]
    if isinstance(given, Sequence) and not isinstance(given, str):
        names = list(cast("Sequence[object]", given))
    for each in names:
        if not isinstance(each, str | Path):
            raise UsageError(f"{caller}: {name} has {each!r:.60}; give names, or one name")
    return list(map(str, names))
