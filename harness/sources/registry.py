"""One grammar says which problems, wherever problems are named: `NAME[:WHERE]`."""

import difflib
from types import MappingProxyType
from typing import NamedTuple, Protocol

from harness.errors import UsageError
from harness.sources import apps, fixture, jsonl, leetcode, leetcodedataset, livecodebench, mercury
from harness.sources.rows import Loaded


class Loader(Protocol):
    """Reads a source's problems from the place that its own grammar of `where` names."""

    def __call__(self, where: str | None, *, skip_bad_rows: bool = False) -> Loaded:
        """Read; raise UsageError for the place, DataError for what is in it."""
        ...


LOADERS: MappingProxyType[str, Loader] = MappingProxyType(
    {
        "fixture": fixture.load,
        "jsonl": jsonl.load,
        "livecodebench": livecodebench.load,
        "leetcode": leetcode.load,
        "leetcodedataset": leetcodedataset.load,
        "mercury": mercury.load,
        "apps": apps.load,
    }
)


class Spec(NamedTuple):
    """A source and the place in it; `where` is None for the source's default."""

    name: str
    where: str | None


def parse_spec(spec: str) -> Spec:
    """Take `NAME[:WHERE]` apart. The name's case does not matter.

    Raises:
        UsageError: the name is unknown, or nothing follows the colon.
    """
    name, colon, where = spec.partition(":")
    known = name.strip().lower()
    if known not in LOADERS:
        raise UsageError(_unknown(spec, known))
    if colon and not where.strip():
        raise UsageError(f"{spec!r} ends at the colon; give {known}:WHERE")
    return Spec(known, where if colon else None)


def _unknown(spec: str, name: str) -> str:
    if spec.lower().endswith((".jsonl", ".jsonl.gz")):
        return f"{spec!r} does not say what its rows are: give livecodebench:{spec} or jsonl:{spec}"
    near = difflib.get_close_matches(name, LOADERS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown problem source {name!r}; {hint}known: {', '.join(LOADERS)}"


def load(spec: str, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems that a spec names.

    Args:
        spec: `NAME[:WHERE]`.
        skip_bad_rows: pass over rows that are not as their schema says, and report them.

    Raises:
        UsageError: the spec names nothing that can be read.
        DataError: a file or row is not as it should be.
    """
    name, where = parse_spec(spec)
    return LOADERS[name](where, skip_bad_rows=skip_bad_rows)
