"""The conversation of a sample, read from its transcript."""

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
from harness.run.store.entries import entries
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run

_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON may hold as they are, and a terminal acts on."""


@dataclass(slots=True)
class Said:
    """The conversations of a sample, the last of which came to its end.

    Attributes:
        conversations: each begins anew, with nothing of the one before.
    """

    conversations: list[list[Message]] = field(default_factory=lambda: [[]])

    @property
    def last(self) -> list[Message]:
        """What the last request held, and its answer."""
        return self.conversations[-1]

    def answers(self) -> Iterator[str]:
        """The model's words of all conversations, the newest first."""
        for conversation in reversed(self.conversations):
            for message in reversed(conversation):
                if isinstance(message, AssistantMessage):
                    yield message.text


def said_in(events: Iterable[Event]) -> Said:
    """The messages of a transcript as the provider had them, without results left out later."""
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
    """The events of a sample; None where it has no transcript. Raises RunDirectoryError."""
    name = file_name(problem_id, index)
    return list(transcripts.events(name)) if transcripts.exists(name) else None


def chat_text(run: Run) -> Iterator[str]:
    """JSONL: a line a sample, its conversation as OpenAI's chat completions have messages.

    Where a sample had several conversations, as `best_of_k_public` has, a line holds the last one
    and `metadata.conversations` says how many there were.

    Raises:
        RunDirectoryError: there is no transcript at all, or one cannot be read.
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
            raise RunDirectoryError(f"{run.path} holds no transcripts, so nothing of what was said")


def json_line(value: Any) -> str:
    """Return a line of JSONL that no terminal acts on."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def chat_message(message: Message) -> dict[str, Any]:
    """A message as chat completions have it (https://platform.openai.com/docs/api-reference/chat).

    Reasoning is left out: there is no place for it.
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
    """A call's arguments as an object, and what is wrong with them where they are none."""
    with suppress(ValueError, RecursionError):
        values: Any = json.loads(text or "{}")
        if isinstance(values, dict):
            return values, None  # pyright: ignore[reportUnknownVariableType] - JSON
    return {}, f"not a JSON object: {text[:200]}"
