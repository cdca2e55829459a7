"""The readable text of the reasoning in a model's answers."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

REASONING_KEYS = ("thinking", "text", "reasoning_content", "reasoning", "content", "summary")
DEEPEST = 6


def reasoning_text(blocks: Sequence[dict[str, Any]]) -> str:
    """Return the visible text of a model's reasoning; empty if it is encrypted."""
    return "\n\n".join(part for block in blocks for part in _reasoning(block, 0) if part.strip())


def _reasoning(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _reasoning(each, depth + 1)
    elif isinstance(value, dict):
        yield from _of_block(cast("dict[str, Any]", value), depth)


def _of_block(block: dict[str, Any], depth: int) -> Iterator[str]:
    inner = next((block[key] for key in ("block", "responses_item", "value") if key in block), None)
    if inner is not None:
        yield from _reasoning(inner, depth + 1) if _is_reasoning(block, inner) else ()
        return
    for key in REASONING_KEYS:
        if isinstance(block.get(key), str | list):
            yield from _reasoning(block[key], depth + 1)
            return


def _is_reasoning(block: dict[str, Any], inner: Any) -> bool:
    """Whether a part is reasoning, and not the answer or a call stored with it."""
    if "field" in block:
        return block["field"] not in {"content", "tool_calls"}
    kind = cast("dict[str, Any]", inner).get("type") if isinstance(inner, dict) else None
    return kind in {"thinking", "reasoning", "reasoning.text", "reasoning.summary"}
