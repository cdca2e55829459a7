"""The messages of one sample and their token counts; another module sends requests."""

import hashlib
import math
import time
from collections.abc import Sequence
from typing import Protocol

from harness.agent.attempt import Session, StopReason
from harness.agent.events import Cleared, NewConversation, Request, Response
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelTurn,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from harness.models.text_tools.instructions import said_in_text
from harness.text import writable

LENGTH_OF_HASH = 32  # hex digits, of 64: one conversation is to be told from another
NEWEST_RESULTS = 2  # are never cleared
CLEARED = "(This older result was left out to make room. Call the tool again if you need it.)"
CUT_OFF = (
    "the provider counted {now:,} prompt tokens after {before:,}, though the conversation had "
    "grown: it may have cut off the beginning. Ollama does so beyond its context length; raise "
    "OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile, and start the run anew"
)
READ_ONCE = "read_problem"  # what it told first is needed to the end


class Digest(Protocol):
    """A hash that grows."""

    def update(self, data: bytes, /) -> None:
        """Take more in."""
        ...

    def hexdigest(self) -> str:
        """Of all so far."""
        ...


class Dialogue:
    """Messages that only ever grow, and what they have cost.

    The hash of a request covers the settings, the tools and every message in order; each request's
    is built on the last one's, so a conversation of any length is hashed once.

    Attributes:
        turns: requests so far.
        usage: of all their answers, and of failed ones that had to be paid for; `usage_known`:
            whether each told of it.
    """

    def __init__(self, session: Session, tools: tuple[ToolSpec, ...] = ()) -> None:
        self._session = session
        self._begin(tools)
        self._started = self.clock()
        self._waited = 0.0
        self.usage: Usage = Usage()
        self.usage_known = True
        self.turns = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that the next request holds."""
        return tuple(self._messages)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the next request names."""
        return self._tools

    def answered(self, turn: ModelTurn) -> None:
        """Add an answer to all that was said so far, where somebody else has asked for it."""
        request = self._request()
        self._sent(request)
        self._session.journal(request)
        self._session.journal(Response(turn=self.turns, response=turn))
        self._hear(turn)

    def add(self, *messages: Message, recorded: bool = False) -> None:
        """Add messages; those that no event holds yet stand in the next request's."""
        if not recorded:
            self._unrecorded += messages
        for message in messages:
            self._messages.append(message)
            self._digest.update(message.model_dump_json().encode())

    def start_anew(self, tools: tuple[ToolSpec, ...] = ()) -> None:
        """Forget what was said, and the tools; turns, seconds and usage go on."""
        if self._messages:
            self._session.journal(NewConversation(turn=self.turns))
        self._begin(tools)

    def clear_results(self, cause: str) -> bool:
        """Leave old results of tools out, after a request that was too long; False if none is left.

        The newest stay, and so does what the problem was said to be. Of the others it is the later
        half, so that as much as possible of the beginning, which the provider may have cached,
        stays as it was.

        Args:
            cause: the provider's words.
        """
        results = [
            place for place, said in enumerate(self._messages) if isinstance(said, ToolMessage)
        ]
        first_read = next((p for p in results if self._tool(p).name == READ_ONCE), None)
        old = [
            place
            for place in results[:-NEWEST_RESULTS]
            if place != first_read and len(self._tool(place).content) > len(CLEARED)
        ]
        if not old:
            return False
        gone = old[len(old) // 2 :]
        ids = tuple(self._tool(place).call_id for place in gone)
        self._session.journal(Cleared(turn=self.turns, call_ids=ids, text=CLEARED, cause=cause))
        for place in gone:
            cleared = self._tool(place).model_copy(update={"content": CLEARED})
            self._messages[place] = cleared
        self._digest = self._hash_of(self._tools, self._messages)
        self._prompt_tokens = None
        self.turns -= 1  # it is the same one that is asked again
        return True

    def _tool(self, place: int) -> ToolMessage:
        message = self._messages[place]
        assert isinstance(message, ToolMessage)
        return message

    def _begin(self, tools: tuple[ToolSpec, ...]) -> None:
        self._tools = tools
        self._prompt_tokens: int | None = None  # of the newest answered request
        self._messages: list[Message] = []
        self._unrecorded: list[Message] = []
        self._digest = self._hash_of(tools, ())

    def _hash_of(self, tools: Sequence[ToolSpec], messages: Sequence[Message]) -> Digest:
        digest = hashlib.sha256(self._session.settings.model_dump_json().encode())
        for part in (*tools, *messages):
            digest.update(part.model_dump_json().encode())
        return digest

    @property
    def seconds(self) -> float:
        """Working seconds so far, those of an earlier attempt that is taken up among them."""
        return self.clock() - self._started - self._waited

    def clock(self) -> float:
        """Monotonic seconds, without those that tests waited for a sandbox worker."""
        return time.monotonic() - self._session.workspace.queued_s

    @property
    def unsent(self) -> bool:
        """Whether something was added that no request has carried yet."""
        return bool(self._unrecorded)

    @property
    def out_of_time(self) -> bool:
        """Whether the sample's working seconds are used up."""
        limit = self._session.limits.seconds
        return limit is not None and self.seconds >= limit

    def spent(self) -> StopReason | None:
        """The limit that is used up, if one is: of turns, of tokens or of working seconds."""
        limits = self._session.limits
        if self.turns >= limits.turns:
            return StopReason.TURN_LIMIT
        tokens = self.usage.total_tokens if self.usage_known else math.inf
        if limits.tokens is not None and tokens >= limits.tokens:
            return StopReason.TOKEN_LIMIT
        return StopReason.TIME_LIMIT if self.out_of_time else None

    def recall_seconds(self, seconds: float) -> None:
        """Working seconds of an earlier attempt count as this one's."""
        self._waited -= seconds

    def _request(self) -> Request:
        return Request(
            turn=self.turns + 1,
            hash=self._digest.hexdigest()[:LENGTH_OF_HASH],
            messages=tuple(self._unrecorded),
        )

    def _sent(self, request: Request) -> None:
        self.turns = request.turn
        self._unrecorded = []

    def _hear(self, turn: ModelTurn) -> None:
        self._look_for_a_cut(turn)
        self.add(turn.message(), recorded=True)
        self.usage_known = self.usage_known and turn.usage is not None
        self.usage += turn.usage or Usage()

    def _look_for_a_cut(self, turn: ModelTurn) -> None:
        """Warn where a request had fewer tokens than the shorter one before it.

        Two such requests are let pass: the first whose tools are told in text, and one after a new
        message of the user's, at which chat templates drop the reasoning of earlier turns.
        """
        now, before = turn.usage.input_tokens if turn.usage else None, self._prompt_tokens
        self._prompt_tokens = now
        said = [each for each in self._messages if isinstance(each, AssistantMessage)]
        if now is None or before is None or now >= before or not said:
            return
        dropped = said[-1].reasoning and isinstance(self._messages[-1], UserMessage)
        if not dropped and said_in_text(turn) == said_in_text(said[-1]):
            self._session.warn("prompt cut off", CUT_OFF.format(now=now, before=before))


def writable_turn(turn: ModelTurn) -> ModelTurn:
    """Return the turn with lone surrogates, which a transcript cannot hold, spelled out."""
    calls = tuple(
        call.model_copy(update={"name": writable(call.name), "arguments": writable(call.arguments)})
        for call in turn.tool_calls
    )
    if calls == turn.tool_calls and writable(turn.text) == turn.text:
        return turn
    return turn.model_copy(update={"text": writable(turn.text), "tool_calls": calls})
