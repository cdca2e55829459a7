import json
from typing import Any

import pytest
from for_each import for_each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_json
from responses_server import called, counted, failed, incomplete, reasoning, response, said

from harness.models.clients import openai_request
from harness.models.clients.responses_wire import (
    allows_strict,
    message_to_wire,
    request_body,
    tool_to_wire,
    turn_from_wire,
    usage_from_wire,
)
from harness.models.faults import MalformedAnswerError, Redactor, TransientError
from harness.models.protocol import (
    AssistantMessage,
    ContextOverflowError,
    Message,
    ModelError,
    ModelSettings,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)


def turn(*items: Any, **rest: Any) -> ModelTurn:
    return turn_from_wire(response(*items, **rest).body, ())


def told(*parts: Any) -> dict[str, Any]:
    return said(content=list(parts))


# Sending


def test_a_conversation_is_a_list_of_items() -> None:
    messages: list[Message] = [
        SystemMessage(content="Be good."),
        UserMessage(content="Solve."),
        AssistantMessage(
            text="Trying.",
            tool_calls=(ToolCall(id="a", name="f", arguments='{"x'),),
            reasoning=(
                {"type": "thinking", "thinking": "hm"},
                {"field": "reasoning", "value": "x"},
            ),
        ),
        ToolMessage(call_id="a", name="f", content="bad", is_error=True),
    ]
    assert request_body("m", messages, [], ModelSettings()) == {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [
            {"type": "message", "role": "system", "content": "Be good."},
            {"type": "message", "role": "user", "content": "Solve."},
            {"type": "message", "role": "assistant", "content": "Trying."},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x'},
            {"type": "function_call_output", "call_id": "a", "output": "bad"},
        ],
    }


@for_each(
    ("setting", "sent"),
    [
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"max_tokens": 99}, {"max_output_tokens": 99}),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
    ],
)
def test_a_setting_is_sent_when_given(setting: dict[str, Any], sent: dict[str, Any]) -> None:
    without = request_body("m", [], [], ModelSettings())
    body = request_body("m", [], [], ModelSettings(**setting))
    assert body == {**without, **sent}
    assert not body.keys() & ({"temperature", "max_output_tokens", "reasoning"} - sent.keys())


def test_text_that_utf8_cannot_carry_is_sent_with_replacement_characters() -> None:
    messages: list[Message] = [
        UserMessage(content="a\ud800b"),
        AssistantMessage(
            text="c\udfff", tool_calls=(ToolCall(id="x", name="f", arguments='"\ud800"'),)
        ),
        ToolMessage(call_id="x", name="f", content="e\ud83d"),
    ]
    items = request_body("m", messages, [], ModelSettings())["input"]
    sent = [item.get("content") or item.get("arguments") or item.get("output") for item in items]
    assert sent == ["a\ufffdb", "c\ufffd", '"\ufffd"', "e\ufffd"]


CODE = {"type": "string"}
CLOSED = {
    "type": "object",
    "properties": {"code": CODE},
    "required": ["code"],
    "additionalProperties": False,
}


def within(part: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": {"code": part}}


@for_each(
    "schema",
    [
        CLOSED,
        {"type": "object", "properties": {}, "additionalProperties": False},
        within(CLOSED),
        within({"type": "array", "items": {"type": ["integer", "null"]}}),
        within({"anyOf": [CLOSED, {"type": "null"}], "description": "maybe"}),
        within({"type": "string", "enum": ["a", "b"], "title": "Letter"}),
    ],
)
def test_a_schema_that_can_be_enforced_is_strict(schema: dict[str, Any]) -> None:
    assert allows_strict(schema)


@for_each(
    "schema",
    [
        {},
        {"type": "object"},
        {**CLOSED, "required": []},
        {**CLOSED, "required": ["code", "more"]},
        {**CLOSED, "required": "code"},
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "properties": [1]},
        {**CLOSED, "$defs": {}},
        {"anyOf": [CLOSED]},
        CODE,
        within({}),
        within(True),
        within({"type": "object"}),
        within({"type": "array"}),
        within({"type": "array", "items": {"type": "object"}}),
        within({"anyOf": [{"type": "object"}]}),
        within({"type": "string", "default": "x"}),
        within({"properties": {"a": CODE}}),
        within({"type": "string", "properties": {"a": CODE}}),
    ],
)
def test_a_schema_that_may_not_be_enforceable_is_not_strict(schema: dict[str, Any]) -> None:
    assert not allows_strict(schema)


