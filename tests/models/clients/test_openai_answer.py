from typing import Any

import pytest
from for_each import for_each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from harness.models.clients.openai_answer import turn_from_wire, usage_from_wire
from harness.models.clients.openai_request import message_to_wire, request_body
from harness.models.clients.wire import read_json, sendable
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelSettings,
    ModelTurn,
    ToolCall,
    UserMessage,
)


def turn(
    message: Any, finish: Any = "stop", messages: tuple[Message, ...] = (), **rest: Any
) -> ModelTurn:
    return turn_from_wire(
        {"choices": [{"message": message, "finish_reason": finish}], **rest}, messages
    )


def called(*calls: Any, messages: tuple[Message, ...] = ()) -> ModelTurn:
    return turn({"content": None, "tool_calls": list(calls)}, "tool_calls", messages)


def call(arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    return {"id": "x", "function": {"name": "f", "arguments": arguments}, **fields}


@for_each("broken", ["", "{", '{"code": "a', "null", "[1]", "\n{}\n", '{"a":1}}'])
def test_argument_text_is_kept_and_returned_as_it_came(broken: str) -> None:
    answer = called(call(broken))
    assert answer.tool_calls[0].arguments == broken
    wire = message_to_wire(answer.message())
    assert wire["tool_calls"][0]["function"]["arguments"] == broken


@for_each(
    ("given_as", "text"),
    [({"code": "é"}, '{"code":"é"}'), (None, "{}"), ([1, 2], "[1,2]"), (3, "3"), (False, "false")],
)
def test_arguments_that_are_no_text_become_json(given_as: Any, text: str) -> None:
    assert called(call(given_as)).tool_calls[0].arguments == text


def test_missing_ids_are_made_from_turn_and_position() -> None:
    history = (UserMessage(content="hi"), AssistantMessage(text="a"), AssistantMessage(text="b"))
    answer = called(call(id=None), call(id=""), call(id=7), messages=history)
    assert [c.id for c in answer.tool_calls] == ["call_2_0", "call_2_1", "call_2_2"]


def test_an_id_seen_before_in_the_conversation_is_replaced() -> None:
    earlier = AssistantMessage(tool_calls=(ToolCall(id="x", name="f", arguments="{}"),))
    taken = AssistantMessage(tool_calls=(ToolCall(id="call_2_1", name="f", arguments="{}"),))
    answer = called(call(id="y"), call(id="x"), call(id="y"), messages=(earlier, taken))
    assert [c.id for c in answer.tool_calls] == ["y", "call_2_1_", "call_2_2"]


@for_each("odd", [None, 3, "call", [], {}, {"function": None}, {"function": {"name": 5}}])
def test_a_call_that_is_none_still_gets_an_id_and_a_name(odd: Any) -> None:
    answer = called(odd, call())
    assert [(c.id, c.name) for c in answer.tool_calls] == [("call_0_0", "unnamed"), ("x", "f")]


@for_each("not_calls", [None, {}, "calls", 0, []])
def test_tool_calls_that_are_no_list_are_none(not_calls: Any) -> None:
    answer = turn({"content": "hi", "tool_calls": not_calls}, "tool_calls")
    assert (answer.tool_calls, answer.stop.reason) == ((), "other")


@for_each(
    ("word", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        (None, "other"),
        (5, "other"),
    ],
)
def test_the_finish_reason_is_normalised_and_kept(word: Any, reason: str) -> None:
    stop = turn({"content": "hi"}, word).stop
    assert (stop.reason, stop.provider_word) == (reason, word if isinstance(word, str) else None)


@for_each(
    ("word", "reason"),
    [("stop", "tool_use"), (None, "tool_use"), ("length", "max_tokens")],
)
def test_tool_calls_beside_another_finish_reason(word: Any, reason: str) -> None:
    assert turn({"tool_calls": [call()]}, word).stop.reason == reason


def test_a_refusal_is_its_text_and_reason() -> None:
    answer = turn({"content": None, "refusal": "I will not."})
    assert (answer.text, answer.stop.reason) == ("I will not.", "refusal")


@for_each("field", ["reasoning_content", "reasoning", "reasoning_details"])
def test_reasoning_goes_back_under_the_field_it_came_in(field: str) -> None:
    value = [{"type": "reasoning.text", "text": " th\tink ", "signature": "AbC="}]
    answer = turn({"content": "hi", field: value})
    assert answer.reasoning == ({"field": field, "value": value},)
    wire = message_to_wire(answer.message())
    assert wire == {"role": "assistant", "content": "hi", field: value}


def test_fields_a_tool_call_carries_go_back_with_it() -> None:
    extra = {"google": {"thought_signature": "AbC="}}
    answer = called(call(extra_content=extra), call(id="y", index=1))
    first, second = message_to_wire(answer.message())["tool_calls"]
    assert first["extra_content"] == extra
    assert set(second) == {"id", "type", "function"}


def test_content_in_parts_is_joined_and_goes_back_whole_when_it_is_more_than_text() -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    parts = [thinking, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    answer = turn({"content": parts})
    assert answer.text == "ab"
    assert message_to_wire(answer.message())["content"] == parts
    plain = turn({"content": parts[1:]})
    assert message_to_wire(plain.message())["content"] == "ab"


@for_each("number", [float("nan"), float("inf"), -float("inf")])
def test_what_would_go_back_must_be_json(number: float) -> None:
    odd = {"x": [number]}
    for field in ("reasoning_details", "reasoning", "thinking_blocks"):
        with pytest.raises(MalformedAnswerError, match="cannot be sent back"):
            turn({"content": "a", field: [odd]})
    with pytest.raises(MalformedAnswerError, match="cannot be sent back"):
        turn({"content": ["a", odd]})
    with pytest.raises(MalformedAnswerError, match="cannot be sent back"):
        called(call(extra_content=odd))
    assert turn({"content": "a", "logprobs": odd}).text == "a"  # this stays here


def test_reasoning_of_another_provider_is_not_sent() -> None:
    message = AssistantMessage(text="hi", reasoning=({"type": "thinking", "thinking": "x"},))
    assert message_to_wire(message) == {"role": "assistant", "content": "hi"}


def test_the_message_of_a_turn_with_calls_alone_has_null_content() -> None:
    assert message_to_wire(called(call()).message())["content"] is None


@for_each("usage", [None, {}, [], "many", {"prompt_tokens": None}, {"prompt_tokens": -1}])
def test_usage_that_was_not_reported_is_none(usage: Any) -> None:
    assert turn({"content": "hi"}, usage=usage).usage is None


@for_each("reason", ["error", "abort", "insufficient_system_resource"])
def test_an_answer_that_the_server_broke_off_is_asked_for_again(reason: str) -> None:
    choice = {"message": {"content": ""}, "finish_reason": reason}
    with pytest.raises(MalformedAnswerError, match=reason):
        turn_from_wire({"choices": [choice]}, [])


def test_half_a_usage_is_not_known() -> None:
    for half in ({"prompt_tokens": 3}, {"completion_tokens": 3}, {"prompt_tokens": True}):
        assert turn({"content": "hi"}, usage=half).usage is None


def test_reasoning_that_is_in_the_total_alone_is_counted() -> None:
    reported_usage = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 1041}
    counted = turn({"content": "hi"}, usage=reported_usage).usage
    assert counted is not None
    assert (counted.input_tokens, counted.output_tokens) == (32, 1009)


def test_usage_never_counts_a_part_above_its_whole() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 12},
        "completion_tokens_details": "none",
    }
    counted = turn({"content": "hi"}, usage=usage).usage
    assert counted is not None
    assert counted.model_dump() == {
        "input_tokens": 10,
        "cached_input_tokens": 10,
        "cache_write_tokens": 0,
        "output_tokens": 0,
        "reasoning_tokens": 0,
    }


