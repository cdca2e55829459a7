"""Results grouped by difficulty, platform, tag or month of release."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.errors import UsageError
from harness.frozen import Frozen
from harness.run.store.results import SampleResult
from harness.run.summary.summary import rate_of
from harness.stats.rates import Rate

FEWEST = 5
"""Least number of problems of a group that is printed."""

ORDER = ("easy", "medium", "hard", "unknown")

KINDS: Mapping[str, Callable[[SampleResult], Iterable[str]]] = {
    "difficulty": lambda result: (result.difficulty or "unknown",),
    "platform": lambda result: (result.platform or "unknown",),
    "tag": lambda result: result.tags,
    "month": lambda result: (f"{result.release_date:%Y-%m}" if result.release_date else "unknown",),
}
"""Ways of grouping: the groups of a sample's problem."""


class GroupRate(Frozen):
    """pass@1 of a group of problems."""

    name: str
    rate: Rate


def rates_by(results: Sequence[SampleResult], kind: str) -> list[GroupRate]:
    """Return pass@1 of each group, from easy to hard, or by name."""
    members: dict[str, list[SampleResult]] = defaultdict(list)
    for result in results:
        for name in KINDS[kind](result):
            members[name].append(result)
    ranked = sorted(members, key=lambda name: (rank(name), name))
    rates = ((name, rate_of(members[name])) for name in ranked)
    return [GroupRate(name=name, rate=rate) for name, rate in rates if rate is not None]


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
