"""Two runs compared by kind of problem: difficulty, platform, tag, and month of release."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from harness.models.protocol import Frozen
from harness.run.store.results import SampleResult
from harness.run.summary.groups import FEWEST, KINDS, rank
from harness.stats.paired import Paired, compare_paired
from harness.stats.pass_at_k import Counts
from harness.stats.rates import Rate


class Group(Frozen):
    """The problems of a kind that both runs have.

    Attributes:
        flips: of them, on how many one of the runs did better.
        difference: pass@1 of the second run less that of the first, with its interval from `low` to
            `high`; None where they are fewer than `FEWEST`. Of many groups some differ by chance:
            they are for reading, and not tested.
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
    """The groups of each kind; those kinds are left out by which no problem is told apart.

    Args:
        results: samples of all problems that both runs have; what they are of is read from these.
        a: by problem, how many samples one run has and how many it solved.
        b: the same of the other.
    """
    problems = {r.problem_id: r for r in results if r.problem_id in a and r.problem_id in b}
    found: dict[str, tuple[Group, ...]] = {}
    for kind, names_of in KINDS.items():
        members: dict[str, list[str]] = defaultdict(list)
        for problem, result in problems.items():
            for name in names_of(result):
                members[name].append(problem)
        if set(members) - {"unknown"}:
            ranked = sorted(members, key=lambda name: (rank(name), name))
            found[kind] = tuple(_group(name, members[name], a, b) for name in ranked)
    return found


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


def compare_counts(a: Mapping[str, Counts], b: Mapping[str, Counts]) -> Paired:
    """`harness.stats.paired.compare_paired` from how many samples are solved of how many."""
    return compare_paired(_shares(a), _shares(b), _samples(a), _samples(b))


def _shares(counts: Mapping[str, Counts]) -> dict[str, float]:
    return {problem: solved / samples for problem, (samples, solved) in counts.items()}


def _samples(counts: Mapping[str, Counts]) -> dict[str, int]:
    return {problem: samples for problem, (samples, _) in counts.items()}
