"""What a run may spend, and whether one more request or sample fits into it.

Nobody knows what a request costs before it is answered. So each is taken to cost as much as the
dearest that the run has seen, those in flight included, and is sent if that still fits; while
nothing is known one is sent alone. A run therefore spends at most its limit and, for each request
then in flight, what that one costs more than every one before it. What does not fit while others
are in flight waits for them: they may turn out cheaper.

A sample is begun only if the budget can finish it beside those under way, each taken to cost as
much as the dearest finished sample. While no sample is finished, a sample is taken to use all its
turns at the price of the dearest request. With no other sample under way, the mean decides.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.agent.attempt import RunStop, RunStoppedError, StopReason
from harness.models.prices import Price, cost
from harness.models.protocol import Usage
from harness.run.store.request_log import Spent

ROUNDING = 1e-9  # of a limit: ten dimes are a dollar
MOST_SILENT = 2
"""Answers without token counts, until the provider is taken to never report them.

The first may have been streamed by an endpoint that reports tokens only without streaming.
"""

Amounts = dict[StopReason, float]
"""What was spent, by the limit that counts it."""


@dataclass(slots=True)
class Meter:
    """One thing that is spent, dollars or tokens.

    Attributes:
        limit: of all that may be spent.
        reason: names the limit.
        price: of a token in dollars; None where tokens are counted.
        spent: so far; `dearest` is the most that one request took, None while that is unknown.
        finished: samples that are done; they took `finished_sum` in all, one `dearest_sample`.
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
        """What a usage amounts to; None where it is unknown."""
        if self.reason is StopReason.COST_LIMIT:
            return cost(usage, self.price)
        return None if usage is None else usage.total_tokens

    def add(self, amount: float | None, requests: int = 1, *, estimated: bool = False) -> None:
        """Count requests that are answered; of unknown ones each as the dearest so far."""
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
        """Whether not even one more request fits."""
        return self.spent >= self.limit or not self.holds(1)

    def fits(self, in_flight: int) -> bool:
        """Whether one more fits beside those in flight."""
        if self.dearest is None:
            return not in_flight
        return self.holds(in_flight + 1)

    def holds(self, requests: int) -> bool:
        """Whether so many requests fit, each as dear as the dearest so far."""
        return self._holds(requests * (self.dearest or 0.0))

    def fits_sample(self, begun: float, under_way: Iterable[float], turns: int) -> bool:
        """Whether a sample can be finished beside those under way.

        Args:
            begun: what it has spent already.
            under_way: what each sample under way has spent.
            turns: the most requests of a sample.
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


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits that were given; None is none.

    Attributes:
        cost: US dollars of the whole run.
        tokens: input and output of the whole run.
        cost_per_sample: US dollars of one sample.
    """

    cost: float | None = None
    tokens: int | None = None
    cost_per_sample: float | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """What was spent: US dollars and tokens; zero where neither is limited."""

    cost: float = 0.0
    tokens: float = 0.0

    def __add__(self, other: "Total") -> "Total":
        return Total(self.cost + other.cost, self.tokens + other.tokens)

    def __sub__(self, other: "Total") -> "Total":
        return Total(self.cost - other.cost, self.tokens - other.tokens)


NOTHING = Total()


@dataclass(eq=False, slots=True)
class Share:
    """What one sample under way has spent of the run's budget."""

    spent: Amounts = field(default_factory=Amounts)


