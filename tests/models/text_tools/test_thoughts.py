"""A server may take calls for the end of the thoughts, and leave the answer empty."""

import json
from typing import Any

from for_each import for_each
from generated_calls import TOOLS

from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    ToolCall,
    Usage,
    UserMessage,
)
from harness.models.text_tools.thoughts import calls_in_thoughts, only_thoughts

ENDED = ModelStop(reason="end_turn")
WRITE = {"name": "write_solution", "arguments": {"code": "print(1)"}}
RUN = {"name": "run_tests", "arguments": {}}
TAGS = (
    f"<tool_call>\n{json.dumps(WRITE)}\n</tool_call>\n<tool_call>\n{json.dumps(RUN)}\n</tool_call>"
)
QWEN = (
    "<tool_call>\n<function=write_solution>\n<parameter=code>\nprint(1)\n</parameter>\n"
    "</function>\n</tool_call>\n<tool_call>\n<function=run_tests>\n</function>\n</tool_call>"
)
FENCES = f"```json\n{json.dumps(WRITE)}\n```\n\n```json\n{json.dumps(RUN)}\n```"


def thought(thoughts: str, **turn: Any) -> ModelTurn:
    block = {"field": "reasoning_content", "value": thoughts}
    return ModelTurn(**{"reasoning": (block,), "stop": ENDED, **turn})


def called(turn: ModelTurn) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


@for_each("calls", [TAGS, QWEN, FENCES], ids=["json", "qwen", "fences"])
def test_whole_calls_at_the_end_of_the_thoughts_are_taken(calls: str) -> None:
    given = thought(f"I could <tool_call>call</tool_call> it.\nI should act.\n{calls}\n")
    turn = calls_in_thoughts(given, (), TOOLS)
    assert called(turn) == [("write_solution", {"code": "print(1)"}), ("run_tests", {})]
    assert (turn.stop.reason, turn.reasoning) == ("tool_use", given.reasoning)


@for_each(
    "given",
    [
        thought(TAGS, text="Done."),
        thought(TAGS, tool_calls=(ToolCall(id="c", name="run_tests", arguments="{}"),)),
        thought(TAGS, stop=ModelStop(reason="max_tokens")),
        thought(TAGS, stop=ModelStop(reason="refusal")),
        thought(TAGS, stop=ModelStop(reason="content_filter")),
        thought(f"{TAGS}\nNo, wait."),
        thought(TAGS[: TAGS.index("print")]),
        thought(QWEN[: QWEN.index("</parameter>")]),
        thought('<tool_call>{"name": "write_solution", "arguments": {}}</tool_call>'),
        thought('<tool_call>{"name": "search", "arguments": {}}</tool_call>'),
        thought("I should call run_tests."),
        thought(""),
    ],
)
def test_other_turns_are_left_as_they_are(given: ModelTurn) -> None:
    assert calls_in_thoughts(given, (), TOOLS) == given


def test_none_is_taken_where_no_tools_are_offered() -> None:
    assert calls_in_thoughts(thought(TAGS), (), ()) == thought(TAGS)


def test_thoughts_in_two_fields_are_one_call() -> None:
    blocks = [{"field": name, "value": TAGS} for name in ("reasoning_content", "reasoning")]
    turn = calls_in_thoughts(thought("", reasoning=tuple(blocks)), (), TOOLS)
    assert [call.name for call in turn.tool_calls] == ["write_solution", "run_tests"]


def test_no_two_calls_of_a_conversation_have_one_id() -> None:
    first = calls_in_thoughts(thought(TAGS), (), TOOLS)
    second = calls_in_thoughts(thought(TAGS), (UserMessage(content="a"), first.message()), TOOLS)
    assert len({call.id for turn in (first, second) for call in turn.tool_calls}) == 4


def test_an_answer_of_thoughts_alone_is_known() -> None:
    hidden = ModelTurn(stop=ENDED, usage=Usage(output_tokens=9, reasoning_tokens=9))
    assert all(map(only_thoughts, (thought("Hm."), hidden)))
    cut = thought("Hm.", stop=ModelStop(reason="max_tokens"))
    others = thought("Hm.", text="Yes."), cut, ModelTurn(stop=ENDED), thought(" ")
    assert not any(map(only_thoughts, others))
