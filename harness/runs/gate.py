"""The gate of one sample: its own budget, the run's, and a place among the requests in flight."""

from harness.agent.attempt import BudgetSpentError, StopReason
from harness.models.price import cost
from harness.models.protocol import ModelTurn, Retry, Usage
from harness.runs.budget import Budget, Spent
from harness.runs.stopping import Stopping
from harness.runs.throttle import Limiter


class SampleGate:
    """Satisfies `harness.agent.gate.Gate`.

    A sample's own dollars are reached when its next request, taken to cost what its last one did,
    no longer fits; they are overspent by no more than one request costs beyond its predecessor.
    """

    def __init__(self, limiter: Limiter, budget: Budget, stopping: Stopping | None = None) -> None:
        self._limiter = limiter
        self._budget = budget
        self._stopping = stopping or Stopping()
        self._ticket: int | None = None
        self._spent = self._last = 0.0

    @property
    def dollars_left(self) -> float | None:
        """US dollars of `--max-cost-per-sample` that are left; None without it."""
        limit = self._budget.allowance.cost_per_sample
        return None if limit is None else limit - self._spent

    async def enter(self) -> None:
        """Wait for money, then for a place.

        Raises:
            BudgetSpentError: the sample's budget, or the run's, may not hold another request.
            RunStoppedError: the user has stopped the run.
        """
        self._stopping.check()
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
            if self._stopping.asked:
                self._limiter.release()
                self._budget.settle(None)
                self._stopping.check()
            if self._budget.holds():  # what was answered meanwhile may have been dearer
                self._ticket = ticket
                return
            self._limiter.release()
            self._budget.settle(None)

    def step_aside(self, retry: Retry) -> None:
        """Give the place to others for the length of the wait; the money for it stays reserved.

        What the failed answer cost is spent all the same.
        """
        if retry.usage is not None:
            self._budget.count(Spent(retry.usage))
            self._charge(retry.usage)
        self._stopping.waits()
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
        self._stopping.goes_on()

    def may_be_dropped(self) -> None:
        """The task that came through may be cancelled when the user stops the run."""
        self._stopping.waits()

    def recall(self, usage: Usage | None) -> None:
        """An answer of an earlier attempt is used again: the run has counted it already."""
        self._charge(usage)

    def leave(self, turn: ModelTurn | None, *, billed: bool, usage: Usage | None = None) -> None:
        """Hand the place back, and count what was spent."""
        self._stopping.goes_on()
        ticket, self._ticket = self._ticket, None
        if turn is not None and ticket is not None:
            self._limiter.answered()
        elif ticket is not None:
            self._limiter.release()
        silent = turn is not None and turn.usage is None
        usage = usage if turn is None else turn.usage
        billed = billed or usage is not None
        self._budget.settle(Spent(usage) if billed else None, silent=silent)
        if billed:
            self._charge(usage)

    def _charge(self, usage: Usage | None) -> None:
        """Count what the sample's own budget has to pay; what is unknown as the last was."""
        self._last = cost(usage, self._budget.price) or self._last
        self._spent += self._last
