"""A conversation with a model, every word of it recorded as it is said."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable

from harness.agent.attempt import Session
from harness.agent.events import Request, Response, Retried
from harness.grading.excerpts import writable
from harness.models.protocol import (
    Message,
    ModelError,
    ModelTurn,
    Resume,
    Retry,
    ToolSpec,
    Usage,
)


class Conversation:
    """Messages that only ever grow, and what they have cost.

    The hash of a request covers the settings, the tools and every message in order; each request's
    is built on the last one's, so a conversation of any length is hashed once.
    """

    def __init__(self, session: Session, tools: tuple[ToolSpec, ...] = ()) -> None:
        self._session = session
        self._begin(tools)
        self._started = time.monotonic()
        self._waited = 0.0
        self.usage = Usage()
        self.usage_known = True
        self.turns = 0

    def add(self, *messages: Message, recorded: bool = False) -> None:
        """Add messages; those that no event holds yet stand in the next request's."""
        if not recorded:
            self._unrecorded += messages
        for message in messages:
            self._messages.append(message)
            self._digest.update(message.model_dump_json().encode())

    def start_anew(self) -> None:
        """Forget what was said, and the tools; turns, seconds and usage go on."""
        self._begin(())

    def _begin(self, tools: tuple[ToolSpec, ...]) -> None:
        self._tools = tools
        self._messages: list[Message] = []
        self._unrecorded: list[Message] = []
        self._digest = hashlib.sha256(self._session.settings.model_dump_json().encode())
        for tool in tools:
            self._digest.update(tool.model_dump_json().encode())

    @property
    def seconds(self) -> float:
        """Working seconds so far."""
        return time.monotonic() - self._started - self._waited

    async def ask(self) -> ModelTurn:
        """Send what was said, within the seconds that are left.

        Raises:
            BudgetSpentError: there may be too little left for it; nothing was sent.
            ModelError: the provider did not answer.
            TimeoutError: the sample's working seconds are spent.
        """
        gate = self._session.gate
        await self._queue(gate.enter)
        try:
            turn = await self._ask()
        except BaseException as error:
            # An answer that nobody waits for any longer has to be paid for all the same.
            gate.leave(None, billed=not isinstance(error, ModelError))
            raise
        gate.leave(turn, billed=True)
        return turn

    async def _queue(self, enter: Callable[[], Awaitable[None]]) -> float:
        """Queue, which is no work; the seconds that it took."""
        started = time.monotonic()
        await enter()
        waited = time.monotonic() - started
        self._waited += waited
        return waited

    async def _ask(self) -> ModelTurn:
        self.turns += 1
        unrecorded, self._unrecorded = tuple(self._unrecorded), []
        digest = self._digest.hexdigest()
        self._session.record(Request(turn=self.turns, hash=digest, messages=unrecorded))
        try:
            turn = _writable(await self._generate())
        except TimeoutError:
            self.usage_known = False  # billed all the same, and nobody says how much
            raise
        self._session.record(Response(turn=self.turns, response=turn))
        self.add(turn.message(), recorded=True)
        self.usage_known = self.usage_known and turn.usage is not None
        self.usage += turn.usage or Usage()
        return turn

    async def _generate(self) -> ModelTurn:
        """The answer, unless working time ends first; waiting for a retry moves that end."""
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

            def on_retry(retry: Retry) -> Resume | None:
                self._waited += retry.wait_s
                deadline = clock.when()
                if deadline is not None:
                    clock.reschedule(deadline + retry.wait_s)
                self._session.record(Retried(turn=self.turns, **retry.model_dump()))
                if not retry.wait_s:  # sent again at once, in the same place
                    return None
                gate.step_aside(retry)
                return enter_again

            return await self._session.model.generate(
                tuple(self._messages), self._tools, self._session.settings, on_retry
            )


def _writable(turn: ModelTurn) -> ModelTurn:
    """The turn with lone surrogates, which a transcript cannot hold, spelled out."""
    calls = tuple(
        call.model_copy(update={"name": writable(call.name), "arguments": writable(call.arguments)})
        for call in turn.tool_calls
    )
    return turn.model_copy(update={"text": writable(turn.text), "tool_calls": calls})
