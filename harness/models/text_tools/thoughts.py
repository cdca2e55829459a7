"""Answers that hold only thoughts, and calls that a server took for the end of these."""

from collections.abc import Sequence

from harness.models.protocol import Message, ModelTurn, ToolCall, ToolSpec
from harness.models.reasoning_text import reasoning_text


def only_thoughts(turn: ModelTurn) -> bool:
    """Return whether a model ended its turn with thoughts and nothing after them."""
    if turn.text.strip() or turn.tool_calls or turn.stop.reason not in {"end_turn", "other"}:
        return False
    tokens = turn.usage.reasoning_tokens if turn.usage else 0
    return bool(tokens or reasoning_text(turn.reasoning))


def calls_in_thoughts(
    turn: ModelTurn, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> ModelTurn:
    """Return a turn that holds only thoughts with the whole calls that these end with.

    vLLM and SGLang send so what Qwen 3.5 and 3.6 call without closing their thoughts. The thoughts
    stay as they are; any other turn is returned unchanged.

    Args:
        turn: turn of the model.
        messages: the conversation so far, to make unique ids.
        tools: tools that may be called.
    """
    if not only_thoughts(turn):
        return turn
    from harness.models.clients.call_ids import CallIds
    from harness.models.text_tools.formats import final_calls

    thoughts = (reasoning_text([block]) for block in reversed(turn.reasoning))
    last = next(filter(str.strip, thoughts), "")  # the same text may be in several fields
    found = final_calls(last, {tool.name: tool for tool in tools})
    if not found:
        return turn
    ids = CallIds(messages)
    calls = tuple(
        ToolCall(id=ids.take(None), name=call.name, arguments=call.arguments) for call in found
    )
    stop = turn.stop.model_copy(update={"reason": "tool_use"})
    return turn.model_copy(update={"tool_calls": calls, "stop": stop})
