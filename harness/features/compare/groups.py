"""Two runs by kind of problem: difficulty, platform, tag and month."""

from collections.abc import Mapping

from harness.frozen import Frozen
from harness.run.store.results import Columns
from harness.run.summary.groups import FEWEST, KINDS, members
from harness.stats.paired import compare_counts
from harness.stats.pass_at_k import Counts
from harness.stats.rates import Rate


class Group(Frozen):
    """The problems of one group, such as a difficulty, that both runs have.

    Attributes:
        flips: number of these problems that one of the runs did better on.
        difference: pass@1 of the second run minus that of the first. Not tested, because among
            many groups some differ by chance.
        low, high: interval of the difference; None for fewer than `FEWEST` problems.
    """

    name: str
    problems: int
    flips: int
    rate_a: Rate | None
    rate_b: Rate | None
    difference: float
    low: float | None
    high: float | None


def grouped(
    table: Columns, a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> dict[str, tuple[Group, ...]]:
    """Group problems by each kind, without kinds that are always `unknown`.

    Args:
        table: results of the problems; their difficulty, tags and so on are read from these.
        a: numbers of samples and of solved samples of the first run, by problem.
        b: the same for the second run.
    """
    ids = table["problem_id"]
    places = {problem: place for place, problem in enumerate(ids) if problem in a and problem in b}
    groups: dict[str, tuple[Group, ...]] = {}
    for kind in KINDS:
        of = members(table, places.values(), kind)
        if of.keys() - {"unknown"}:
            groups[kind] = tuple(
                _group(name, [ids[place] for place in own], a, b) for name, own in of.items()
            )
    return groups


def _group(
    name: str, problems: list[str], a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> Group:
    paired = compare_counts({problem: a[problem] for problem in problems}, b)
    enough = paired.problems >= FEWEST
    return Group(
        name=name,
        problems=paired.problems,
        flips=len(paired.better_a) + len(paired.better_b),
        rate_a=paired.rate_a,
        rate_b=paired.rate_b,
        difference=paired.difference,
        low=paired.low if enough else None,
        high=paired.high if enough else None,
    )
