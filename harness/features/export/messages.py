"""Read the conversation of a sample from its transcript."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from harness.agent.events import Cleared, Event, NewConversation, Response, Tested, ToolResult
from harness.errors import RunDirectoryError
from harness.models.protocol import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.run.store.transcript import file_name
from harness.run.store.transcript_contents import entries
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run

_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON allows unescaped but that control a terminal."""


@dataclass(slots=True)
class Said:
    """The conversations of a sample.

    Attributes:
        conversations: independent conversations in order; the last one ended with the sample.
    """

    conversations: list[list[Message]] = field(default_factory=lambda: [[]])

    @property
    def last(self) -> list[Message]:
        """The last conversation, up to its last answer."""
        return self.conversations[-1]

    def answers(self) -> Iterator[str]:
        """Yield the texts of the model's answers in all conversations, the newest first."""
        for conversation in reversed(self.conversations):
            for message in reversed(conversation):
                if isinstance(message, AssistantMessage):
                    yield message.text


def said_in(events: Iterable[Event]) -> Said:
    """Return a transcript's messages as sent last, with clearings applied."""
    said = Said()
    for entry in entries(events):
        match entry.item:
            case Response() as answer:
                said.last.append(answer.response.message())
            case ToolResult() as result:
                said.last.append(result.result)
            case Cleared() as cleared:
                _clear(said.last, cleared)
            case NewConversation():
                said.conversations.append([])
            case Tested():
                pass
            case message:
                said.last.append(message)
    return said


def _clear(messages: list[Message], cleared: Cleared) -> None:
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage) and message.call_id in cleared.call_ids:
            messages[place] = message.model_copy(update={"content": cleared.text})


def transcript_of(transcripts: Transcripts, problem_id: str, index: int) -> list[Event] | None:
    """Return a sample's events, or None. Raises RunDirectoryError."""
    name = file_name(problem_id, index)
    return list(transcripts.events(name)) if transcripts.exists(name) else None


def chat_text(run: Run) -> Iterator[str]:
    """Yield JSON lines: each sample's conversation as OpenAI chat messages.

    If a sample had several conversations, as with `best_of_k_public`, the line holds the last one,
    and `metadata.conversations` their number.

    Raises:
        RunDirectoryError: the run has no transcripts, or one cannot be read.
    """
    with Transcripts(run.path) as transcripts:
        found = False
        for result in run.results:
            events = transcript_of(transcripts, result.problem_id, result.index)
            if events is None:
                continue
            said = said_in(events)
            if not said.last:
                continue
            found = True
            metadata = {
                "sample": result.sample,
                "model": str(run.spec["model"]),
                "verdict": str(result.verdict),
                "solved": result.solved,
                "conversations": len(said.conversations),
            }
            line = {"messages": list(map(chat_message, said.last)), "metadata": metadata}
            yield json_line(line)
        if run.results and not found:
            raise RunDirectoryError(f"{run.path} holds no transcripts: there is nothing to export")


def json_line(value: Any) -> str:
    """Return a JSON line with terminal control characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def chat_message(message: Message) -> dict[str, Any]:
    """Convert a message to the format of OpenAI's chat completions.

    See https://platform.openai.com/docs/api-reference/chat. Reasoning is left out, because the
    format has no field for it.
    """
    match message:
        case SystemMessage() | UserMessage():
            return {"role": message.role, "content": message.content}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
        case AssistantMessage():
            told: dict[str, Any] = {"role": "assistant", "content": message.text or None}
            if message.tool_calls:
                told["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments},
                    }
                    for call in message.tool_calls
                ]
            else:
                told["content"] = message.text
            return told


def arguments_of(text: str) -> tuple[dict[str, Any], str | None]:
    """Parse a call's arguments; return them and an error message or None."""
    with suppress(ValueError, RecursionError):
        values: Any = json.loads(text or "{}")
        if isinstance(values, dict):
            return values, None  # pyright: ignore[reportUnknownVariableType] - JSON
    return {}, f"not a JSON object: {text[:200]}"
