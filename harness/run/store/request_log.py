"""The requests that a transcript tells of: what each used, and which were never heard.

A transcript is only ever added to, so it tells of all: of answers that are void since their sample
began anew, and of requests whose answer nobody heard because a limit, an interrupt or a kill came
first. The tokens of the latter are estimated (`harness.models.token_estimate`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.agent.attempt import StopReason
from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    PutOff,
    Request,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    ToolResult,
    Unusable,
)
from harness.models.protocol import Message, Usage
from harness.models.token_estimate import characters_of, unheard_usage


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests that may have to be paid for.

    Attributes:
        usage: their tokens; None where they are unknown.
        requests: how many they were.
        silent: whether a provider that answered did not report them.
        estimated: whether the tokens are an estimate, as nobody heard the answer.
    """

    usage: Usage | None
    requests: int = 1
    silent: bool = False
    estimated: bool = False


GIVEN_UP = frozenset({StopReason.TIME_LIMIT, StopReason.WALL_LIMIT})
"""The model was still at work when these ended a sample, and is paid for it."""


def requests_of(events: Iterable[Event]) -> Iterator[Spent]:
    """What each request of a transcript used; an estimate for one that was not heard."""
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
        elif isinstance(event, Response | Unusable | Resumed | PutOff | SampleEnd | Cleared):
            waiting = False
        conversation.add(event)
    if waiting:
        yield conversation.unheard()


def _heard(event: Event) -> Spent | None:
    """What a request used, where this event says so."""
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
    """Whether an event shows that the request before it was cut off, and may be billed."""
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
    """How long the conversation of a transcript is, and the longest answer that it asks for."""

    def __init__(self) -> None:
        self._sizes: list[int | None] = []  # of each standing event; None: begins anew
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
    """Characters that an event adds to its conversation."""
    said: tuple[Message, ...] = ()
    match event:
        case NewConversation():
            return None
        case Request():
            said = event.messages
        case Response():
            said = (event.response.message(),)
        case ToolResult():
            said = (event.result,)
        case _:
            pass
    return characters_of(said)
