"""The order in which an experiment asks its problems, and how many between two looks."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

FIRST = 8
"""Problems of the first batch, at least."""

GROWTH = 0.1
"""Of the problems asked so far, the share that a later batch has at least.

So at most this share more is asked than would do, and 500 problems take about 30 looks.
"""


def random_order(problems: Iterable[str], seed: int) -> list[str]:
    """Return problem ids in a random order.

    A problem's place follows from the seed and its own id: more problems change no order of the
    others, so that an experiment can grow.
    """
    return sorted(problems, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())


def batches(order: Sequence[str], concurrency: int) -> Iterator[Sequence[str]]:
    """Yield the problems asked by each look, those of the looks before included.

    Args:
        order: all problems.
        concurrency: requests in flight: a batch keeps them busy.
    """
    asked = 0
    while asked < len(order):
        asked += max(FIRST, concurrency, int(asked * GROWTH))
        yield order[:asked]