def test_a_tool_always_says_whether_it_is_strict() -> None:
    open_schema = {"type": "object"}
    for schema, strict in ((CLOSED, True), (open_schema, False)):
        tool = ToolSpec(name="f", description="Do.", parameters=schema)
        assert tool_to_wire(tool) == {
            "type": "function",
            "name": "f",
            "description": "Do.",
            "parameters": schema,
            "strict": strict,
        }


# There and back


ANSWER = (
    reasoning("rs_1", "Hm. ∑"),
    said("Looking.", item_id="msg_1", phase="commentary"),
    reasoning("rs_2", status="completed"),
    called("f", '{"x": 1}', "a"),
    {"type": "brand_new", "id": "bn_1", "deep": [{"a": None, "b": 1.0}], "async_": True},
    called("f", "{broken", "b", status="incomplete"),
    said("Done?", item_id="msg_2", phase="final_answer"),
)


def test_output_items_go_back_as_they_came_and_in_their_order() -> None:
    items = message_to_wire(turn(*ANSWER).message())
    assert json.dumps(items) == json.dumps(ANSWER)


def test_a_message_that_was_on_disk_goes_back_as_it_came() -> None:
    stored = turn(*ANSWER).message().model_dump_json()
    items = message_to_wire(AssistantMessage.model_validate_json(stored))
    assert json.dumps(items) == json.dumps(ANSWER)


def test_text_and_calls_are_read_from_among_other_items() -> None:
    answer = turn(*ANSWER)
    assert answer.text == "Looking.\nDone?"
    assert answer.tool_calls == (
        ToolCall(id="a", name="f", arguments='{"x": 1}'),
        ToolCall(id="b", name="f", arguments="{broken"),
    )


def test_reasoning_that_nothing_follows_is_not_sent() -> None:
    answer = turn(said("a"), reasoning("rs_1"), reasoning("rs_2"))
    assert len(answer.reasoning) == 3
    assert message_to_wire(answer.message()) == [said("a")]
    assert message_to_wire(turn(reasoning()).message()) == []


def test_a_message_whose_calls_were_taken_from_it_is_sent_without_them() -> None:
    message = turn(reasoning(), said("a"), called("f")).message()
    assert message_to_wire(message.model_copy(update={"tool_calls": ()})) == [
        {"type": "message", "role": "assistant", "content": "a"}
    ]


def test_items_of_this_wire_mean_nothing_to_chat_completions() -> None:
    wire = openai_request.message_to_wire(turn(*ANSWER[:2]).message())
    assert wire == {"role": "assistant", "content": "Looking."}


@for_each("block", [{}, {"responses_item": None}, {"responses_item": [1]}])
def test_a_block_without_an_item_is_not_sent(block: dict[str, Any]) -> None:
    message = AssistantMessage(text="hi", reasoning=(block,))
    assert message_to_wire(message) == [{"type": "message", "role": "assistant", "content": "hi"}]


# Receiving


@for_each("text", ["", "{", '{"code": "a', "null", "[1]", '{"a":1}}'])
def test_argument_text_is_kept_as_it_came(text: str) -> None:
    assert turn(called("f", text)).tool_calls[0].arguments == text


def test_the_parts_of_a_message_are_joined_and_messages_stand_on_lines_of_their_own() -> None:
    assert turn(said("a", "b"), said(), said("```python")).text == "ab\n```python"


def test_unknown_parts_are_kept_and_not_read() -> None:
    item = told({"type": "hologram", "text": "no"}, {"type": "output_text", "text": "yes"})
    answer = turn(item)
    assert answer.text == "yes"
    assert message_to_wire(answer.message()) == [item]


def test_an_answer_may_be_empty() -> None:
    answer = turn()
    assert (answer.text, answer.tool_calls, answer.stop.reason) == ("", (), "end_turn")


