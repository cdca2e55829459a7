import inspect
import json
from typing import Any, get_args, get_type_hints

import pytest
from for_each import for_each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from messages_server import BLANK, faults, text_block, thinking, tool_use

from harness.models.clients.anthropic_wire import (
    EFFORTS,
    STOP_REASONS,
    request_body,
    turn_from_wire,
    usage_from_wire,
    without_blank_texts,
)
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelError,
    ModelSettings,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

NO_SETTINGS = ModelSettings()
TOOL = ToolSpec(name="run_tests", description="Run.", parameters={"type": "object"})


def content(*blocks: Any, **rest: Any) -> dict[str, Any]:
    return {"content": list(blocks), **rest}


# What the vendor's SDK says


@pytest.mark.thorough
def test_efforts_are_those_of_the_sdk() -> None:
    from anthropic.types import OutputConfigParam

    (optional,) = get_args(get_type_hints(OutputConfigParam)["effort"])[:1]
    assert set(EFFORTS) == set(get_args(optional))


def test_every_stop_reason_of_the_sdk_is_known() -> None:
    from anthropic.types import StopReason

    assert set(get_args(StopReason)) - set(STOP_REASONS) == {"tool_use", "pause_turn"}


def test_sent_fields_are_the_sdk_s_without_temperature() -> None:
    from anthropic.resources.messages import AsyncMessages

    known = set(inspect.signature(AsyncMessages.create).parameters)
    given = ModelSettings(reasoning_effort="low")
    messages = [SystemMessage(content="Be good."), UserMessage(content="hi")]
    assert set(request_body("m", messages, [TOOL], given)) <= known
    assert "temperature" not in known


# Settings


@for_each(
    ("given", "words"),
    [
        ({}, ""),
        ({"max_tokens": 5, "reasoning_effort": "max"}, ""),
        ({"temperature": 0.0}, "temperature"),
        ({"temperature": 1.0, "reasoning_effort": "low"}, "temperature"),
        ({"reasoning_effort": "minimal"}, "'minimal'; it has low, medium, high, xhigh, max"),
    ],
)
def test_settings_that_cannot_be_sent_are_told_in_one_line(given: Any, words: str) -> None:
    def build() -> Any:
        return request_body("m", [UserMessage(content="hi")], [], ModelSettings(**given))

    if not words:
        assert build()["max_tokens"] == 5 or not given
        return
    with pytest.raises(ModelError) as caught:
        build()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# Breakpoints


def marked(body: dict[str, Any]) -> list[str]:
    places = {"tools": body.get("tools", []), "system": body.get("system", [])}
    places |= {f"{i}": turn["content"] for i, turn in enumerate(body["messages"])}
    return [
        f"{k}.{i}" for k, bs in places.items() for i, b in enumerate(bs) if "cache_control" in b
    ]


CALL = ToolCall(id="a", name="f", arguments="{}")
GROWN: tuple[Message, ...] = (
    UserMessage(content="Solve."),
    AssistantMessage(tool_calls=(CALL,)),
    ToolMessage(call_id="a", name="f", content="ok"),
    UserMessage(content="Go on."),
    AssistantMessage(text="Done."),
    UserMessage(content="Sure?"),
)
SYSTEM = SystemMessage(content="Be good.")


@for_each(
    ("messages", "tools", "places"),
    [
        ((SYSTEM, *GROWN[:1]), [], ["system.0"]),
        ((SYSTEM, SYSTEM, *GROWN[:1]), [TOOL], ["system.1", "0.0"]),
        (GROWN[:1], [TOOL, TOOL], ["tools.1", "0.0"]),
        (GROWN[:1], [], []),
        ((SYSTEM, *GROWN[:4]), [TOOL], ["system.0", "0.0", "2.1"]),
        ((SYSTEM, *GROWN), [TOOL], ["system.0", "2.1", "4.0"]),
        (GROWN, [], ["2.1", "4.0"]),
    ],
)
def test_breakpoints_stand_after_the_system_prompt_and_the_last_two_user_turns(
    messages: tuple[Message, ...], tools: list[ToolSpec], places: list[str]
) -> None:
    assert marked(request_body("m", messages, tools, NO_SETTINGS)) == places


def test_a_breakpoint_is_left_in_no_tool_that_the_caller_keeps() -> None:
    request_body("m", GROWN, [TOOL], NO_SETTINGS)
    assert TOOL.model_dump() == {
        "name": "run_tests",
        "description": "Run.",
        "parameters": {"type": "object"},
    }


# Answers


@for_each("odd", [{}, content(None), content(3), content([]), content({}), content({"type": None})])
def test_content_that_is_not_blocks_is_malformed(odd: Any) -> None:
    with pytest.raises(MalformedAnswerError):
        turn_from_wire(odd, ())


def test_text_blocks_are_joined_and_kept_apart_for_sending() -> None:
    blocks = [text_block("a"), text_block("b")]
    turn = turn_from_wire(content(*blocks), ())
    assert turn.text == "ab"
    sent = request_body("m", [UserMessage(content="x"), turn.message()], [], NO_SETTINGS)
    assert sent["messages"][1]["content"] == blocks


