"""The token counts of chat completions: what endpoints report of them, and how they differ."""

from typing import Any, cast

from harness.models.protocol import Usage

Json = dict[str, Any]

MOST_TOKENS = 10**12  # a count beyond it is not one


def usage_from_wire(value: Any) -> Usage | None:
    """Token counts; None when the provider reported none. Parts never exceed their whole."""
    if not isinstance(value, dict):
        return None
    fields = cast("Json", value)
    prompt, completion = _count(fields, "prompt_tokens"), _count(fields, "completion_tokens")
    if prompt is None or completion is None:  # the half of it is not known
        return None
    total = _count(fields, "total_tokens")
    if total is not None:  # Gemini and xAI leave reasoning out of the completion's tokens
        completion = max(completion, total - prompt)
    cached = _count(fields.get("prompt_tokens_details"), "cached_tokens") or 0
    reasoning = _count(fields.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(
        input_tokens=prompt,
        cached_input_tokens=min(cached, prompt),
        output_tokens=completion,
        reasoning_tokens=min(reasoning, completion),
    )


def _count(fields: Any, name: str) -> int | None:
    value = cast("Json", fields).get(name) if isinstance(fields, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        return None
    return value
