"""Requests of a transcript that may be billed, and the tokens they used.

A transcript is append-only, so it contains all requests: also those whose answers became void when
their sample restarted, and those whose answer was lost to a limit, an interrupt or a kill. The
tokens of the latter are estimated (`harness.models.estimated_usage`).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.agent.attempt import StopReason
from harness.agent.events import (
    Event,
    NewConversation,
    PutOff,
    Refused,
    Request,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    ToolResult,
    Unusable,
)
from harness.models.estimated_usage import characters_of, unheard_usage
from harness.models.protocol import Message, Usage

GIVEN_UP = frozenset({StopReason.TIME_LIMIT, StopReason.WALL_LIMIT})
"""Stop reasons that end a sample while the model is working; that is billed."""


class Spent(NamedTuple):
    """Requests that may be billed.

    Attributes:
        usage: their tokens; None if unknown.
        requests: number of requests.
        silent: whether a provider that answered did not report the tokens.
        estimated: whether the tokens are an estimate, because the answer was lost.
    """

    usage: Usage | None
    requests: int = 1
    silent: bool = False
    estimated: bool = False


def requests_of(events: Iterable[Event]) -> Iterator[Spent]:
    """Yield the usage of each request in a transcript; an estimate for lost answers."""
    conversation = _Conversation()
    waiting = False
    for event in events:
        heard = _heard(event)
        if heard is not None:
            yield heard
        if isinstance(event, Retried) and event.cut and event.usage is None:
            yield conversation.unheard()
        if waiting and _leaves_unheard(event):
            yield conversation.unheard()
        if isinstance(event, Request):
            waiting = True
        elif isinstance(event, Response | Unusable | Resumed | PutOff | SampleEnd | Refused):
            waiting = False
        conversation.add(event)
    if waiting:
        yield conversation.unheard()


def _heard(event: Event) -> Spent | None:
    """Return the usage of the request that this event ends, if it contains it."""
    match event:
        case Retried(usage=Usage() as usage):
            return Spent(usage)
        case Unusable(usage=usage):
            return Spent(usage, estimated=bool(event.estimated))
        case Response(response=turn):
            return Spent(turn.usage, silent=turn.usage is None)
        case _:
            return None


def _leaves_unheard(event: Event) -> bool:
    """Whether an event shows that the previous request was cut off, but maybe billed."""
    match event:
        case Request() | Resumed():
            return True
        case PutOff():
            return event.in_flight
        case SampleEnd():
            return event.stop_reason in GIVEN_UP
        case _:
            return False


class _Conversation:
    """Length of a transcript's conversation, and the requested length of an answer."""

    def __init__(self) -> None:
        self._sizes: list[int | None] = []  # size of each valid event; None: a new conversation
        self._max_tokens: int | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, Resumed):
            del self._sizes[event.kept :]
            return
        if isinstance(event, SampleStart):
            given = event.settings.get("max_tokens")
            self._max_tokens = given if isinstance(given, int) else None
        self._sizes.append(_size(event))

    def unheard(self) -> Spent:
        length = 0
        for size in self._sizes:
            length = 0 if size is None else length + size
        return Spent(unheard_usage(length, self._max_tokens), estimated=True)


def _size(event: Event) -> int | None:
    """Return the characters that an event adds to its conversation."""
    messages: tuple[Message, ...] = ()
    match event:
        case NewConversation():
            return None
        case Request():
            messages = event.messages
        case Response():
            messages = (event.response.message(),)
        case ToolResult():
            messages = (event.result,)
        case _:
            pass
    return characters_of(messages)