@dataclass(slots=True)
class Budget:
    """Of one run.

    Attributes:
        allowance: its limits.
        price: of its model; must be known where dollars are limited.
        elsewhere: what others have spent of the same, where it is not the run's alone.
        turned_away: the limit for which something was not asked, or not begun; None while there
            is none.
        begun: what unfinished samples spent in earlier invocations, by the sample's name.
    """

    allowance: Allowance
    price: Price | None = None
    elsewhere: Total = NOTHING
    turned_away: StopReason | None = None
    begun: Mapping[str, Amounts] = field(default_factory=dict[str, Amounts])
    _silent: int = 0
    _in_flight: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _cost: Meter | None = None
    _tokens: Meter | None = None
    _shares: set[Share] = field(default_factory=set[Share])

    def __post_init__(self) -> None:
        if self.allowance.cost is not None:
            spent = self.elsewhere.cost
            reason = StopReason.COST_LIMIT
            self._cost = Meter(self.allowance.cost, reason, spent, price=self.price)
        if self.allowance.tokens is not None:
            spent = self.elsewhere.tokens
            self._tokens = Meter(self.allowance.tokens, StopReason.TOKEN_LIMIT, spent)

    @property
    def is_limited(self) -> bool:
        """Whether the run may not spend whatever it likes."""
        return bool(self._meters)

    def count(self, spent: Spent) -> None:
        """Count what was answered, in this invocation or an earlier one."""
        self._silent += spent.silent
        for meter in self._meters:
            amount = meter.amount(spent.usage)
            meter.add(amount, spent.requests, estimated=spent.estimated)

    def amounts(self, spent: Iterable[Spent]) -> Amounts:
        """What some requests come to, by the limit that counts it."""
        known = [each.usage for each in spent]
        return {
            meter.reason: sum(meter.amount(usage) or 0.0 for usage in known)
            for meter in self._meters
        }

    @property
    def reached(self) -> StopReason | None:
        """The limit into which no further request fits, if there is one.

        A provider that tells of no tokens cannot be held to any.
        """
        if self._blind:
            return self._meters[0].reason
        return next((meter.reason for meter in self._meters if meter.reached), None)

    @property
    def spent(self) -> Total:
        """So far, elsewhere included, of what is limited."""
        return Total(
            self._cost.spent if self._cost else 0.0, self._tokens.spent if self._tokens else 0.0
        )

    @property
    def state(self) -> str:
        """What is spent of what, in words."""
        if self._blind:
            return "the provider does not tell how many tokens it used"
        parts: list[str] = []
        if self._cost is not None:
            parts.append(f"${self._cost.spent:,.4f} of ${self._cost.limit:,.4f}")
        if self._tokens is not None:
            parts.append(f"{self._tokens.spent:,.0f} of {self._tokens.limit:,} tokens")
        return " and ".join(parts)

    async def admit(self) -> None:
        """Wait until one more request fits.

        Raises:
            RunStoppedError: it never will.
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
        """Whether what was let through still fits, now that more is known."""
        return all(meter.holds(self._in_flight) for meter in self._meters)

    async def begin(self, sample: str = "", turns: int = 1) -> Share | None:
        """Wait until a sample can be finished within the budget, and begin it.

        Args:
            sample: its name.
            turns: the most requests that a sample makes.

        Returns:
            The sample's share, to be handed back to `end`; None where the rest of the budget does
            not suffice for the sample.
        """
        while (short := self._too_short_for(sample, turns)) is not None:
            if self.reached is not None or not self._shares:
                self.turned_away = short
                return None
            await self._changed.wait()
        share = Share()
        self._shares.add(share)
        return share

    def _too_short_for(self, sample: str, turns: int) -> StopReason | None:
        """The limit that cannot bear a sample beside those under way, if there is one."""
        if (reached := self.reached) is not None:
            return reached
        begun, under_way = self.begun.get(sample, {}), [each.spent for each in self._shares]
        for meter in self._meters:
            others = (spent.get(meter.reason, 0.0) for spent in under_way)
            if not meter.fits_sample(begun.get(meter.reason, 0.0), others, turns):
                return meter.reason
        return None

    def charge(self, share: Share, usage: Usage | None) -> None:
        """Count what a request of a sample took for that sample; the run has counted it."""
        for meter in self._meters:
            amount = meter.amount(usage)
            spent = share.spent.get(meter.reason, 0.0)
            share.spent[meter.reason] = spent + (meter.dearest or 0.0 if amount is None else amount)

    def end(self, share: Share, *, finished: bool) -> None:
        """A sample has ended; a finished one tells what a sample takes."""
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
        """A request has ended; `spent` is None where it cost nothing."""
        self._in_flight -= 1
        if spent is not None:
            self.count(spent)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def _blind(self) -> bool:
        unknown = any(meter.dearest is None for meter in self._meters)
        return self._silent >= MOST_SILENT and unknown

    @property
    def _meters(self) -> tuple[Meter, ...]:
        return tuple(meter for meter in (self._cost, self._tokens) if meter is not None)
