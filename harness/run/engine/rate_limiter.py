"""Limit on the requests in flight: fewer after a refusal, more again with answers.

The number in flight follows additive increase and multiplicative decrease, as TCP uses to share a
line of unknown capacity (Chiu and Jain, 1989). Each answer that arrives while all places are taken
adds a fraction of a place, so that a full round adds one; a refusal halves the number in flight.
Refusals in one burst count once: those of requests sent before the last decrease say nothing about
it.
"""

import asyncio
from contextlib import suppress
from heapq import heapify, heappop, heappush
from itertools import count

DECREASE = 0.5


class RateLimiter:
    """Places for requests in flight, between 1 and `most`.

    A free place goes to the sample that began first, so that an early end leaves few samples half
    done; among requests of one rank, to the one that waits longest.

    Args:
        most: initial and largest number of places: a provider that can handle them is used fully
            from the start.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._taken = 0
        self._decreases = 0
        self._queue: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    @property
    def places(self) -> int:
        """Current number of places."""
        return int(self._limit)

    async def acquire(self, rank: int = 0) -> int:
        """Wait for a place.

        Args:
            rank: requests of a lower rank go first.

        Returns:
            A ticket to return with the place: the number of decreases before the request.
        """
        if self._queue or self._taken >= self.places:
            await self._wait(rank)
        else:
            self._taken += 1
        return self._decreases

    async def _wait(self, rank: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (rank, next(self._numbers), turn)
        heappush(self._queue, place)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # granted at the same moment
                self.release()
            with suppress(ValueError):
                self._queue.remove(place)
                heapify(self._queue)
            raise

    def release(self) -> None:
        """Return a place after a request that says nothing about the provider's load."""
        self._taken -= 1
        self._admit()

    def answered(self) -> None:
        """Return a place after an answer."""
        if self._taken >= self.places:
            self._limit = min(self._most, self._limit + 1 / self._limit)
        self.release()

    def refused(self, ticket: int) -> None:
        """Return a place after the provider asked for fewer requests."""
        if ticket == self._decreases:
            self._limit = max(1.0, min(self._limit, self._taken) * DECREASE)
            self._decreases += 1
        self.release()

    def _admit(self) -> None:
        while self._queue and self._taken < self.places:
            *_, turn = heappop(self._queue)
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
