"""The gate of one sample: its own budget, the run's, and a place among the requests in flight."""

from harness.agent.attempt import BudgetSpentError, RunStop, StopReason
from harness.models.prices import cost
from harness.models.protocol import ModelError, ModelTurn, Retry, Usage
from harness.run.engine.outage import Outage
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.stop_flag import StopFlag
from harness.run.plan.budget import Budget, Share
from harness.run.store.request_log import Spent


class SampleGate:
    """Satisfies `harness.agent.request_gate.Gate`.

    A sample's own dollars are reached when its next request, taken to cost what its last one did,
    no longer fits; they are overspent by no more than one request costs beyond its predecessor.

    Args:
        limiter: gives places among the requests in flight.
        budget: of the run.
        stopping: whether the run is to end.
        outage: whether the provider answers.
        share: what the sample spends of the run's budget.

    Attributes:
        unheard: requests that were cut off, so that nobody knows their tokens.
        in_flight: whether the last request was one of them.
        waits_for: the limit of the run that the next request waits for; None where there is none.
    """

    def __init__(
        self,
        limiter: RateLimiter,
        budget: Budget,
        stopping: StopFlag | None = None,
        outage: Outage | None = None,
        share: Share | None = None,
    ) -> None:
        self._limiter = limiter
        self._budget = budget
        self._stopping = stopping or StopFlag()
        self._outage = outage or Outage(self._stopping)
        self._share = share or Share()
        self._ticket: int | None = None
        self._spent = self._last = 0.0
        self._probe = False
        self._answers = 0
        self.unheard = 0
        self.in_flight = False
        self.waits_for: RunStop | None = None

    @property
    def dollars_left(self) -> float | None:
        """US dollars of `--max-cost-per-sample` that are left; None without it."""
        limit = self._budget.allowance.cost_per_sample
        return None if limit is None else limit - self._spent

    async def enter(self) -> None:
        """Wait for money, for the end of an outage, then for a place.

        Raises:
            BudgetSpentError: the sample's budget may not hold another request.
            RunStoppedError: the run's budget may not, or the run is to end.
        """
        self._stopping.check()
        limit = self._budget.allowance.cost_per_sample
        if limit is not None and (self._spent >= limit or self._spent + self._last > limit):
            raise BudgetSpentError(StopReason.COST_LIMIT)
        self.in_flight = False
        while True:
            self.waits_for = RunStop.BUDGET
            await self._budget.admit()
            try:
                await self._take_place()
                self._stopping.check()
            except BaseException:
                self._stopping.goes_on()
                self._give_back()
                self._budget.settle(None)
                raise
            if self._budget.holds():  # what was answered meanwhile may have been dearer
                self._answers = self._outage.answers
                return
            self._give_back()
            self._budget.settle(None)

    async def _take_place(self) -> None:
        """Wait until the provider answers and there is a place."""
        self._stopping.waits()
        while True:
            self.waits_for = RunStop.OUTAGE if self._outage.under_way else None
            self._probe = await self._outage.turn()
            self.waits_for = None
            self._ticket = await self._limiter.acquire()
            if self._probe or not self._outage.under_way:
                break
            self._give_back()  # the outage began while this waited for a place
        self._stopping.goes_on()

    def _give_back(self) -> None:
        """Hand back the place and the right to probe, if there are any."""
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._limiter.release()
        self._probed()

    def _probed(self) -> None:
        probe, self._probe = self._probe, False
        if probe:
            self._outage.probed()

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        """Give the place to others for the length of the wait; the money for it stays reserved.

        What the failed answer cost is spent all the same.

        Args:
            retry: the failure.
            estimate: tokens of a request that a timeout of ours cut off.
        """
        if retry.usage is not None or retry.cut:
            usage = retry.usage or estimate
            self._budget.count(Spent(usage, estimated=retry.usage is None))
            self._charge(usage)
            self.unheard += retry.usage is None
        self._stopping.waits()
        self._outage.failed(retry)
        ticket, self._ticket = self._ticket, None
        if ticket is not None and retry.throttled:
            self._limiter.refused(ticket)
        elif ticket is not None:
            self._limiter.release()
        self._probed()

    async def enter_again(self) -> None:
        """Wait for the end of an outage and for a place; the money was kept."""
        await self._take_place()

    def may_be_dropped(self) -> None:
        """The task that came through may be cancelled when the user stops the run."""
        self._stopping.waits()

    def recall(self, usage: Usage | None) -> None:
        """An answer of an earlier attempt is used again: the run has counted it already."""
        self._charge(usage)

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        """Hand the place back, and count what was spent.

        Args:
            turn: the answer, if there was one.
            billed: whether it has to be paid for.
            usage: tokens of an answer that is of no use.
            estimate: tokens of an answer that nobody heard, or that did not report them.
        """
        self._stopping.goes_on()
        sent = self._ticket is not None
        if turn is not None and sent:
            self._ticket = None
            self._limiter.answered()
        if turn is not None or usage is not None:
            self._outage.answered()
        self._give_back()
        known = usage if turn is None else turn.usage
        self.in_flight = sent and billed and turn is None and usage is None
        self.unheard += self.in_flight
        if not sent and turn is None and known is None:  # it waited to be sent again
            billed = False
        billed = billed or known is not None
        silent = turn is not None and turn.usage is None
        spent = Spent(known or estimate, silent=silent, estimated=known is None)
        self._budget.settle(spent if billed else None)
        if billed:
            self._charge(known or estimate)

    def comes_back(self, error: ModelError) -> bool:
        """Whether a request that was given up is to be sent again after an outage."""
        if not error.unavailable:  # a refusal is an answer, too
            self._outage.answered()
            return False
        return self._outage.gave_up(str(error), self._answers)

    def refuse(self, error: ModelError) -> None:
        """The provider will refuse every request. Raises RunStoppedError."""
        self._stopping.stop(RunStop.REFUSED, str(error))
        self._stopping.check()

    def _charge(self, usage: Usage | None) -> None:
        """Count what the sample's own budget has to pay; what is unknown as the last was."""
        self._last = cost(usage, self._budget.price) or self._last
        self._spent += self._last
        self._budget.charge(self._share, usage)
