"""Two runs' Beyond over the same problems, compared pair by pair."""

import math
from collections import defaultdict
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, computed_field

from harness.efficiency.beyond import Known, mean_rate
from harness.stats.bootstrap import mean_interval
from harness.stats.rates import Rate


class PairedBeyond(BaseModel):
    """Beyond@1 of two runs over the problems that tell in both.

    Attributes:
        low, high: of the difference, by `harness.stats.bootstrap.mean_interval` over problems, and
            no narrower than what measuring is uncertain by: the differences have that error in
            them, but few of them may hide it. None where there is one problem.
    """

    model_config = ConfigDict(frozen=True)

    problems: int
    rate_a: Rate
    rate_b: Rate
    low: float | None
    high: float | None

    @computed_field
    @property
    def difference(self) -> float:
        """Beyond@1 of B less that of A."""
        return self.rate_b.value - self.rate_a.value


def compare_beyond(a: Iterable[Known], b: Iterable[Known]) -> PairedBeyond | None:
    """Compare two runs' samples on the problems that both have some of.

    Args:
        a: what is known of run A's samples.
        b: the same of B.

    Returns:
        None where they share no problem.
    """
    of_a, of_b = _by_problem(a), _by_problem(b)
    shared = [problem for problem in of_a if problem in of_b]
    rate_a, rate_b = _rate([of_a[each] for each in shared]), _rate([of_b[each] for each in shared])
    if rate_a is None or rate_b is None:
        return None
    low = high = None
    if len(shared) > 1:
        differences = [of_b[each][0] - of_a[each][0] for each in shared]
        mean = math.fsum(differences) / len(shared)
        doubts = (doubt for each in shared for doubt in (of_a[each][1], of_b[each][1]))
        least = math.hypot(*doubts) / len(shared)
        low, high = mean_interval(differences)
        low, high = min(low, mean - least), max(high, mean + least)
    return PairedBeyond(problems=len(shared), rate_a=rate_a, rate_b=rate_b, low=low, high=high)


def _by_problem(samples: Iterable[Known]) -> dict[str, tuple[float, float]]:
    """The mean of each problem's samples, and what it is uncertain by."""
    found: defaultdict[str, list[Known]] = defaultdict(list)
    for each in samples:
        found[each.problem].append(each)
    return {
        problem: (
            math.fsum(each.value for each in own) / len(own),
            math.hypot(*(each.doubt for each in own)) / len(own),
        )
        for problem, own in found.items()
    }


def _rate(known: list[tuple[float, float]]) -> Rate | None:
    return mean_rate([value for value, _ in known], [doubt for _, doubt in known])
