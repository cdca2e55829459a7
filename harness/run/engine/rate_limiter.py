"""How many model requests are in flight: as many as asked for, fewer while the provider refuses.

Additive increase and multiplicative decrease, as TCP shares a line that nobody tells the width of
(Chiu and Jain, 1989): each answer that came while all places were taken adds a part of a place, so
that a whole round of them adds one; a refusal halves what was in flight. The refusals of one burst
count once: those of requests that were sent before the last decrease say nothing about it.
"""

import asyncio
from collections import deque
from contextlib import suppress

DECREASE = 0.5


class RateLimiter:
    """Places for requests in flight, between 1 and `most`, given in the order asked for.

    Args:
        most: places at most, and to begin with: a provider that can bear them is not kept waiting.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._taken = 0
        self._decreases = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def places(self) -> int:
        """How many there are at present."""
        return int(self._limit)

    async def acquire(self) -> int:
        """Wait for a place.

        Returns:
            A ticket, to be handed back with the place: what is sent now was sent after so many
            decreases.
        """
        if self._queue or self._taken >= self.places:
            await self._wait()
        else:
            self._taken += 1
        return self._decreases

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given at the same moment
                self.release()
            with suppress(ValueError):
                self._queue.remove(turn)
            raise

    def release(self) -> None:
        """Hand a place back; the request's fate says nothing of the provider's load."""
        self._taken -= 1
        self._admit()

    def answered(self) -> None:
        """Hand a place back after an answer."""
        if self._taken >= self.places:
            self._limit = min(self._most, self._limit + 1 / self._limit)
        self.release()

    def refused(self, ticket: int) -> None:
        """Hand a place back after the provider asked for fewer requests."""
        if ticket == self._decreases:
            self._limit = max(1.0, min(self._limit, self._taken) * DECREASE)
            self._decreases += 1
        self.release()

    def _admit(self) -> None:
        while self._queue and self._taken < self.places:
            turn = self._queue.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
