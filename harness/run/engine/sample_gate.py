"""The gate of one sample: checks both budgets and waits for a place in flight."""

from harness.agent.attempt import RunStop, StopReason
from harness.agent.session import BudgetSpentError
from harness.models.prices.price import cost
from harness.models.protocol import ModelError, ModelTurn, Retry, Usage
from harness.run.engine.outage import Outage
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.stop_flag import StopFlag
from harness.run.plan.budget import Budget, Share
from harness.run.store.billed_requests import Spent


class SampleGate:
    """Gate of a run: a queue for places in flight, and both budgets.

    The sample's dollar limit is reached when its next request, assumed to cost as much as the last
    one, no longer fits. It is overspent by at most the amount one request costs more than the one
    before.

    Args:
        limiter: limits the requests in flight.
        budget: the run's budget.
        stopping: whether the run is stopping.
        outage: tracks whether the provider answers.
        share: the sample's share of the run's budget.

    Attributes:
        unheard: number of requests that were cut off, so that their tokens are unknown.
        in_flight: whether the last request was cut off.
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
        self._waits_for: RunStop | None = None
        self._unanswered = False

    @property
    def waits_for(self) -> RunStop | None:
        """What keeps the last request from its answer: a limit of the run, or the provider.

        A request that failed, and is not answered since, waits for the provider; so does one that
        is given up before the provider has answered any request of the run.
        """
        silent = self._unanswered or (self.in_flight and not self._outage.answers)
        return self._waits_for or (RunStop.OUTAGE if silent else None)

    @property
    def dollars_left(self) -> float | None:
        """US dollars left of `max_cost_per_sample`; None without it."""
        limit = self._budget.allowance.cost_per_sample
        return None if limit is None else limit - self._spent

    async def enter(self) -> None:
        """Wait for the budget, for the end of an outage, then for a place in flight.

        Raises:
            BudgetSpentError: the sample's budget may not cover another request.
            RunStoppedError: the run's budget may not, or the run is stopping.
        """
        self._stopping.check()
        limit = self._budget.allowance.cost_per_sample
        if limit is not None and (self._spent >= limit or self._spent + self._last > limit):
            raise BudgetSpentError(StopReason.COST_LIMIT)
        self.in_flight = self._unanswered = False
        while True:
            self._waits_for = RunStop.BUDGET
            await self._budget.admit()
            try:
                await self._take_place()
                self._stopping.check()
            except BaseException:
                self._stopping.goes_on()
                self._give_back()
                self._budget.settle(None)
                raise
            if self._budget.holds():  # answers received meanwhile may have cost more
                self._answers = self._outage.answers
                return
            self._give_back()
            self._budget.settle(None)

    async def _take_place(self) -> None:
        """Wait until the provider answers and a place is free."""
        self._stopping.waits()
        while True:
            self._waits_for = RunStop.OUTAGE if self._outage.under_way else None
            self._probe = await self._outage.turn()
            self._waits_for = None
            self._ticket = await self._limiter.acquire(self._share.rank)
            if self._probe or not self._outage.under_way:
                break
            self._give_back()  # an outage started during the wait for a place
        self._stopping.goes_on()

    def _give_back(self) -> None:
        """Return the place and the right to probe, if held."""
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._limiter.release()
        self._probed()

    def _probed(self) -> None:
        probe, self._probe = self._probe, False
        if probe:
            self._outage.probed()

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        """Release the place during the wait for a retry, keeping the reserved budget.

        The cost of the failed answer is counted.

        Args:
            retry: the failure.
            estimate: estimated tokens, if the harness's timeout cut the request off.
        """
        if retry.usage is not None or retry.cut:
            usage = retry.usage or estimate
            self._budget.count(Spent(usage, estimated=retry.usage is None))
            self._charge(usage)
            self.unheard += retry.usage is None
        self._unanswered = True
        self._stopping.waits()
        self._outage.failed(retry)
        ticket, self._ticket = self._ticket, None
        if ticket is not None and retry.throttled:
            self._limiter.refused(ticket)
        elif ticket is not None:
            self._limiter.release()
        self._probed()

    async def enter_again(self) -> None:
        """Wait for the end of an outage and for a place; the budget is still reserved."""
        await self._take_place()

    def may_be_dropped(self) -> None:
        """Allow cancelling the current task when the user stops the run."""
        self._stopping.waits()

    def recall(self, usage: Usage | None) -> None:
        """Charge a reused answer of an earlier attempt; the run has already counted it."""
        self._charge(usage)

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        """Return the place, and count the cost.

        Args:
            turn: the answer, if there is one.
            billed: whether the request is billed.
            usage: tokens of an unusable answer.
            estimate: estimated tokens of an answer that was lost or did not report them.
        """
        self._stopping.goes_on()
        sent = self._ticket is not None
        if turn is not None and sent:
            self._ticket = None
            self._limiter.answered()
        if turn is not None or usage is not None:
            self._unanswered = False
            self._outage.answered()
        self._give_back()
        known = usage if turn is None else turn.usage
        self.in_flight = sent and billed and turn is None and usage is None
        self.unheard += self.in_flight
        if not sent and turn is None and known is None:  # it waited for a retry
            billed = False
        billed = billed or known is not None
        silent = turn is not None and turn.usage is None
        spent = Spent(known or estimate, silent=silent, estimated=known is None)
        self._budget.settle(spent if billed else None)
        if billed:
            self._charge(known or estimate)

    def comes_back(self, error: ModelError) -> bool:
        """Whether a request that was given up is retried after an outage."""
        if not error.unavailable:  # a refusal is also an answer
            self._outage.answered()
            return False
        return self._outage.gave_up(str(error), self._answers)

    def refuse(self, error: ModelError) -> None:
        """Stop the run since the provider refuses all requests. Raises RunStoppedError."""
        self._stopping.stop(RunStop.REFUSED, str(error))
        self._stopping.check()

    def _charge(self, usage: Usage | None) -> None:
        """Charge a request to the sample's own budget; unknown usage counts as the last."""
        self._last = cost(usage, self._budget.price) or self._last
        self._spent += self._last
        self._budget.charge(self._share, usage)
