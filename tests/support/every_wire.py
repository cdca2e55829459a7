"""The solver of chat completions behind each wire format.

Requests of other protocols are converted to chat completions for it, and its answers back to the
other protocol.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import messages_server
import responses_server
from chat_server import ChatServer, Json, Reply
from messages_server import MessagesServer
from responses_server import ResponsesServer

Tell = Callable[[Json], Json]
_numbers = count(1)


@dataclass(frozen=True)
class Wire:
    """A protocol: its server and the conversions.

    Attributes:
        as_chat: converts a request's body to chat completions.
        answer: converts a completion's body to a reply in this protocol.
        failure: makes an error with a status in this protocol.
    """

    name: str
    server: type[ChatServer]
    as_chat: Tell
    answer: Callable[[Json], Reply]
    failure: Callable[..., Reply]

    def usage_of(self, reply: Reply) -> tuple[int, int]:
        """Return an answer's input and output tokens; zero for anything else."""
        usage: Json = reply.body.get("usage") or {} if isinstance(reply.body, dict) else {}
        if self.name == "chat":
            return usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        return usage.get("input_tokens", 0), usage.get("output_tokens", 0)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _chat_call(call_id: str, name: str, arguments: str) -> Json:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def _responses_as_chat(body: Json) -> Json:
    messages: list[Json] = []
    for item in body["input"]:
        match item["type"]:
            case "message":
                messages.append({"role": item["role"], "content": _text(item["content"])})
            case "function_call":
                call = _chat_call(item["call_id"], item["name"], item["arguments"])
                messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            case "function_call_output":
                messages.append(
                    {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
                )
            case _:
                continue
    tools = [{"type": "function", "function": tool} for tool in body.get("tools", ())]
    return {"messages": messages, "tools": tools}


def _messages_as_chat(body: Json) -> Json:
    messages: list[Json] = [{"role": "system", "content": _text(body.get("system", ""))}]
    for turn in body["messages"]:
        blocks: Sequence[Json] = (
            [{"type": "text", "text": turn["content"]}]
            if isinstance(turn["content"], str)
            else turn["content"]
        )
        messages.append({"role": turn["role"], "content": _text(blocks)})
        for block in blocks:
            if block["type"] == "tool_use":
                call = _chat_call(block["id"], block["name"], json.dumps(block["input"]))
                messages[-1].setdefault("tool_calls", []).append(call)
            elif block["type"] == "tool_result":
                content = _text(block.get("content", ""))
                messages.append(
                    {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}
                )
    tools = [
        {"function": {**tool, "parameters": tool["input_schema"]}} for tool in body.get("tools", ())
    ]
    return {"messages": messages, "tools": tools}


def _parts(completion: Json) -> tuple[str, list[Json], Json]:
    message = completion["choices"][0]["message"]
    calls = [{**call["function"], "id": call["id"]} for call in message.get("tool_calls") or ()]
    return message.get("content") or "", calls, completion["usage"]


def _responses_answer(completion: Json) -> Reply:
    text, calls, usage = _parts(completion)
    items = [responses_server.called(call["name"], call["arguments"], call["id"]) for call in calls]
    counted = responses_server.counted(usage["prompt_tokens"], usage["completion_tokens"])
    return responses_server.response(
        *([responses_server.said(text, item_id=f"msg_{next(_numbers)}")] if text else []),
        *items,
        usage=counted,
    )


def _messages_answer(completion: Json) -> Reply:
    text, calls, usage = _parts(completion)
    blocks = [
        messages_server.tool_use(call["name"], json.loads(call["arguments"]), call["id"])
        for call in calls
    ]
    counted = {
        "input_tokens": usage["prompt_tokens"],
        "output_tokens": usage["completion_tokens"],
    }
    return messages_server.message(*([text] if text else []), *blocks, usage=counted)


def _chat_failure(status: int, **reply: Any) -> Reply:
    return Reply(body={"error": {"message": "no", "type": "error"}}, status=status, **reply)


def _messages_failure(status: int, **reply: Any) -> Reply:
    kind = {429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
    return messages_server.error(status, kind, **reply)


WIRES = {
    "chat": Wire(
        "chat", ChatServer, lambda body: body, lambda said: Reply(body=said), _chat_failure
    ),
    "responses": Wire(
        "responses", ResponsesServer, _responses_as_chat, _responses_answer, _chat_failure
    ),
    "messages": Wire(
        "messages", MessagesServer, _messages_as_chat, _messages_answer, _messages_failure
    ),
}