@for_each(
    ("body", "reason", "provider_word"),
    [
        (response(said("a")).body, "end_turn", "completed"),
        (response(called("f")).body, "tool_use", "completed"),
        (incomplete("max_output_tokens", said("a")).body, "max_tokens", "max_output_tokens"),
        (incomplete("max_output_tokens", called("f", "{")).body, "max_tokens", "max_output_tokens"),
        (incomplete("content_filter").body, "content_filter", "content_filter"),
        (incomplete("steered", said("a")).body, "other", "steered"),
        (response(status="incomplete").body, "other", "incomplete"),
        (response(status="incomplete", fields={"incomplete_details": [1]}).body, "other", None),
        (response(status="incomplete", fields={"incomplete_details": {}}).body, "other", None),
        (response(said(refusal="No.")).body, "refusal", "completed"),
        (response(said(refusal="")).body, "refusal", "completed"),
        (incomplete("content_filter", said(refusal="No")).body, "refusal", "content_filter"),
    ],
)
def test_why_the_model_stopped(body: Any, reason: str, provider_word: str | None) -> None:
    stop = turn_from_wire(body, ()).stop
    assert (stop.reason, stop.provider_word) == (reason, provider_word or "incomplete")


def test_a_refusal_is_the_text_where_there_is_no_other() -> None:
    assert turn(said(refusal="I will not.")).text == "I will not."
    assert turn(said("Well.", refusal="I will not.")).text == "Well."


def test_tokens_are_counted_apart() -> None:
    usage = counted(100, 30, cached=64, cache_write=16, thought=20)
    assert turn(usage=usage).usage == Usage(
        input_tokens=100,
        cached_input_tokens=64,
        cache_write_tokens=16,
        output_tokens=30,
        reasoning_tokens=20,
    )


@for_each(
    "usage",
    [
        *(None, {}, [], "many", {"input_tokens": None}, {"x": 1}),
        *({"input_tokens": 1, "output_tokens": -1}, {"input_tokens": 1}, {"output_tokens": 1}),
    ],
)
def test_usage_that_was_not_reported_is_none(usage: Any) -> None:
    assert usage_from_wire(usage) is None


def test_usage_never_counts_a_part_above_its_whole() -> None:
    usage = counted(10, 5, cached=8, cache_write=8, thought=6)
    assert usage_from_wire(usage) == Usage(
        input_tokens=10,
        cached_input_tokens=8,
        cache_write_tokens=2,
        output_tokens=5,
        reasoning_tokens=5,
    )
    odd = {"input_tokens": 3, "input_tokens_details": "none", "output_tokens": 0}
    assert usage_from_wire(odd) == Usage(input_tokens=3)


@for_each(
    ("code", "status", "throttled"),
    [("server_error", 500, False), ("rate_limit_exceeded", 429, True)],
)
def test_a_failure_that_may_pass(code: str, status: int, throttled: bool) -> None:
    with pytest.raises(TransientError, match=f"failed: {code}: busy") as caught:
        turn_from_wire(failed(code, "busy").body, ())
    assert not isinstance(caught.value, MalformedAnswerError)
    assert (caught.value.status, caught.value.throttled) == (status, throttled)


@for_each("code", ["invalid_prompt", "insufficient_quota", "bio_policy", "", None, 5])
def test_a_failure_that_stays(code: Any) -> None:
    with pytest.raises(ModelError, match=r"the response failed.*no") as caught:
        turn_from_wire(failed(code).body, ())
    assert not isinstance(caught.value, ContextOverflowError)


@for_each(
    ("code", "message"),
    [
        ("context_length_exceeded", "too much"),
        ("invalid_prompt", "Your input exceeds the context window of this model."),
    ],
)
def test_a_failure_for_length_is_an_overflow(code: str, message: str) -> None:
    with pytest.raises(ContextOverflowError):
        turn_from_wire(failed(code, message).body, ())


def test_secrets_in_the_providers_words_are_masked() -> None:
    redact = Redactor(("hunter22",))
    for body in (
        failed("server_error", "key hunter22").body,
        failed("other", "key hunter22").body,
        failed("hunter22").body,
        response(status="hunter22").body,
        response(status="x" * 195 + "hunter22").body,
    ):
        with pytest.raises((TransientError, ModelError)) as caught:
            turn_from_wire(body, (), redact)
        assert "hunter22" not in str(caught.value)
        assert "[redacted]" in str(caught.value)


