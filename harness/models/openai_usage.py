"""The token counts of chat completions: what endpoints report of them, and how they differ."""

from typing import Any, cast

from harness.models.clients.wire import Json, token_count
from harness.models.protocol import Usage


def usage_from_wire(value: Any) -> Usage | None:
    """Token counts; None when the provider reported none. Parts never exceed their whole."""
    if not isinstance(value, dict):
        return None
    fields = cast("Json", value)
    prompt, completion = (
        token_count(fields, "prompt_tokens"),
        token_count(fields, "completion_tokens"),
    )
    if prompt is None or completion is None:  # the half of it is not known
        return None
    total = token_count(fields, "total_tokens")
    if total is not None:  # Gemini and xAI leave reasoning out of the completion's tokens
        completion = max(completion, total - prompt)
    cached = token_count(fields.get("prompt_tokens_details"), "cached_tokens") or 0
    reasoning = token_count(fields.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(
        input_tokens=prompt,
        cached_input_tokens=min(cached, prompt),
        output_tokens=completion,
        reasoning_tokens=min(reasoning, completion),
    )
