"""Which way tools are called: what is tried, what is learnt from a refusal, and by whom."""

import asyncio
import json

from for_each import for_each

from harness.agent.tool_use import ToolUse
from harness.models.faults import (
    Redactor,
    RejectedError,
    ToolsRefusedError,
    WrongApiError,
    failed_status,
)
from harness.models.providers import ToolProtocol

REFUSED = [
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (400, "litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for model=y."),
    (
        400,
        "litellm.UnsupportedParamsError: x does not support parameters: {'tools': [{'type': 1}]}",
    ),
    (404, "No endpoints found that support tool use. To learn more about provider routing, …"),
    (404, "No endpoints found that support the provided 'tool_choice' value. To learn more …"),
    (400, "Unsupported parameter: 'tools' is not supported with this model."),
    (400, "This model doesn't support tool use."),
    (400, "Function calling is not enabled for this model"),
    (400, "deepseek-reasoner does not support Function Calling"),
    (400, "`tool calling` is not supported with this model"),
    (422, "[{'type': 'extra_forbidden', 'loc': ('body', 'tools'), 'msg': 'Extra inputs …'}]"),
]
NOT_REFUSED = [
    (400, "Failed to parse tool call arguments as JSON"),
    (400, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
    (400, "Invalid 'tools[0].function.name': string does not match pattern"),
    (400, "Unsupported parameter: 'temperature' is not supported with this model."),
    (401, "This key does not support tools"),
    (404, "The model `x` does not exist"),
    (429, "tools are not available at this rate"),
    (400, "tool_choice 'required' is not supported with thinking"),
    (400, "tool_choice 'required' is not supported in thinking mode"),
    (400, "Unsupported value: 'tool_choice' does not support 'required' with this model."),
    (500, "This model does not support tools"),
    (501, "tools are not supported"),
    (503, "tool calling is not available at the moment"),
    (500, "tools param requires --jinja flag"),
]
# Of servers that were started without tools: asking again changes nothing, and what to do is told.
WITHOUT = [
    (500, "tools param requires --jinja flag"),
    (500, "Unsupported param: tools"),
    (500, "Internal server error: Unsupported tool_call_parser: None"),
]
OTHER_API = [
    (400, "No tools: not supported in v1/chat/completions. Please use /v1/responses.", "responses"),
    (
        400,
        "Function tools with reasoning_effort are not supported for gpt-5.4 in "
        "/v1/chat/completions. Please use /v1/responses instead.",
        "responses",
    ),
    (
        404,
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        "responses",
    ),
    (400, "This model does not support tools here; use the Responses API.", "responses"),
    (404, "This model is only supported in v1/chat/completions and not in v1/responses.", "chat"),
]


def error(status: int, message: str) -> Exception:
    body = json.dumps({"error": {"message": message}}).encode()
    return failed_status(status, {}, body, Redactor(), now=0.0)


@for_each(("status", "message"), REFUSED)
def test_a_refusal_of_tools_is_known_by_its_words(status: int, message: str) -> None:
    refusal = error(status, message)
    assert isinstance(refusal, ToolsRefusedError)
    assert message[:60] in str(refusal)


@for_each(("status", "message"), NOT_REFUSED)
def test_other_errors_are_not_refused_tools(status: int, message: str) -> None:
    assert not isinstance(error(status, message), ToolsRefusedError)


@for_each(("status", "message"), WITHOUT)
def test_a_server_without_tools_is_an_error_that_says_what_to_do(status: int, message: str) -> None:
    refusal = error(status, message)
    assert type(refusal) is RejectedError
    assert "--tool-protocol text" in str(refusal)


@for_each(("status", "message", "api"), OTHER_API)
def test_a_model_of_another_protocol_is_an_error_that_names_the_flag(
    status: int, message: str, api: str
) -> None:
    refusal = error(status, message)
    assert isinstance(refusal, WrongApiError)
    assert str(refusal).endswith(f"; give --api {api}")


@for_each(
    ("status", "message"),
    [
        (400, "This is not a chat model; did you mean to use v1/completions?"),
        (500, "Please use /v1/responses instead."),
        (400, "The responses of this model are not available"),
    ],
)
def test_other_errors_are_not_a_wrong_protocol(status: int, message: str) -> None:
    assert not isinstance(error(status, message), WrongApiError)


async def test_samples_that_begin_together_learn_of_one_refusal() -> None:
    use = ToolUse("auto", patience_s=60.0)
    assert await use.is_native()  # the first asks
    others = [asyncio.create_task(use.is_native()) for _ in range(5)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in others)
    use.heard(refused=True)
    assert await asyncio.gather(*others) == [False] * 5
    assert not await use.is_native()


async def test_after_an_answer_all_are_native() -> None:
    use = ToolUse("auto", patience_s=60.0)
    assert await use.is_native()
    use.heard(refused=False)
    assert await use.is_native()
    assert use.may_change


async def test_a_slow_answer_holds_the_others_up_only_so_long() -> None:
    use = ToolUse("auto", patience_s=0.01)
    assert [await use.is_native() for _ in range(3)] == [True] * 3


@for_each("protocol", ["native", "text"])
async def test_a_protocol_that_was_chosen_is_not_changed(protocol: ToolProtocol) -> None:
    use = ToolUse(protocol)
    assert await use.is_native() is (protocol == "native")
    assert not use.may_change
