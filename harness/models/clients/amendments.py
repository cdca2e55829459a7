"""Changes to a request that an endpoint has refused, and may take then."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.models.clients.anthropic_wire import without_blank_texts
from harness.models.clients.openai_amended import mended, renamed_max_tokens, without_reasoning
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


@dataclass(frozen=True, slots=True)
class Amendment:
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
