"""Two runs by kind of problem: difficulty, platform, tag and month."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from harness.frozen import Frozen
from harness.run.store.results import SampleResult
from harness.run.summary.groups import FEWEST, KINDS, rank
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
    results: Iterable[SampleResult], a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> dict[str, tuple[Group, ...]]:
    """Group problems by each kind, without kinds that are always `unknown`.

    Args:
        results: samples of the problems; their difficulty, tags and so on are read from these.
        a: numbers of samples and of solved samples of the first run, by problem.
        b: the same for the second run.
    """
    problems = {r.problem_id: r for r in results if r.problem_id in a and r.problem_id in b}
    groups: dict[str, tuple[Group, ...]] = {}
    for kind, names_of in KINDS.items():
        members: dict[str, list[str]] = defaultdict(list)
        for problem, result in problems.items():
            for name in names_of(result):
                members[name].append(problem)
        if set(members) - {"unknown"}:
            ranked = sorted(members, key=lambda name: (rank(name), name))
            groups[kind] = tuple(_group(name, members[name], a, b) for name in ranked)
    return groups


def _group(
    name: str, problems: list[str], a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> Group:
    paired = compare_counts({p: a[p] for p in problems}, {p: b[p] for p in problems})
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
