import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from chat_server import Json, Reply, Script, html_page, in_turn
from for_each import for_each
from messages_server import (
    MessagesServer,
    error,
    faults,
    message,
    redacted,
    text_block,
    thinking,
    tool_use,
)

from harness.models.clients import endpoint
from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.clients.timeouts import Timeouts
from harness.models.protocol import (
    AssistantMessage,
    ContextOverflowError,
    HistoryRefusedError,
    Message,
    ModelError,
    ModelSettings,
    ModelTurn,
    Retry,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)

KEY = "sk-ant-secretsecretsecret"
HELLO = (UserMessage(content="hello"),)
TOOL = ToolSpec(name="run_tests", description="Run.", parameters={"type": "object"})


@dataclass
class Conversation:
    """A client at a server, and what its retries did."""

    server: MessagesServer
    model: AnthropicMessages
    retries: list[Retry] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def ask(
        self,
        messages: tuple[Message, ...] = HELLO,
        tools: tuple[ToolSpec, ...] = (TOOL,),
        **given: Any,
    ) -> ModelTurn:
        return await self.model.generate(
            messages, tools, ModelSettings(**given), self.retries.append
        )

    def sent(self, number: int = -1) -> Json:
        return self.server.requests[number].body


@asynccontextmanager
async def talking(script: Script, suffix: str = "", **options: Any) -> AsyncIterator[Conversation]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with MessagesServer(script) as server:
        pace = Pace(sleep=sleep, jitter=lambda _high: 0.0)
        model = AnthropicMessages(
            "m",
            model="claude",
            base_url=server.base_url + suffix,
            api_key=KEY,
            pace=pace,
            **options,
        )
        try:
            yield Conversation(server, model, slept=slept)
        finally:
            await model.close()


def results(turn: ModelTurn, content: str = "1 failed") -> tuple[Message, ...]:
    """The turn and an answer to each of its calls."""
    answers = (ToolMessage(call_id=c.id, name=c.name, content=content) for c in turn.tool_calls)
    return (turn.message(), *answers)


def without_breakpoints(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_breakpoints(v) for k, v in value.items() if k != "cache_control"}
    return [without_breakpoints(v) for v in value] if isinstance(value, list) else value


# There and back


async def test_a_tool_conversation_goes_there_and_back() -> None:
    calls = [tool_use("run_tests", {"code": "∑ 🙂", "n": 1.0}, "a"), tool_use("f", call_id="b")]
    async with talking(in_turn(message("Trying.", *calls), message("Done."))) as talk:
        opening = (SystemMessage(content="Be good."), UserMessage(content="Solve."))
        first = await talk.ask(opening)
        second = await talk.ask(
            (
                *opening,
                first.message(),
                ToolMessage(call_id="a", name="run_tests", content="1 failed"),
                ToolMessage(call_id="b", name="f", content="unknown tool", is_error=True),
                UserMessage(content="Two attempts left."),
            )
        )
    assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [
        ("a", "run_tests", '{"code":"∑ 🙂","n":1.0}'),
        ("b", "f", "{}"),
    ]
    assert (first.text, first.stop.reason, first.reasoning) == ("Trying.", "tool_use", ())
    assert (second.text, second.stop.reason) == ("Done.", "end_turn")
    body = without_breakpoints(talk.sent())
    assert body["system"] == [text_block("Be good.")]
    assert body["messages"] == [
        {"role": "user", "content": [text_block("Solve.")]},
        {"role": "assistant", "content": [text_block("Trying."), *calls]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1 failed"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": "unknown tool",
                    "is_error": True,
                },
                text_block("Two attempts left."),
            ],
        },
    ]


async def test_the_request_names_model_tools_and_key_and_nothing_unasked() -> None:
    async with talking(in_turn(message("hi"))) as talk:
        await talk.ask()
    (request,) = talk.server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["anthropic-version"]
    assert set(request.body) == {"model", "max_tokens", "messages", "tools"}
    assert without_breakpoints(request.body["tools"]) == [
        {"name": "run_tests", "description": "Run.", "input_schema": {"type": "object"}}
    ]


