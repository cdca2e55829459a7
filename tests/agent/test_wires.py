"""On each of the three wires a request begins, byte for byte, as the one before it did.

Providers read what they have seen before from a cache, at a fraction of the price.
"""

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

from behaviours import BEHAVIOURS, Programs
from for_each import for_each
from scripted import Played, Sent, read, run, turn, write
from written import WRITTEN

from harness.agent.attempt import Limits
from harness.agent.events import NewConversation
from harness.models.clients import anthropic_wire, openai_request, responses_wire
from harness.models.protocol import ModelSettings, ModelTurn
from harness.run.plan.recordings import Recordings
from harness.sources.benchmarks import load

Play = Callable[..., Awaitable[Played]]
Json = dict[str, Any]

SETTINGS = ModelSettings(max_tokens=99, reasoning_effort="high")
PROBLEMS = {problem.id: problem for problem in load("fixture").problems[:20]}
"""Those with answers written by hand."""


def _chat(sent: Sent) -> tuple[Json, list[Any]]:
    body = openai_request.request_body(
        "m", sent.messages, sent.tools, SETTINGS, max_tokens_field="n"
    )
    return body, body.pop("messages")


def _responses(sent: Sent) -> tuple[Json, list[Any]]:
    body = responses_wire.request_body("m", sent.messages, sent.tools, SETTINGS)
    return body, body.pop("input")


def _anthropic(sent: Sent) -> tuple[Json, list[Any]]:
    """The messages by their blocks: an empty answer is left out, and two user turns are one."""
    body = _unmarked(anthropic_wire.request_body("m", sent.messages, sent.tools, SETTINGS))
    messages = body.pop("messages")
    return body, [(each["role"], block) for each in messages for block in each["content"]]


def _unmarked(value: Any) -> Any:
    """Without the marks of the cache, which are no content."""
    if isinstance(value, dict):
        return {key: _unmarked(each) for key, each in value.items() if key != "cache_control"}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value


WIRES = {
    "chat": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
}


def _extends(wire: str, former: Sent, latter: Sent) -> None:
    (head, begun), (head_again, went_on) = WIRES[wire](former), WIRES[wire](latter)
    assert json.dumps(head) == json.dumps(head_again)
    before, after = json.dumps(begun)[:-1], json.dumps(went_on)[:-1]
    assert after.startswith(before)
    assert len(went_on) > len(begun)


@for_each("which", PROBLEMS)
async def test_recorded_conversations_only_grow(which: str, play: Play) -> None:
    view = PROBLEMS[which].view()
    tape = Recordings(f"replay:{WRITTEN}", "agentic").open().for_sample(view, 0)
    played = await play(view=view, through=lambda _: tape)
    assert len(played.heard) > 1
    begun = 0
    for former, latter in pairwise(played.heard):
        if len(latter.messages) == 2:
            begun += 1
            continue
        for wire in WIRES:
            _extends(wire, former, latter)
    assert begun == sum(isinstance(event, NewConversation) for event in played.events)


@for_each("name", BEHAVIOURS)
async def test_requests_only_grow_whatever_a_model_does(name: str, play: Play) -> None:
    problem, behaviour = PROBLEMS["fixture/dry-beds"], BEHAVIOURS[name]
    view = problem.view()
    answers = behaviour.answers(Programs.of(view, problem.programs()[0]), "agentic")
    script = [step for answer in answers for step in answer]
    played = await play(*script, limits=Limits(turns=6), view=view, tool_use=behaviour.tool_use)
    for former, latter in pairwise(played.heard):
        if len(latter.messages) > 2:  # not a new conversation
            for wire in WIRES:
                _extends(wire, former, latter)


def _chat_thoughts(model_turn: ModelTurn) -> tuple[Json, ...]:
    del model_turn
    return ({"field": "reasoning_content", "value": "Hm, 3 < 4."},)


def _responses_thoughts(model_turn: ModelTurn) -> tuple[Json, ...]:
    items: list[Json] = [{"type": "reasoning", "id": "rs_1", "encrypted_content": "Hm, 3 < 4."}]
    if model_turn.text:
        content = [{"type": "output_text", "text": model_turn.text, "annotations": []}]
        items.append({"type": "message", "role": "assistant", "id": "m", "content": content})
    items += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": "{}"}
        for call in model_turn.tool_calls
    ]
    return tuple({responses_wire.ITEM: item} for item in items)


def _anthropic_thoughts(model_turn: ModelTurn) -> tuple[Json, ...]:
    blocks: list[Json] = [{"type": "thinking", "thinking": "Hm, 3 < 4.", "signature": "c2ln"}]
    blocks += [{"type": "text", "text": model_turn.text}] if model_turn.text else []
    return tuple(
        {"wire": anthropic_wire.WIRE, "at": place, "block": block}
        for place, block in enumerate(blocks)
    )


THOUGHTS = {
    "chat": _chat_thoughts,
    "responses": _responses_thoughts,
    "anthropic": _anthropic_thoughts,
}


@for_each("wire", THOUGHTS)
async def test_requests_with_reasoning_only_grow(wire: str, play: Play) -> None:
    turns = [
        turn(read(), text="I read."),
        turn(text="I wonder."),
        turn(write("print(0)\n"), run()),
        turn(text=""),
        turn(text="Enough."),
    ]
    think = THOUGHTS[wire]
    played = await play(*(each.model_copy(update={"reasoning": think(each)}) for each in turns))
    assert len(played.heard) == len(turns)
    for former, latter in pairwise(played.heard):
        _extends(wire, former, latter)
    assert json.dumps(WIRES[wire](played.heard[-1])[1]).count("Hm, 3 < 4.") >= 3