@for_each(
    "body", [b"", b"[]", b"null", b"1", b"\xff", b"[" * 10**6, b'{"a":' * 10**6, b"9" * 10**5]
)
def test_a_body_that_is_no_json_object_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedAnswerError):
        read_json(body)


# The first draw of text builds a table of all characters, which takes its time on a busy machine.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
MESSAGE_FIELDS = st.sampled_from(
    ["content", "refusal", "tool_calls", "function_call", "reasoning", "role"]
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": JSON,
            "function": st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON}),
            "extra": JSON,
        },
    )
    | JSON
)
MESSAGES = st.dictionaries(MESSAGE_FIELDS, JSON | CALLS)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON,
        "usage": JSON | st.dictionaries(st.sampled_from(["prompt_tokens"]), JSON),
        "choices": JSON
        | st.lists(
            st.fixed_dictionaries({}, optional={"message": MESSAGES | JSON, "finish_reason": JSON})
        ),
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
    ids = [c.id for c in turn.tool_calls]
    assert len(set(ids)) == len(ids)
    sent = request_body("m", [turn.message()], [], ModelSettings(), max_tokens_field="max_tokens")
    to_json(sent)
    turn.model_dump_json()


@unhurried
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_sendable_text_is_utf8_and_otherwise_unchanged(text: str) -> None:
    sent = sendable(text)
    sent.encode()
    replaced = [c if not "\ud800" <= c <= "\udfff" else "\ufffd" for c in text]
    assert len(sent) <= len(text)
    assert sendable(sent) == sent
    if "\ufffd" not in replaced:
        assert sent == text


COUNTED = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}
USAGES: list[tuple[dict[str, Any], int, int, float | None]] = [
    ({"prompt_cache_hit_tokens": 600, "prompt_cache_miss_tokens": 400}, 600, 0, None),
    ({"cached_tokens": 600}, 600, 0, None),
    ({"prompt_tokens_details": {"cached_tokens": 600}}, 600, 0, None),
    (
        {
            "prompt_tokens_details": {"cached_tokens": 500, "cache_creation_tokens": 300},
            "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": 500,
        },
        500,
        300,
        None,
    ),
    ({"prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 300}}, 500, 300, None),
    ({"prompt_tokens_details": {"cached_tokens": 0}, "cache_read_input_tokens": 5}, 5, 0, None),
    ({"cached_tokens": 900, "cache_creation_input_tokens": 900}, 900, 100, None),
    ({"cost": 0.00123, "cost_details": {"upstream_inference_cost": 1}}, 0, 0, 0.00123),
    ({"cost_in_usd_ticks": 12_300_000}, 0, 0, 0.00123),
    ({"cost": {"input_tokens_cost": 0.001, "total_cost": 0.00123}}, 0, 0, 0.00123),
    ({"cost": 0}, 0, 0, 0.0),
    ({"cost": "much"}, 0, 0, None),
    ({"cost": -1}, 0, 0, None),
    ({"cost": True}, 0, 0, None),
    ({"cost": float("nan")}, 0, 0, None),
]


@for_each(("fields", "cached", "written", "cost"), USAGES)
def test_cached_tokens_and_costs_are_read_under_each_providers_names(
    fields: dict[str, Any], cached: int, written: int, cost: float | None
) -> None:
    usage = usage_from_wire({**COUNTED, **fields})
    assert usage is not None
    assert (usage.cached_input_tokens, usage.cache_write_tokens) == (cached, written)
    assert usage.cost_usd == (None if cost is None else pytest.approx(cost))
