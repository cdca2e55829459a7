"""The requests that a transcript tells of: what each used, and which were never heard.

A transcript is only ever added to, so it tells of all: of answers that are void since their sample
began anew, and of requests whose answer nobody heard because a limit, an interrupt or a kill came
first. The tokens of the latter are estimated (`harness.models.token_estimate`).
"""

from collections.abc import Iterable, Iterator

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
from harness.runs.budget import Spent

GIVEN_UP = frozenset({StopReason.TIME_LIMIT, StopReason.WALL_LIMIT})
"""The model was still at work when these ended a sample, and is paid for it."""


def requests_of(events: Iterable[Event]) -> Iterator[Spent]:
    """What each request of a transcript used; an estimate for one that was not heard."""
    sizes: list[int | None] = []  # characters that each standing event adds; None: begins anew
    max_tokens: int | None = None
    waiting = False

    def unheard() -> Spent:
        return Spent(unheard_usage(_length(sizes), max_tokens), estimated=True)

    for event in events:
        match event:
            case SampleStart():
                given = event.settings.get("max_tokens")
                max_tokens = given if isinstance(given, int) else None
            case Retried(usage=Usage() as usage):
                yield Spent(usage)
            case Retried(cut=True):
                yield unheard()
            case Unusable(usage=usage):
                waiting = False
                yield Spent(usage, estimated=bool(event.estimated))
            case Response(response=turn):
                waiting = False
                yield Spent(turn.usage, silent=turn.usage is None)
            case Request() | Resumed():
                if waiting:
                    yield unheard()
                waiting = isinstance(event, Request)
            case PutOff():
                if waiting and event.in_flight:
                    yield unheard()
                waiting = False
            case SampleEnd() | Cleared():  # an error of the provider's is not billed
                if waiting and isinstance(event, SampleEnd) and event.stop_reason in GIVEN_UP:
                    yield unheard()
                waiting = False
            case _:
                pass
        if isinstance(event, Resumed):
            del sizes[event.kept :]
        else:
            sizes.append(_size(event))
    if waiting:
        yield unheard()


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


def _length(sizes: Iterable[int | None]) -> int:
    length = 0
    for size in sizes:
        length = 0 if size is None else length + size
    return length
