"""Estimates from several samples a problem: pass@k and pass^k."""

import math
from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from harness.stats.rates import Rate, rate

Counts = tuple[int, int]
"""Number of samples of a problem, and number of those that are right."""


def share(counts: Counts) -> float:
    """Return the share of a problem's samples that are right."""
    samples, right = counts
    return right / samples


ROUND = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000)


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
    steps = sorted({k for k in ROUND if k < most} | ({most} if most > 1 else set[int]()))
    return tuple(
        OfSeveral(
            k=k,
            any_right=_mean(counts, k, pass_at_k),
            all_right=_mean(counts, k, pass_hat_k),
            too_few=sum(samples < k for samples, _ in counts),
        )
        for k in steps
    )


def _mean(
    counts: Iterable[Counts], k: int, estimate: Callable[[int, int, int], float | None]
) -> Rate | None:
    """Return the mean over problems; n samples count as n // k trials that share no sample."""
    found = [(value, n // k) for n, c in counts if (value := estimate(n, c, k)) is not None]
    return rate([value for value, _ in found], sum(trials for _, trials in found))