@for_each("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_base_url_may_name_the_version(suffix: str) -> None:
    async with talking(in_turn(message("hi")), suffix) as talk:
        assert (await talk.ask()).text == "hi"
    assert talk.server.requests[0].path == "/v1/messages"


async def test_the_environment_changes_neither_address_nor_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other-other")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-other-other")
    async with talking(in_turn(message("hi"))) as talk:
        await talk.ask()
    assert talk.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@for_each("timeouts", [Timeouts(), Timeouts(connect_s=5.0, idle_s=600.0)])
async def test_a_long_answer_may_be_asked_for_without_streaming(timeouts: Timeouts) -> None:
    async with talking(in_turn(message("hi")), timeouts=timeouts) as talk:
        await talk.ask(max_tokens=64_000)
        await talk.ask()
    assert talk.sent(0)["max_tokens"] == 64_000
    assert talk.sent(1)["max_tokens"] == 32_000


async def test_effort_is_sent_with_adaptive_thinking() -> None:
    async with talking(in_turn(message("hi"))) as talk:
        await talk.ask(reasoning_effort="xhigh")
    assert talk.sent()["output_config"] == {"effort": "xhigh"}
    assert talk.sent()["thinking"] == {"type": "adaptive"}


@for_each(
    ("setting", "reason"),
    [({"temperature": 0.0}, "takes no temperature"), ({"reasoning_effort": "tiny"}, "'tiny'")],
)
async def test_a_setting_that_the_provider_does_not_take_is_refused_before_any_request(
    setting: dict[str, Any], reason: str
) -> None:
    async with talking(in_turn(message("hi"))) as talk:
        with pytest.raises(ModelError, match=reason):
            await talk.ask(**setting)
    assert talk.server.requests == []
    assert talk.retries == []


@for_each(("headers", "expected"), [({"request-id": "req_7"}, "req_7"), ({}, "msg_loopback")])
async def test_usage_latency_and_request_id_are_reported(
    headers: dict[str, str], expected: str
) -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 30,
        "output_tokens_details": {"thinking_tokens": 25},
    }
    async with talking(in_turn(message("hi", usage=usage, headers=headers))) as talk:
        turn = await talk.ask()
    assert turn.usage == Usage(
        input_tokens=125,
        cached_input_tokens=100,
        cache_write_tokens=20,
        output_tokens=30,
        reasoning_tokens=25,
    )
    assert turn.request_id == expected
    assert 0 < turn.latency_s < 30


# Thinking


THOUGHTS = {
    "before the call": [thinking(" hm\n∑ ", "AbC+/="), text_block("So."), tool_use("run_tests")],
    "redacted": [redacted("ZW5j"), thinking("", "only signed"), tool_use("run_tests")],
    "between": [
        thinking("a", "1"),
        text_block("x"),
        {**thinking("b", "2"), "new": [1, 2.5, None]},
        text_block("y"),
        tool_use("run_tests", {"n": 1}, "p"),
        tool_use("run_tests", {"n": 2}, "q"),
    ],
    "a block of tomorrow": [{"type": "musing", "data": {"x": "é"}}, tool_use("run_tests")],
}


@for_each("content", THOUGHTS.values())
async def test_thinking_goes_back_byte_for_byte_in_every_later_turn(content: list[Json]) -> None:
    again = [thinking("more", "sig2"), tool_use("run_tests", call_id="second")]
    async with talking(in_turn(message(*content), message(*again), message("Done."))) as talk:
        history: tuple[Message, ...] = HELLO
        for _ in range(2):
            turn = await talk.ask(history)
            # What a transcript keeps is what goes back.
            answer = AssistantMessage.model_validate_json(turn.message().model_dump_json())
            history = (*history, answer, *results(turn)[1:])
        await talk.ask(history)
    for number in (1, 2):
        sent = talk.sent(number)["messages"][1]["content"]
        assert json.dumps(sent) == json.dumps(content)
    assert json.dumps(talk.sent(2)["messages"][3]["content"]) == json.dumps(again)
    assert talk.server.refused == []


async def test_a_turn_of_nothing_but_thinking_is_left_out_of_the_conversation() -> None:
    cut = message(thinking("hm, and then"), stop_reason="max_tokens")
    async with talking(in_turn(cut, message("Done."))) as talk:
        first = await talk.ask()
        await talk.ask((*HELLO, first.message(), UserMessage(content="Go on.")))
    assert (first.text, first.stop.reason) == ("", "max_tokens")
    assert without_breakpoints(talk.sent()["messages"]) == [
        {"role": "user", "content": [text_block("hello"), text_block("Go on.")]}
    ]


