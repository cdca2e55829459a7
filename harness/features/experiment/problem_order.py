"""Order of an experiment's problems, and their number between two interim looks."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

FIRST = 8
"""Fewest problems of a batch."""

GROWTH = 0.1
"""Smallest size of a later batch, as a share of the problems run before.

So at most this share of problems is run in excess, and 500 problems take about 30 looks.
"""


def random_order(problems: Iterable[str], seed: int) -> list[str]:
    """Return problem ids in a random order.

    The order depends only on the seed and each problem's id. Adding problems does not reorder the
    others, so an experiment can grow.
    """
    return sorted(problems, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())


def batches(order: Sequence[str], concurrency: int) -> Iterator[Sequence[str]]:
    """Yield the problems up to each interim look, including those of earlier looks.

    Args:
        order: all problems, in order.
        concurrency: number of requests in flight, which a batch must keep busy.
    """
    asked = 0
    while asked < len(order):
        asked += max(FIRST, concurrency, int(asked * GROWTH))
        yield order[:asked]
