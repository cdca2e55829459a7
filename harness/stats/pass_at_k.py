"""Estimates from several samples a problem: pass@k and pass^k.

Every order of the shots is equally likely, so the means are sums over binomial coefficients and
need no random drawing. `tests/stats/test_shots.py` compares them with an enumeration of all orders.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from harness.stats.rates import Rate, rate

Counts = tuple[int, int]
"""Number of samples of a problem, and number of those that are right."""
ROUND = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)


def share(counts: Counts) -> float:
    """Return the share of a problem's samples that are right."""
    samples, right = counts
    return right / samples


def steps_to(most: int) -> list[int]:
    """Return the round numbers of samples below the largest, and the largest; empty for 1."""
    return [*(k for k in ROUND if k < most), most] if most > 1 else []


class OfSeveral(BaseModel):
    """pass@k and pass^k of one k.

    Attributes:
        any_right: pass@k, over the problems with k samples or more; None where there is none.
        all_right: pass^k, over the same problems.
        too_few: number of problems with fewer samples, which are in neither rate.
    """

    model_config = ConfigDict(frozen=True)

    k: int
    any_right: Rate | None
    all_right: Rate | None
    too_few: int


def pass_at_k(samples: int, right: int, k: int) -> float | None:
    """Return pass@k: the unbiased estimate that one of k samples is right.

    Of n samples of which c are right: 1 - C(n-c, k) / C(n, k) (M. Chen et al., Evaluating Large
    Language Models Trained on Code, arXiv:2107.03374, 2021, equation 1), in whole numbers.

    Returns:
        None where there are fewer than k samples.
    """
    if samples < k:
        return None
    return 1 - math.comb(samples - right, k) / math.comb(samples, k)


def pass_hat_k(samples: int, right: int, k: int) -> float | None:
    """Return pass^k: the unbiased estimate that all of k samples are right.

    Of n samples of which c are right: C(c, k) / C(n, k) (S. Yao et al., τ-bench, arXiv:2406.12045,
    2024).

    Returns:
        None where there are fewer than k samples.
    """
    if samples < k:
        return None
    return math.comb(right, k) / math.comb(samples, k)


def of_several(counts: Sequence[Counts]) -> tuple[OfSeveral, ...]:
    """Return pass@k and pass^k for round k and for the largest sample count.

    Empty where every problem has fewer than two samples.
    """
    most = max((samples for samples, _ in counts), default=0)
    return tuple(
        OfSeveral(
            k=k,
            any_right=_mean(counts, k, pass_at_k),
            all_right=_mean(counts, k, pass_hat_k),
            too_few=sum(samples < k for samples, _ in counts),
        )
        for k in steps_to(most)
    )


def _mean(
    counts: Iterable[Counts], k: int, estimate: Callable[[int, int, int], float | None]
) -> Rate | None:
    """Return the mean over problems; n samples count as n // k trials that share no sample."""
    estimates = [(value, n // k) for n, c in counts if (value := estimate(n, c, k)) is not None]
    return rate([value for value, _ in estimates], sum(trials for _, trials in estimates))


class Shot(NamedTuple):
    """One independent sample of a problem.

    Attributes:
        rank: number of public tests passed, -1 for a sample without code; more is better.
        passes: whether it passes all public tests; with code, but without any public test, True.
        solved: whether it passes all tests, hidden ones included.
        spend: cost of the sample, in any unit.
    """

    rank: int
    passes: bool
    solved: bool
    spend: float


def chosen_solved(shots: Sequence[Shot], first: int) -> float:
    """Return the chance that the best of the first j shots by public tests is solved.

    The shot of the highest rank is chosen, the earliest of equals. Over all orders the highest rank
    among j of n shots is at most r with probability C(m, j) / C(n, j), where m shots have a rank of
    at most r (the distribution of a sample's maximum without replacement). Each shot of the chosen
    rank is equally likely to come first.

    Args:
        shots: all n shots of a problem.
        first: number of shots j, from 1 to n.
    """
    by_rank: dict[int, list[bool]] = defaultdict(list)
    for shot in shots:
        by_rank[shot.rank].append(shot.solved)
    total, reached, below = 0.0, 0, 0.0
    for rank in sorted(by_rank):
        solved = by_rank[rank]
        reached += len(solved)
        so_far = _ratio(reached, len(shots), first)
        total += (so_far - below) * sum(solved) / len(solved)
        below = so_far
    return total


def any_solved(shots: Sequence[Shot], first: int) -> float:
    """Return the chance that one of the first j shots is solved: pass@j.

    1 - C(n-c, j) / C(n, j) for c solved shots (M. Chen et al., Evaluating Large Language Models
    Trained on Code, arXiv:2107.03374, 2021, equation 1). No policy that picks one of the j shots
    can do better.
    """
    failed = sum(not shot.solved for shot in shots)
    return 1 - _ratio(failed, len(shots), first)


def mean_solved(shots: Sequence[Shot]) -> float:
    """Return the share of shots that are solved."""
    return sum(shot.solved for shot in shots) / len(shots)


def spend_of_all(shots: Sequence[Shot], first: int) -> float:
    """Return the mean cost of j shots over all orders: j times the mean shot."""
    return first * math.fsum(shot.spend for shot in shots) / len(shots)


def spend_until_pass(shots: Sequence[Shot], first: int) -> float:
    """Return the mean cost of at most j shots, stopping at the first that passes.

    A shot passes if it passes the public tests. The shot in place i is paid for if none of the
    i - 1 before it passes. Of n shots of which f fail, these all fail with probability
    C(f, i-1) / C(n-1, i-1) where the shot in place i passes, and C(f-1, i-1) / C(n-1, i-1) where
    it fails; each shot is in place i with probability 1/n.

    Stopping does not change which shot is chosen.
    """
    number, failing = len(shots), sum(not shot.passes for shot in shots)
    passed = math.fsum(shot.spend for shot in shots if shot.passes) / number
    failed = math.fsum(shot.spend for shot in shots if not shot.passes) / number
    return math.fsum(
        passed * _ratio(failing, number - 1, before)
        + failed * (_ratio(failing - 1, number - 1, before) if failing else 0.0)
        for before in range(first)
    )


@cache
def _ratio(some: int, every: int, chosen: int) -> float:
    """Return C(some, chosen) / C(every, chosen)."""
    return math.comb(some, chosen) / math.comb(every, chosen)
