"""The gate of one sample: its own budget, the run's, and a place among the requests in flight."""

from harness.agent.attempt import BudgetSpentError, StopReason
from harness.models.price import cost
from harness.models.protocol import ModelTurn, Retry
from harness.runs.budget import Budget, Spent
from harness.runs.throttle import Limiter


class SampleGate:
    """Satisfies `harness.agent.gate.Gate`.

    A sample's own dollars are reached when its next request, taken to cost what its last one did,
    no longer fits; they are overspent by no more than one request costs beyond its predecessor.
    """

    def __init__(self, limiter: Limiter, budget: Budget) -> None:
        self._limiter = limiter
        self._budget = budget
        self._ticket: int | None = None
        self._spent = self._last = 0.0

    async def enter(self) -> None:
        """Wait for money, then for a place.

        Raises:
            BudgetSpentError: the sample's budget, or the run's, may not hold another request.
        """
        limit = self._budget.allowance.cost_per_sample
        if limit is not None and (self._spent >= limit or self._spent + self._last > limit):
            raise BudgetSpentError(StopReason.COST_LIMIT)
        while True:
            await self._budget.admit()
            try:
                ticket = await self._limiter.acquire()
            except BaseException:
                self._budget.settle(None)
                raise
            if self._budget.holds():  # what was answered meanwhile may have been dearer
                self._ticket = ticket
                return
            self._limiter.release()
            self._budget.settle(None)

    def step_aside(self, retry: Retry) -> None:
        """Give the place to others for the length of the wait."""
        ticket, self._ticket = self._ticket, None
        if ticket is None:
            return
        if retry.throttled:
            self._limiter.refused(ticket)
        else:
            self._limiter.release()

    async def enter_again(self) -> None:
        """Wait for a place; the money was kept."""
        self._ticket = await self._limiter.acquire()

    def leave(self, turn: ModelTurn | None, *, billed: bool) -> None:
        """Hand the place back, and count what was spent."""
        ticket, self._ticket = self._ticket, None
        if turn is not None and ticket is not None:
            self._limiter.answered()
        elif ticket is not None:
            self._limiter.release()
        usage = None if turn is None else turn.usage
        silent = turn is not None and usage is None
        self._budget.settle(Spent(usage) if billed else None, silent=silent)
        self._last = cost(usage, self._budget.price) or self._last
        self._spent += self._last if billed else 0.0
