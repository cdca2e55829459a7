"""A sample's conversation, put together from the events of its transcript.

`harness.agent.events` says what of a conversation each event holds. Whoever writes a conversation
in another form reads it from here.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    Request,
    Response,
    Retried,
    Tested,
    ToolResult,
    standing,
)
from harness.models.protocol import Message


class Entry(NamedTuple):
    """One thing that was said or done.

    Attributes:
        item: a message that was said to the model, its answer, a tool's result, tests that no call
            asked for, results that were left out from then on, or the end of a conversation.
        began, ended: seconds since the sample began, as answers, calls, tests and waits add up.
        retries: of an answer, how often its request had failed before.
    """

    item: Message | Response | ToolResult | Tested | Cleared | NewConversation
    began: float
    ended: float
    retries: int = 0


def entries(events: Iterable[Event]) -> Iterator[Entry]:
    """Yield the conversation that the standing events of a transcript hold, in order."""
    now, retries = 0.0, 0
    for event in standing(events):
        began = now
        match event:
            case Request():
                retries = 0
                for message in event.messages:
                    yield Entry(message, now, now)
            case Retried():
                retries += 1
                now += event.wait_s
            case Response():
                now += event.response.latency_s
                yield Entry(event, began, now, retries)
            case ToolResult() | Tested():
                now += event.seconds
                yield Entry(event, began, now)
            case Cleared() | NewConversation():
                yield Entry(event, now, now)
            case _:
                pass
