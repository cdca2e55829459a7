"""The budget of a run: whether another request or sample fits into it.

The cost of a request is unknown before it is answered. So each request, including those in flight,
is assumed to cost as much as the most expensive one so far, and is sent if that still fits; until
a cost is known, requests are sent one at a time. A run therefore exceeds its limit by at most the
amount by which each request then in flight costs more than all before it. A request that does not
fit waits for those in flight, which may turn out cheaper.

A sample is started only if the budget suffices to finish it beside those under way, each assumed
to cost as much as the most expensive finished sample. Until one is finished, a sample is assumed
to use all its turns at the price of the most expensive request. If no other sample is under way,
the mean is used instead.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.agent.attempt import RunStop, StopReason
from harness.agent.session import RunStoppedError
from harness.models.prices.price import Price, cost
from harness.models.protocol import Usage
from harness.run.store.billed_requests import Spent

ROUNDING = 1e-9  # relative, so that ten dimes make a dollar
MOST_SILENT = 2
"""Answers without token counts after which the provider is taken to report none.

A first one may be streamed by an endpoint that reports tokens only without streaming.
"""

Amounts = dict[StopReason, float]
"""Amounts spent, by the limit that counts them."""


@dataclass(slots=True)
class Meter:
    """Counter of one limited quantity, dollars or tokens.

    Attributes:
        limit: the largest total.
        reason: name of the limit.
        price: the model's price, for dollars; None for tokens.
        spent: amount spent so far.
        dearest: largest amount of one request; None while unknown.
        finished: number of finished samples.
        finished_sum: total amount of finished samples.
        dearest_sample: largest amount of one finished sample.
    """

    limit: float
    reason: StopReason
    spent: float = 0.0
    dearest: float | None = None
    price: Price | None = None
    finished: int = 0
    finished_sum: float = 0.0
    dearest_sample: float = 0.0

    def amount(self, usage: Usage | None) -> float | None:
        """Return the amount of a usage; None if unknown."""
        if self.reason is StopReason.COST_LIMIT:
            return cost(usage, self.price)
        return None if usage is None else usage.total_tokens

    def add(self, amount: float | None, requests: int = 1, *, estimated: bool = False) -> None:
        """Count answered requests; unknown amounts count as the largest so far."""
        if amount is None:
            self.spent += requests * (self.dearest or 0.0)
            return
        self.spent += amount
        if requests and not estimated:
            self.dearest = max(self.dearest or 0.0, amount / requests)

    def finish(self, amount: float) -> None:
        """Count a finished sample."""
        self.finished += 1
        self.finished_sum += amount
        self.dearest_sample = max(self.dearest_sample, amount)

    @property
    def reached(self) -> bool:
        """Whether no further request fits."""
        return self.spent >= self.limit or not self.holds(1)

    def fits(self, in_flight: int) -> bool:
        """Whether one more request fits beside those in flight."""
        if self.dearest is None:
            return not in_flight
        return self.holds(in_flight + 1)

    def holds(self, requests: int) -> bool:
        """Whether this many requests fit, each assumed to cost the largest amount so far."""
        return self._holds(requests * (self.dearest or 0.0))

    def fits_sample(self, begun: float, under_way: Iterable[float], turns: int) -> bool:
        """Whether a sample can be finished beside those under way.

        Args:
            begun: amount the sample has already spent.
            under_way: amount spent by each sample under way.
            turns: largest number of requests of a sample.
        """
        least, others = self.dearest or 0.0, list(under_way)
        if not others:
            mean = self.finished_sum / self.finished if self.finished else 0.0
            return self._holds(max(mean - begun, least))
        if self.dearest is None:
            return False
        whole = self.dearest_sample if self.finished else turns * least
        return self._holds(sum(max(whole - spent, least) for spent in (*others, begun)))

    def _holds(self, amount: float) -> bool:
        return self.spent + amount <= self.limit * (1 + ROUNDING)


class Allowance(NamedTuple):
    """Budget limits; None is no limit.

    Attributes:
        cost: US dollars for the whole run.
        tokens: input and output tokens for the whole run.
        cost_per_sample: US dollars for one sample.
    """

    cost: float | None = None
    tokens: int | None = None
    cost_per_sample: float | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """US dollars and tokens spent; zero for an unlimited quantity."""

    cost: float = 0.0
    tokens: float = 0.0

    def __add__(self, other: "Total") -> "Total":
        return Total(self.cost + other.cost, self.tokens + other.tokens)

    def __sub__(self, other: "Total") -> "Total":
        return Total(self.cost - other.cost, self.tokens - other.tokens)


NOTHING = Total()


@dataclass(eq=False, slots=True)
class Share:
    """Spending of one sample under way, as part of the run's budget.

    Attributes:
        spent: amounts so far.
        rank: how many samples began before it.
    """

    spent: Amounts = field(default_factory=Amounts)
    rank: int = 0


@dataclass(slots=True)
class Budget:
    """The budget of one run.

    Attributes:
        allowance: the limits.
        price: the model's price; must be known if dollars are limited.
        elsewhere: spending of others that share the budget.
        turned_away: the limit that prevented a request or a sample; None if none did.
        begun: spending of unfinished samples in earlier invocations, by sample name.
    """

    allowance: Allowance
    price: Price | None = None
    elsewhere: Total = NOTHING
    turned_away: StopReason | None = None
    begun: Mapping[str, Amounts] = field(default_factory=dict[str, Amounts])
    _silent: int = 0
    _in_flight: int = 0
    _begun: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _cost: Meter | None = None
    _tokens: Meter | None = None
    _meters: tuple[Meter, ...] = ()
    _shares: set[Share] = field(default_factory=set[Share])

    def __post_init__(self) -> None:
        if self.allowance.cost is not None:
            spent = self.elsewhere.cost
            reason = StopReason.COST_LIMIT
            self._cost = Meter(self.allowance.cost, reason, spent, price=self.price)
        if self.allowance.tokens is not None:
            spent = self.elsewhere.tokens
            self._tokens = Meter(self.allowance.tokens, StopReason.TOKEN_LIMIT, spent)
        self._meters = tuple(meter for meter in (self._cost, self._tokens) if meter is not None)

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return bool(self._meters)

    def count(self, spent: Spent) -> None:
        """Count answered requests of this or an earlier invocation."""
        self._silent += spent.silent
        for meter in self._meters:
            amount = meter.amount(spent.usage)
            meter.add(amount, spent.requests, estimated=spent.estimated)

    def amounts(self, spent: Iterable[Spent]) -> Amounts:
        """Return the amounts of some requests, by limit."""
        known = [each.usage for each in spent]
        return {
            meter.reason: sum(meter.amount(usage) or 0.0 for usage in known)
            for meter in self._meters
        }

    @property
    def reached(self) -> StopReason | None:
        """The limit into which no further request fits, if any.

        If the provider does not report tokens, a limit counts as reached.
        """
        if self._blind:
            return self._meters[0].reason
        return next((meter.reason for meter in self._meters if meter.reached), None)

    @property
    def spent(self) -> Total:
        """Limited amounts spent so far, including elsewhere."""
        return Total(
            self._cost.spent if self._cost else 0.0, self._tokens.spent if self._tokens else 0.0
        )

    def ending(self, unit: str) -> str:
        """Say in words, after the flag in `turned_away`, why nothing more was sent.

        Args:
            unit: name of what was not begun, for a limit into which a further request would fit.
        """
        if self._blind:
            return f"cannot be kept: {self.state}"
        if self.reached is None:
            return f"is too low for another {unit}: {self.state}"
        is_spent = any(meter.spent >= meter.limit for meter in self._meters)
        return f"{'is reached' if is_spent else 'is too low for another request'}: {self.state}"

    @property
    def can_be_raised(self) -> bool:
        """Whether a higher limit would let the run go on."""
        return not self._blind

    @property
    def state(self) -> str:
        """Spending and limits in words."""
        if self._blind:
            return "the provider does not tell how many tokens it used"
        parts: list[str] = []
        if self._cost is not None:
            parts.append(f"${self._cost.spent:,.4f} of ${self._cost.limit:,.4f}")
        if self._tokens is not None:
            parts.append(f"{self._tokens.spent:,.0f} of {self._tokens.limit:,} tokens")
        return " and ".join(parts)

    async def admit(self) -> None:
        """Wait until another request fits.

        Raises:
            RunStoppedError: it will never fit.
        """
        while True:
            if (reached := self.reached) is not None:
                self.turned_away = reached
                raise RunStoppedError(RunStop.BUDGET, self.state)
            if all(meter.fits(self._in_flight) for meter in self._meters):
                self._in_flight += 1
                return
            await self._changed.wait()

    def holds(self) -> bool:
        """Whether the admitted requests still fit, given what is known now."""
        return all(meter.holds(self._in_flight) for meter in self._meters)

    async def begin(self, sample: str = "", turns: int = 1) -> Share | None:
        """Wait until a sample can be finished within the budget, and start it.

        Args:
            sample: the sample's name.
            turns: largest number of requests of a sample.

        Returns:
            The sample's share, to be passed to `end`; None if the rest of the budget does not
                suffice for the sample.
        """
        while (short := self._too_short_for(sample, turns)) is not None:
            if self.reached is not None or not self._shares:
                self.turned_away = short
                return None
            await self._changed.wait()
        share = Share(rank=self._begun)
        self._begun += 1
        self._shares.add(share)
        return share

    def _too_short_for(self, sample: str, turns: int) -> StopReason | None:
        """Return the limit too small for a sample beside those under way, or None."""
        if (reached := self.reached) is not None:
            return reached
        begun, under_way = self.begun.get(sample, {}), [each.spent for each in self._shares]
        for meter in self._meters:
            others = (spent.get(meter.reason, 0.0) for spent in under_way)
            if not meter.fits_sample(begun.get(meter.reason, 0.0), others, turns):
                return meter.reason
        return None

    def charge(self, share: Share, usage: Usage | None) -> None:
        """Charge a request to its sample; the run has already counted it."""
        for meter in self._meters:
            amount = meter.amount(usage)
            spent = share.spent.get(meter.reason, 0.0)
            share.spent[meter.reason] = spent + (meter.dearest or 0.0 if amount is None else amount)

    def end(self, share: Share, *, finished: bool) -> None:
        """Note that a sample ended; a finished one is used to predict others."""
        self._shares.discard(share)
        if finished:
            self.finish(share.spent)
        self._wake()

    def finish(self, spent: Amounts) -> None:
        """Count a finished sample."""
        for meter in self._meters:
            if spent.get(meter.reason):
                meter.finish(spent[meter.reason])

    def settle(self, spent: Spent | None) -> None:
        """Note that a request ended; `spent` is None if it cost nothing."""
        self._in_flight -= 1
        if spent is not None:
            self.count(spent)
        self._wake()

    def _wake(self) -> None:
        if self._meters:  # without a limit no request waits
            self._changed.set()
            self._changed = asyncio.Event()

    @property
    def _blind(self) -> bool:
        if self._silent < MOST_SILENT:
            return False
        return any(meter.dearest is None for meter in self._meters)