# How an answer ends


@for_each(
    ("word", "reason"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        ("novel", "other"),
    ],
)
async def test_the_stop_reason_is_normalised_and_kept_and_the_conversation_goes_on(
    word: str, reason: str
) -> None:
    async with talking(in_turn(message("So far.", stop_reason=word), message("Done."))) as talk:
        first = await talk.ask()
        second = await talk.ask((*HELLO, first.message(), UserMessage(content="Go on.")))
    assert (first.text, first.stop.reason, first.stop.provider_word) == ("So far.", reason, word)
    assert second.text == "Done."


async def test_a_refusal_without_text_is_explained() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    refusal = message(stop_reason="refusal", fields={"stop_details": details})
    async with talking(in_turn(refusal)) as talk:
        turn = await talk.ask()
    assert (turn.text, turn.stop.reason) == ("Not this.", "refusal")


# The cache


async def converse(talk: Conversation, rounds: int) -> list[Usage]:
    history: tuple[Message, ...] = (
        SystemMessage(content="Be good. " * 50),
        UserMessage(content="Solve. " * 50),
    )
    counted: list[Usage] = []
    for number in range(rounds):
        turn = await talk.ask(history)
        assert turn.usage is not None
        counted.append(turn.usage)
        history = (*history, *results(turn, f"{number} failed " * 20))
    return counted


def parallel(calls: int) -> Script:
    def script(_body: Json, number: int) -> Reply:
        uses = [tool_use("run_tests", {"n": i}, f"call_{number}_{i}") for i in range(calls)]
        return message(thinking(f"thought {number}"), "Trying.", *uses)

    return script


@for_each("calls", [1, 3, 25])
async def test_each_turn_reads_from_the_cache_what_the_turns_before_wrote(calls: int) -> None:
    async with talking(parallel(calls)) as talk:
        counted = await converse(talk, 5)
    assert counted[0].cached_input_tokens == 0
    for before, after in pairwise(counted):
        assert after.cached_input_tokens == before.input_tokens  # all of it, to the last token
        assert after.input_tokens == after.cached_input_tokens + after.cache_write_tokens
    assert talk.server.refused == []


async def test_samples_of_one_problem_share_what_the_first_wrote() -> None:
    async with talking(parallel(1)) as talk:
        (first,) = await converse(talk, 1)
        (second,) = await converse(talk, 1)
    assert second.cached_input_tokens == first.input_tokens
    assert second.cache_write_tokens == 0


async def test_samples_of_other_problems_share_system_prompt_and_tools() -> None:
    system = SystemMessage(content="Be good.")
    async with talking(in_turn(message("hi"))) as talk:
        await talk.ask((system, UserMessage(content="One problem.")))
        turn = await talk.ask((system, UserMessage(content="Another problem.")))
    assert turn.usage is not None
    assert turn.usage.cached_input_tokens > len("Be good.")


async def test_a_single_shot_writes_nothing_that_only_it_would_read() -> None:
    async with talking(in_turn(message("hi"))) as talk:
        turn = await talk.ask(tools=())
    assert turn.usage is not None
    assert turn.usage.cache_write_tokens == 0
    assert "cache_control" not in json.dumps(talk.sent())


# Failures that may pass


