"""Ids of tool calls: no two of a conversation are the same."""

from collections.abc import Iterable
from typing import Any

from harness.models.protocol import (
    AssistantMessage,
    Message,
)

UNNAMED_CALL = "unnamed"  # an empty function name would make the next request invalid


class CallIds:
    """Ids of an answer's tool calls: no two calls of a conversation share one.

    Args:
        messages: the conversation so far.
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        answers = [message for message in messages if isinstance(message, AssistantMessage)]
        self._used = {call.id for message in answers for call in message.tool_calls}
        self._turn = len(answers)
        self._calls = 0

    def take(self, given: Any) -> str:
        """Return the id of the next call: the provider's if it is unique.

        Otherwise it is made of turn and position, so it is the same whenever the answer is read
        again.
        """
        made = f"call_{self._turn}_{self._calls}"
        self._calls += 1
        call_id = given if isinstance(given, str) and given and given not in self._used else made
        while call_id in self._used:
            call_id += "_"
        self._used.add(call_id)
        return call_id