def test_text_after_a_call_stays_there() -> None:
    blocks = [tool_use("f", {"x": 1}, "a"), text_block("later"), tool_use("g", {}, "b")]
    turn = turn_from_wire(content(*blocks), ())
    sent = request_body("m", [UserMessage(content="x"), turn.message()], [], NO_SETTINGS)
    assert sent["messages"][1]["content"] == blocks


def test_ids_that_are_missing_unfit_or_taken_are_made_from_turn_and_position() -> None:
    earlier = AssistantMessage(
        tool_calls=(
            ToolCall(id="x", name="f", arguments="{}"),
            ToolCall(id="call_1_3", name="f", arguments="{}"),
        )
    )
    given = ["y", None, "not an id!", "x", "y", "z"]
    blocks = [{**tool_use("f"), "id": each} for each in given]
    turn = turn_from_wire(content(*blocks), (UserMessage(content="x"), earlier))
    ids = [call.id for call in turn.tool_calls]
    assert ids == ["y", "call_1_1", "call_1_2", "call_1_3_", "call_1_4", "z"]


@for_each(
    ("value", "text"),
    [({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'), (None, "{}"), ('{"a": 1}', '{"a": 1}'), ([1], "[1]")],
)
def test_the_input_of_a_call_becomes_json_text(value: Any, text: str) -> None:
    turn = turn_from_wire(content({**tool_use("f"), "input": value}), ())
    assert turn.tool_calls[0].arguments == text


@for_each("name", [None, "", 5, []])
def test_a_call_without_a_name_gets_one(name: Any) -> None:
    turn = turn_from_wire(content({**tool_use("f"), "name": name}), ())
    assert turn.tool_calls[0].name == "unnamed"


@for_each(
    ("word", "reason"),
    [("tool_use", "tool_use"), ("end_turn", "tool_use"), (None, "tool_use"), ("max_tokens",) * 2],
)
def test_calls_beside_another_stop_reason(word: Any, reason: str) -> None:
    turn = turn_from_wire(content(tool_use("f"), stop_reason=word), ())
    assert (turn.stop.reason, turn.stop.provider_word) == (reason, word)


def test_tool_use_without_a_call_is_another_reason() -> None:
    assert turn_from_wire(content(stop_reason="tool_use"), ()).stop.reason == "other"


@for_each(
    "usage",
    [
        *(None, {}, [], "many", {"input_tokens": None, "output_tokens": 3}),
        *({"input_tokens": 1, "output_tokens": -1}, {"input_tokens": 1}, {"output_tokens": 1}),
    ],
)
def test_usage_that_was_not_reported_is_none(usage: Any) -> None:
    assert usage_from_wire(usage) is None


def test_usage_never_counts_a_part_above_its_whole() -> None:
    counted = usage_from_wire(
        {
            "input_tokens": 0,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": True,
            "output_tokens": 3,
            "output_tokens_details": {"thinking_tokens": 4},
        }
    )
    assert counted is not None
    assert (counted.input_tokens, counted.cached_input_tokens, counted.cache_write_tokens) == (
        7,
        7,
        0,
    )
    assert (counted.output_tokens, counted.reasoning_tokens) == (3, 3)


# Anything at all

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
TYPES = st.sampled_from(["text", "tool_use", "thinking", "redacted_thinking", "musing"])
BLOCKS = st.fixed_dictionaries(
    {"type": TYPES},
    optional={"text": st.text() | JSON, "id": JSON, "name": JSON, "input": JSON, "thinking": JSON},
)
ANSWERS = st.fixed_dictionaries(
    {"content": JSON | st.lists(BLOCKS | BLOCKS | JSON, max_size=6)},
    optional={
        "id": JSON,
        "stop_reason": JSON | st.sampled_from(["refusal", "tool_use"]),
        "stop_details": JSON | st.fixed_dictionaries({"explanation": JSON}),
        "usage": JSON | st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), JSON),
    },
)


@pytest.mark.thorough
@unhurried
@given(ANSWERS)
def test_any_answer_becomes_a_turn_that_can_be_sent_back_or_is_malformed(answer: Any) -> None:
    try:
        turn = turn_from_wire(answer, ())
    except MalformedAnswerError:
        return
    kept = AssistantMessage.model_validate_json(turn.message().model_dump_json())
    history = (UserMessage(content="x"), kept, UserMessage(content="y"))
    body = request_body("m", history, [TOOL], NO_SETTINGS)
    assert set(faults(body)) <= {BLANK}
    body = without_blank_texts(body) or body
    json.dumps(body, allow_nan=False).encode()
    assert list(faults(body)) == []


MESSAGES = st.lists(
    st.builds(UserMessage, content=st.text())
    | st.builds(
        AssistantMessage,
        text=st.text(),
        tool_calls=st.lists(
            st.builds(ToolCall, id=st.uuids().map(str), name=st.text(), arguments=st.text()),
            max_size=3,
        ).map(tuple),
        reasoning=st.just(())
        | st.just(({"wire": "anthropic_messages", "at": 0, "block": thinking("x")},)),
    ),
    max_size=8,
)


@unhurried
@given(MESSAGES)
def test_any_conversation_is_one_that_the_api_takes(rest: list[Message]) -> None:
    body = request_body("m", [UserMessage(content="x"), *rest], [TOOL], NO_SETTINGS)
    assert set(faults(body)) <= {BLANK}
    body = without_blank_texts(body) or body
    assert list(faults(body)) == []
