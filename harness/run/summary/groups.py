"""Results grouped by difficulty, platform, tag or month of release."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from harness.errors import UsageError
from harness.frozen import Frozen
from harness.run.store.results import Columns, SampleResult
from harness.run.summary.summary import rate_of
from harness.stats.rates import Rate

FEWEST = 5
"""Least number of problems of a group that is printed."""

ORDER = ("easy", "medium", "hard", "unknown")

KINDS: Mapping[str, tuple[str, Callable[[Any], Sequence[str]]]] = {
    "difficulty": ("difficulty", lambda level: (level or "unknown",)),
    "platform": ("platform", lambda platform: (platform or "unknown",)),
    "tag": ("tags", lambda tags: tags),
    "month": ("release_date", lambda day: (f"{day:%Y-%m}" if day else "unknown",)),
}
"""Ways of grouping: the field of a result, and the groups that its value belongs to."""


class GroupRate(Frozen):
    """pass@1 of a group of problems."""

    name: str
    rate: Rate


def rates_by(results: Sequence[SampleResult], kind: str) -> list[GroupRate]:
    """Return pass@1 of each group, from easy to hard, or by name."""
    places = members(Columns(results), range(len(results)), kind)
    rates = ((name, rate_of(results[n] for n in own)) for name, own in places.items())
    return [GroupRate(name=name, rate=rate) for name, rate in rates if rate is not None]


def members(table: Columns, places: Iterable[int], kind: str) -> dict[str, list[int]]:
    """Return the places of each group's results, the groups from easy to hard, or by name."""
    key, names_of = KINDS[kind]
    values, groups = table[key], cache(names_of)  # few values differ
    found: dict[str, list[int]] = defaultdict(list)
    for place in places:
        for name in groups(values[place]):
            found[name].append(place)
    return {name: found[name] for name in sorted(found, key=lambda name: (rank(name), name))}


def rank(name: str) -> int:
    """Return a group's sort key: difficulties have an order, other names are equal."""
    return ORDER.index(name) if name in ORDER else 0


def read_kinds(words: Iterable[str]) -> tuple[str, ...]:
    """Parse the groupings of `--by difficulty,month`, without duplicates, in order.

    Raises:
        UsageError: a grouping is unknown.
    """
    kinds = dict.fromkeys(part.strip() for word in words for part in word.split(","))
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--by {kind!r}: known are {', '.join(KINDS)}")
    return tuple(kinds)
