"""Changes to a request that an endpoint has refused, and may take then."""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from harness.models.clients.anthropic_wire import without_blank_texts
from harness.models.clients.openai_answer import REASONING_FIELDS
from harness.models.clients.wire import Json
from harness.models.faults import RejectedError, ToolsRefusedError, WrongApiError

# Refusals by Groq (400: `property 'reasoning_content' is unsupported`), Cerebras (422:
# `messages.2.assistant.reasoning_content: Extra inputs are not permitted`), and servers whose
# schema refuses a field without naming it.
_FIELD_REFUSED = re.compile(
    r"\b(?:" + "|".join(REASONING_FIELDS) + r")\b|\bextra inputs\b|\bextra_forbidden\b"
    r"|\badditional propert|\b(?:unknown|unexpected|unrecognized) (?:field|property|key)",
    re.IGNORECASE,
)
# Azure, LiteLLM and OpenRouter, for models that know only the newer field: "Unsupported parameter:
# 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
_FIELD_RENAMED = re.compile(
    r"\b(?:use|try)\W{1,3}(?:the )?\W?max_completion_tokens\b", re.IGNORECASE
)
# Anthropic ("text content blocks must contain non-whitespace text") and Bedrock ("the text field …
# is blank") refuse text blocks that their models write.
_BLANK_REFUSED = re.compile(
    r"\btext\b.{0,120}\b(?:non-whitespace|non-empty|blank)\b", re.IGNORECASE | re.DOTALL
)


class Amendment(NamedTuple):
    """Change to a request.

    Attributes:
        title: what the endpoint refuses, for the transcript.
        apply: function that returns the changed body; None where there is nothing to change.
        statuses: HTTP statuses of the refusal.
        pattern: pattern of the refusal's text; None for any text.
    """

    title: str
    apply: Callable[[Json], Json | None]
    statuses: frozenset[int]
    pattern: re.Pattern[str] | None = None

    def fits(self, error: RejectedError) -> bool:
        """Return whether this change may prevent the refusal."""
        if isinstance(error, WrongApiError) or error.status not in self.statuses:
            return False
        if self.pattern is None:
            return not isinstance(error, ToolsRefusedError)
        return self.pattern.search(str(error)) is not None


def mended(body: Json) -> Json | None:
    """Return the request with JSON objects as call arguments, or None if unchanged.

    Many servers parse the arguments of past calls to fill their chat template. Once a model has
    written broken ones, they refuse every later request of the conversation.
    """
    broken = False
    messages: list[Json] = []
    for message in body["messages"]:
        calls: list[Json] = []
        for call in message.get("tool_calls", ()):
            text = call["function"]["arguments"]
            whole = _is_json_object(text)
            broken = broken or not whole
            arguments = text if whole else json.dumps({"unparsed": text})
            calls.append({**call, "function": {**call["function"], "arguments": arguments}})
        messages.append({**message, "tool_calls": calls} if calls else message)
    return {**body, "messages": messages} if broken else None


def renamed_max_tokens(body: Json) -> Json | None:
    """Return the request with the token limit in the newer field, or None if it has no limit."""
    if "max_tokens" not in body or "max_completion_tokens" in body:
        return None
    rest = {name: value for name, value in body.items() if name != "max_tokens"}
    return {**rest, "max_completion_tokens": body["max_tokens"]}


def without_reasoning(body: Json) -> Json | None:
    """Return the request without the reasoning of earlier turns, or None if it has none."""
    messages: list[Json] = [
        {name: value for name, value in message.items() if name not in REASONING_FIELDS}
        for message in body["messages"]
    ]
    return {**body, "messages": messages} if messages != body["messages"] else None


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


CHAT_AMENDMENTS = (
    Amendment(
        "max_completion_tokens sent", renamed_max_tokens, frozenset({400, 422}), _FIELD_RENAMED
    ),
    Amendment(
        "reasoning sent back", without_reasoning, frozenset({400, 422}), pattern=_FIELD_REFUSED
    ),
    Amendment("broken arguments sent", mended, frozenset({400, 422, 500})),
)
MESSAGES_AMENDMENTS = (
    Amendment("blank texts sent back", without_blank_texts, frozenset({400, 422}), _BLANK_REFUSED),
)
