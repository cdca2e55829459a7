"""A conversation with a model, in which every request and answer is recorded at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from harness.agent import events
from harness.agent.attempt import StopReason
from harness.agent.dialogue import Dialogue, writable_turn
from harness.agent.journal import REFUSALS, word_of
from harness.agent.session import BudgetSpentError
from harness.models import protocol
from harness.models.estimated_usage import estimated_usage
from harness.models.replay import Recording

LOADING = (
    "the server is still loading its model ({cause}); requests wait for it, for as long as "
    "--set retry_timeout=S allows"
)

TOO_LONG_AT_ONCE = (
    "the first request of a sample is too long for the model ({cause}); such samples are graded "
    "without a solution. Lower --max-tokens, or serve the model with a longer context"
)


class Conversation(Dialogue):
    """A dialogue that sends its requests through the sample's gate and journal."""

    async def ask(self) -> protocol.ModelTurn:
        """Send the messages within the remaining seconds, or return the recorded answer.

        Raises:
            BudgetSpentError: the turns or tokens are used up, or the sample's budget may not
                suffice; nothing was sent.
            RunStoppedError: a limit of the run was reached; nothing more is sent.
            ModelError: the provider did not answer.
            TimeoutError: the sample's working seconds are used up.
        """
        self._check_limits()
        request = self._request()
        try:
            return self._recorded(request) or await self._sent_now(request)
        except tuple(REFUSALS) as error:
            refused = events.Refused(turn=self.turns, refusal=word_of(error), cause=str(error))
            self._session.journal(refused)
            raise

    async def _sent_now(self, request: events.Request) -> protocol.ModelTurn:
        if isinstance(self._session.model, Recording) and (ended := self._session.model.ended):
            raise ended
        gate, sent = self._session.gate, False
        while True:
            await self._queue(gate.enter)
            if not sent:  # after an outage the same request is sent again
                self._sent(request)
                self._session.journal(request)
            sent = True
            try:
                turn = await self._ask()
            except protocol.ModelError as error:
                self._failed(error)
                if error.stops_run:
                    gate.refuse(error)
                if not gate.comes_back(error):
                    raise
            except BaseException:
                # An abandoned answer is billed all the same.
                gate.leave(None, billed=True, estimate=self._estimate())
                raise
            else:
                gate.leave(turn, billed=True, estimate=self._estimate(turn))
                return turn

    def _check_limits(self) -> None:
        """Raise BudgetSpentError if turns or tokens are used up; seconds end `_generate`."""
        spent = self.spent()
        if spent is not None and spent is not StopReason.TIME_LIMIT:
            raise BudgetSpentError(spent)

    def _failed(self, error: protocol.ModelError) -> None:
        """Count the cost of a last answer that was unusable or lost; warn if nothing can fit."""
        if isinstance(error, protocol.ContextOverflowError) and self.turns == 1:
            self._session.warn("too long", TOO_LONG_AT_ONCE.format(cause=error))
        paid = error.usage
        estimate = self._estimate() if error.cut else None
        if paid is not None:
            self.usage += paid
        if paid or estimate:
            estimated = None if paid else True
            self._session.journal(
                events.Unusable(
                    turn=self.turns,
                    cause=str(error),
                    usage=paid or estimate or protocol.Usage(),
                    estimated=estimated,
                )
            )
        self._session.gate.leave(None, billed=error.cut, usage=paid, estimate=estimate)

    def _estimate(self, turn: protocol.ModelTurn | None = None) -> protocol.Usage | None:
        """Estimate the last request's tokens, if the answer is missing or has no count."""
        return estimated_usage(self._messages, turn, self._session.settings.max_tokens)

    def _recorded(self, request: events.Request) -> protocol.ModelTurn | None:
        journal, gate = self._session.journal, self._session.gate
        try:
            recorded = journal.answer(request)
        except tuple(REFUSALS):
            self._pass_over()
            self._recall_retries()
            self._sent(request)
            raise
        if recorded is None:
            return None
        self._pass_over()
        self._recall_retries()
        self._sent(request)
        turn = recorded.response
        self._hear(turn)
        gate.recall(turn.usage)
        self.recall_seconds(turn.latency_s)
        return turn

    def _pass_over(self) -> None:
        """Keep a recorded model in step with the sample's transcript."""
        if isinstance(self._session.model, Recording):
            self._session.model.pass_over()

    def _recall_retries(self) -> None:
        """Count the cost of recorded failed answers before the recorded answer."""
        for usage in self._session.journal.retries():
            self.usage += usage
            self._session.gate.recall(usage)

    async def _queue(self, enter: Callable[[], Awaitable[None]]) -> float:
        """Wait in a queue, which is no working time; return the seconds waited."""
        started = time.monotonic()
        await enter()
        waited = time.monotonic() - started
        self._waited += waited
        return waited

    async def _ask(self) -> protocol.ModelTurn:
        try:
            turn = writable_turn(await self._generate())
        except (TimeoutError, asyncio.CancelledError):
            self.usage_known = False  # billed all the same, but the amount is unknown
            raise
        self._session.journal(events.Response(turn=self.turns, response=turn))
        self._hear(turn)
        return turn

    async def _generate(self) -> protocol.ModelTurn:
        """Return the answer within the working time; waits before retries extend its end."""
        gate = self._session.gate
        limit = self._session.limits.seconds
        async with asyncio.timeout(None if limit is None else limit - self.seconds) as clock:

            async def enter_again() -> None:
                deadline, waited = clock.when(), 0.0
                clock.reschedule(None)
                try:
                    waited = await self._queue(gate.enter_again)
                finally:
                    clock.reschedule(None if deadline is None else deadline + waited)

            def on_retry(retry: protocol.Retry) -> protocol.Resume | None:
                self._waited += retry.wait_s
                deadline = clock.when()
                if deadline is not None:
                    clock.reschedule(deadline + retry.wait_s)
                self.usage += retry.usage or protocol.Usage()
                self._session.journal(events.Retried(turn=self.turns, **dict(retry)))
                if retry.loading:
                    self._session.warn("loading", LOADING.format(cause=retry.cause))
                if not retry.wait_s and not retry.usage:  # sent again at once, keeping its place
                    return None
                gate.step_aside(retry, self._estimate() if retry.cut else None)
                return enter_again

            return await self._session.model.generate(
                tuple(self._messages), self._tools, self._session.settings, on_retry
            )