RETRIED = {
    "429": error(429, "rate_limit_error"),
    "500": error(500, "api_error"),
    "504": error(504, "timeout_error"),
    "529": error(529, "overloaded_error"),
    "503 as a page": html_page(503),
    "reset": Reply(reset=True),
    "cut in the body": message("hello", cut_after=20),
    "an error page with status 200": html_page(),
    "an event stream": Reply(body=b"event: message_start\n\n", content_type="text/event-stream"),
    "not JSON": Reply(body=b"{nope"),
    "a list": Reply(body=[1]),
    "no content": Reply(body={"type": "message"}),
    "content that is text": Reply(body={"content": "hello"}),
    "a block that is none": Reply(body={"content": ["hello"]}),
    "a block without a type": Reply(body={"content": [{"text": "hello"}]}),
    "a text block without text": Reply(body={"content": [{"type": "text", "text": None}]}),
    "a number beyond all range": Reply(body=b'{"content": [{"type": "musing", "x": 1e999}]}'),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", RETRIED.values(), ids=RETRIED.keys())
async def test_a_failure_that_may_pass_is_retried(fault: Reply) -> None:
    async with talking(in_turn(fault, fault, message("at last"))) as talk:
        turn = await talk.ask()
    assert turn.text == "at last"
    assert [retry.attempt for retry in talk.retries] == [1, 2]
    assert talk.sent(0) == talk.sent(1) == talk.sent(2)


@for_each(
    ("kind", "status"),
    [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("timeout_error", 504),
    ],
)
async def test_an_error_within_status_200_is_as_lasting_as_its_type_says(
    kind: str, status: int
) -> None:
    fault = error(200, kind, "later")
    async with talking(in_turn(*[fault] * 4, message("at last"))) as talk:
        assert (await talk.ask()).text == "at last"
    assert [retry.cause for retry in talk.retries] == [f"HTTP {status}: later"] * 4


@for_each(("kind", "status"), [("invalid_request_error", 400), ("authentication_error", 401)])
async def test_a_refusal_within_status_200_is_final(kind: str, status: int) -> None:
    async with talking(in_turn(error(200, kind, "no such thing"))) as talk:
        with pytest.raises(ModelError, match=f"HTTP {status}: no such thing"):
            await talk.ask()
    assert len(talk.server.requests) == 1


async def test_the_provider_says_how_long_to_wait() -> None:
    script = in_turn(error(429, "rate_limit_error", headers={"retry-after": "7"}), message("hi"))
    async with talking(script) as talk:
        await talk.ask()
    assert talk.slept == [7.0]


async def test_silence_is_cut_off_and_retried() -> None:
    script = in_turn(message("late", silence_s=60), message("now"))
    async with talking(script, timeouts=Timeouts(idle_s=0.2)) as talk:
        assert (await talk.ask()).text == "now"
        await talk.server.left()


async def test_an_absurdly_large_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_ANSWER_BYTES", 2**20)
    async with talking(in_turn(Reply(padding=2**30))) as talk:
        with pytest.raises(ModelError, match=r"larger than 1 MiB.*3 attempts"):
            await talk.ask()


# Failures that stay


@for_each("status", [307, 400, 401, 402, 403, 404, 413])
async def test_a_failure_that_stays_fails_at_once_in_the_providers_words(status: int) -> None:
    async with talking(in_turn(error(status, "some_error", "you may\nnot"))) as talk:
        with pytest.raises(ModelError, match=f"HTTP {status}: you may not"):
            await talk.ask()
    assert len(talk.server.requests) == 1


async def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    async with MessagesServer(in_turn(message("mine now"))) as other:
        there = f"{other.base_url}/v1/messages"
        async with talking(in_turn(error(307, headers={"location": there}))) as talk:
            with pytest.raises(ModelError, match="redirect"):
                await talk.ask()
        assert other.requests == []


@for_each("status", [200, 400])
async def test_an_overflowing_context_has_an_error_of_its_own(status: int) -> None:
    reason = "prompt is too long: 210000 tokens > 200000 maximum"
    async with talking(in_turn(error(status, "invalid_request_error", reason))) as talk:
        with pytest.raises(ContextOverflowError):
            await talk.ask()
    assert len(talk.server.requests) == 1


ECHOES: dict[str, Callable[[str], Reply]] = {
    "error": lambda key: error(401, "authentication_error", f"bad key {key}"),
    "within": lambda key: error(200, "authentication_error", f"bad key {key}"),
    "unknown error within": lambda key: error(200, "novel_error", f"bad key {key}"),
    "retried": lambda key: error(500, "api_error", f"Authorization: Bearer {key}"),
    "malformed": lambda key: Reply(body=f"{key} is not JSON".encode()),
    "type of a block": lambda key: Reply(body={"content": [{"type": [key]}]}),
    "long": lambda key: Reply(body=("x" * 395 + key).encode(), status=401),
}


@for_each("echo", ECHOES.values())
async def test_the_key_is_in_no_message(echo: Callable[[str], Reply]) -> None:
    async with talking(in_turn(echo(KEY))) as talk:
        with pytest.raises(ModelError) as caught:
            await talk.ask()
    error_text = "".join(traceback.format_exception(caught.value))
    error_text += "".join(retry.cause for retry in talk.retries)
    assert KEY[:12] not in error_text


# What the conversation may hold


async def test_broken_arguments_of_a_call_are_sent_wrapped() -> None:
    texts = ['{"code": "pri', "null", "[1]", '{"x": NaN}', '{"x": 1e999}', '{"x": 1}']
    calls = [ToolCall(id=str(i), name="run_tests", arguments=t) for i, t in enumerate(texts)]
    turn = ModelTurn(tool_calls=tuple(calls), stop={"reason": "tool_use"})  # type: ignore[arg-type]
    async with talking(in_turn(message("go on"))) as talk:
        await talk.ask((*HELLO, *results(turn)))
    sent = [block["input"] for block in talk.sent()["messages"][1]["content"]]
    assert sent == [*({"unparsed": text} for text in texts[:-1]), {"x": 1}]


async def test_texts_without_content_do_not_end_the_conversation() -> None:
    call = ToolCall(id="a", name="bad name!", arguments="{}")
    history = (
        SystemMessage(content=" "),
        UserMessage(content=""),
        AssistantMessage(text="\n", tool_calls=(call,)),
        ToolMessage(call_id="a", name="f", content="", is_error=True),
        AssistantMessage(text=" "),
        UserMessage(content="Go on."),
        AssistantMessage(text="half \ud83d"),
        UserMessage(content="And?"),
    )
    async with talking(in_turn(message("go on"))) as talk:
        assert (await talk.ask(history)).text == "go on"
    content = without_breakpoints([turn["content"] for turn in talk.sent()["messages"]])
    assert content == [
        [text_block("(empty)")],
        [tool_use("bad_name_", call_id="a")],
        [
            {"type": "tool_result", "tool_use_id": "a", "content": "(empty)", "is_error": True},
            text_block("Go on."),
        ],
        [text_block("half \ufffd")],
        [text_block("And?")],
    ]


BLANK_BETWEEN = message(
    thinking("Hm.", "c2ln"), "\n\n", thinking("So.", "bmVk"), tool_use("run_tests", call_id="a")
)


async def test_thinking_that_is_bound_to_the_text_before_it_goes_back_as_it_came() -> None:
    async with talking(in_turn(BLANK_BETWEEN, message("done"))) as talk:
        talk.server.binds = True
        turn = await talk.ask()
        assert (await talk.ask((*HELLO, *results(turn)))).text == "done"
    assert (talk.server.refused, talk.retries) == ([], [])
    sent = talk.sent()["messages"][1]["content"]
    assert without_breakpoints(sent) == BLANK_BETWEEN.body["content"]


async def test_an_endpoint_that_refuses_its_own_blank_texts_gets_none_from_then_on() -> None:
    only_blank = message(thinking("Hm."), " ", stop_reason="max_tokens")
    script = in_turn(BLANK_BETWEEN, BLANK_BETWEEN, only_blank, message("done"))
    async with talking(script) as talk:  # the second request is refused by the server itself
        history = [*HELLO, *results(await talk.ask())]
        history += [(await talk.ask(tuple(history))).message(), UserMessage(content="Go on.")]
        assert (await talk.ask(tuple(history))).text == "done"
    assert len(talk.server.requests) == 4
    assert len(talk.server.refused) == len(talk.retries) == 1
    assert "blank texts sent back" in talk.retries[0].cause
    sent = without_breakpoints([turn["content"] for turn in talk.sent()["messages"]])
    blocks = [block for block in BLANK_BETWEEN.body["content"] if block["type"] != "text"]
    assert sent[1:] == [
        blocks,
        [
            {"type": "tool_result", "tool_use_id": "a", "content": "1 failed"},
            text_block("Go on."),
        ],
    ]


async def test_calls_that_nobody_answered_are_answered_and_results_come_first() -> None:
    calls = tuple(ToolCall(id=name, name="f", arguments="{}") for name in "abc")
    history = (
        *HELLO,
        AssistantMessage(tool_calls=calls),
        UserMessage(content="Wait."),
        ToolMessage(call_id="b", name="f", content="ok"),
        AssistantMessage(tool_calls=(ToolCall(id="d", name="f", arguments="{}"),)),
    )
    async with talking(in_turn(message("go on"))) as talk:
        assert (await talk.ask(history)).text == "go on"
    turns = talk.sent()["messages"]
    first = turns[2]["content"]
    assert [b.get("tool_use_id") for b in first] == ["b", "a", "c", None]
    assert [b.get("is_error", False) for b in first] == [False, True, True, False]
    assert [b["tool_use_id"] for b in turns[4]["content"]] == ["d"]


async def test_reasoning_of_another_provider_is_not_sent() -> None:
    foreign = ({"field": "reasoning", "value": "x"}, {"responses_item": {"type": "reasoning"}})
    reply = AssistantMessage(text="hi", reasoning=foreign)
    async with talking(in_turn(message("go on"))) as talk:
        await talk.ask((*HELLO, reply, UserMessage(content="And?")))
    assert talk.sent()["messages"][1]["content"] == [text_block("hi")]


# Life and death


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    never = asyncio.Event()
    async with talking(in_turn(message("never", until=never.wait), message("hi"))) as talk:
        asking = asyncio.ensure_future(talk.ask())
        await talk.server.arrived(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await talk.server.left()
        assert (await talk.ask()).text == "hi"


async def test_a_closed_client_says_so_and_closes_again_in_peace() -> None:
    async with talking(in_turn(message("hi"))) as talk:
        await talk.ask()
        await talk.model.close()
        await talk.model.close()
        with pytest.raises(ModelError, match="closed"):
            await talk.ask()


async def test_the_same_client_answers_for_every_sample(twice: Any) -> None:
    async with talking(in_turn(message("hi"))) as talk:
        assert talk.model.for_sample(twice, 3) is talk.model
        assert talk.model.name == "m"


async def test_a_failure_that_stays_ends_in_a_count() -> None:
    policy = RetryPolicy(attempts=5)
    async with talking(in_turn(error(529, "overloaded_error")), policy=policy) as talk:
        with pytest.raises(ModelError, match="gave up after 5 attempts"):
            await talk.ask()


# The server itself refuses what the real one does, or the tests above would prove nothing.


def request(*turns: Json, **fields: Any) -> Json:
    return {"max_tokens": 1, "messages": list(turns), **fields}


def said(role: str, *content: Json) -> Json:
    return {"role": role, "content": list(content)}


ASKED = said("user", text_block("hi"))
CALLED = said("assistant", tool_use("f", call_id="a"))
MARKED = {**text_block("x"), "cache_control": {"type": "ephemeral"}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}

REFUSED = {
    "no max_tokens": {"messages": [ASKED]},
    "a temperature": request(ASKED, temperature=0.5),
    "no turns": request(),
    "assistant first": request(said("assistant", text_block("hi"))),
    "two users": request(ASKED, ASKED),
    "empty text": request(said("user", text_block(" "))),
    "no content": request(said("user")),
    "no answer": request(ASKED, CALLED),
    "another answer": request(ASKED, CALLED, ASKED),
    "text first": request(ASKED, CALLED, said("user", text_block("x"), RESULT)),
    "an answer to nothing": request(said("user", RESULT)),
    "arguments as text": request(
        ASKED,
        said("assistant", {**tool_use("f", call_id="a"), "input": "{}"}),
        said("user", RESULT),
    ),
    "five breakpoints": request(said("user", *[MARKED] * 5)),
    "thinking last": request(ASKED, said("assistant", thinking("x"))),
}


@for_each("body", REFUSED.values())
def test_the_loopback_server_refuses(body: Json) -> None:
    assert list(faults(body))


async def test_the_loopback_server_refuses_altered_thinking() -> None:
    async with talking(in_turn(message(thinking("x"), tool_use("f", call_id="a")))) as talk:
        turn = await talk.ask()
        (kept,) = turn.reasoning
        other = {**kept, "block": thinking("y")}
        altered = turn.model_copy(update={"reasoning": (other,)})
        with pytest.raises(HistoryRefusedError, match="cannot be modified"):
            await talk.ask((*HELLO, *results(altered)))
