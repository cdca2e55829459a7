"""The conversation in the events of a transcript.

The conversation in each event is described in `harness.agent.events`. All code that shows a
transcript, or writes its conversations in another format, uses this module.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.agent.events import (
    Event,
    NewConversation,
    RanWrittenTests,
    Request,
    Response,
    Retried,
    Tested,
    ToolResult,
    standing,
)
from harness.models.protocol import AssistantMessage, Message


class Entry(NamedTuple):
    """One entry of a conversation.

    Attributes:
        item: a message to the model, its answer, a tool's result, tests not run by a tool call,
            or the end of a conversation.
        began, ended: seconds since the start of the sample, as the sum of answers, calls, tests
            and waits.
        retries: number of earlier failures of the request, for an answer.
    """

    item: Message | Response | ToolResult | Tested | NewConversation
    began: float
    ended: float
    retries: int = 0


def entries(events: Iterable[Event]) -> Iterator[Entry]:
    """Yield the conversation in the valid events of a transcript, in order."""
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
            case RanWrittenTests():
                now += event.seconds
            case NewConversation():
                yield Entry(event, now, now)
            case _:
                pass


def message_text(message: Message) -> str:
    """Return a message's text."""
    return message.text if isinstance(message, AssistantMessage) else message.content