@for_each("given", ["x", "", None, 7])
def test_a_call_without_an_id_of_its_own_gets_one(given: Any) -> None:
    earlier = AssistantMessage(tool_calls=(ToolCall(id="x", name="f", arguments="{}"),))
    items = (called("f", call_id="y"), {**called("g"), "call_id": given}, called("h", call_id="y"))
    heard = turn_from_wire(response(*items).body, (earlier,))
    assert [call.id for call in heard.tool_calls] == ["y", "call_1_1", "call_1_2"]
    sent = message_to_wire(heard.message())
    assert [item["call_id"] for item in sent] == ["y", "call_1_1", "call_1_2"]
    assert sent[0] == items[0]


MALFORMED: dict[str, Any] = {
    "nothing": {},
    "no status": {"output": []},
    "status not text": response(fields={"status": 200}).body,
    "unknown status": response(status="resting").body,
    "queued": response(status="queued").body,
    "in progress": response(status="in_progress").body,
    "cancelled": response(status="cancelled").body,
    "failed without error": response(status="failed").body,
    "failed with text": response(status="failed", fields={"error": "no"}).body,
    "no output": response(fields={"output": None}).body,
    "output an object": response(fields={"output": {}}).body,
    "output text": response(fields={"output": "hi"}).body,
    "item null": response(fields={"output": [None]}).body,
    "item text": response(fields={"output": ["hi"]}).body,
    "item without type": response({}).body,
    "type a number": response({"type": 1}).body,
    "no number of JSON": response({"type": "new", "x": [float("inf")]}).body,
    "no text of UTF-8": response({"type": "new", "x": "\ud800"}).body,
    "content missing": response({"type": "message"}).body,
    "content text": response(said(content="hi")).body,
    "part text": response(told("hi")).body,
    "part without type": response(told({"text": "hi"})).body,
    "text null": response(told({"type": "output_text", "text": None})).body,
    "text a list": response(told({"type": "output_text", "text": ["hi"]})).body,
    "refusal missing": response(told({"type": "refusal"})).body,
    "call without name": response(called("")).body,
    "name null": response({**called("f"), "name": None}).body,
}


@for_each("body", MALFORMED.values())
def test_an_answer_that_is_not_what_the_protocol_says_is_malformed(body: Any) -> None:
    with pytest.raises(MalformedAnswerError) as caught:
        turn_from_wire(body, ())
    assert len(str(caught.value)) < 300


# The first draw of text builds a table of all characters, which takes its time on a busy machine.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def maybe(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


PARTS = maybe(
    type=st.sampled_from(["output_text", "refusal", "new"]) | JSON, text=JSON, refusal=JSON
)
ITEMS = maybe(
    type=st.sampled_from(["message", "function_call", "reasoning", "new"]) | JSON,
    content=st.lists(PARTS | JSON, max_size=3) | JSON,
    call_id=st.text() | JSON,
    name=st.text() | JSON,
    arguments=st.text() | JSON,
)
ANSWERS = maybe(
    id=JSON,
    status=st.sampled_from(["completed", "incomplete", "failed", "queued"]) | JSON,
    error=maybe(code=st.sampled_from(["server_error", "bio_policy"]) | JSON, message=JSON) | JSON,
    incomplete_details=maybe(reason=st.sampled_from(["max_output_tokens"]) | JSON) | JSON,
    output=st.lists(ITEMS, max_size=4) | JSON,
    usage=maybe(input_tokens=JSON, input_tokens_details=JSON) | JSON,
)


@pytest.mark.thorough
@unhurried
@given(ANSWERS)
def test_any_answer_becomes_a_turn_that_can_be_sent_back_or_a_known_error(answer: Any) -> None:
    try:
        heard = turn_from_wire(answer, ())
    except MalformedAnswerError:
        return
    except (TransientError, ModelError):
        assert answer["status"] == "failed"
        return
    sent = request_body("m", [heard.message()], [], ModelSettings())
    json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()
    to_json(sent)
    stored = ModelTurn.model_validate_json(heard.model_dump_json())
    assert message_to_wire(stored.message()) == sent["input"]


@for_each(
    ("sent", "read"),
    [({"code": "x"}, '{"code":"x"}'), (None, "{}"), (["x"], '["x"]'), ('{"a": 1}', '{"a": 1}')],
)
def test_arguments_are_text_to_the_reader_and_when_sent_back(sent: Any, read: str) -> None:
    body = response({**called("f"), "arguments": sent}).body
    turn = turn_from_wire(body, ())
    assert [call.arguments for call in turn.tool_calls] == [read]
    (item,) = message_to_wire(turn.message())
    assert (item["type"], item["arguments"]) == ("function_call", read)
