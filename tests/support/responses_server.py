"""A loopback server of OpenAI's Responses API, as strict as the real one.

In a test:

    async with ResponsesServer(in_turn(response(reasoning(), said("hello")))) as server:
        ...  # server.base_url, server.requests, server.refusals

A request that breaks a rule of the protocol is answered with status 400 and the rule, without
asking the script. Items issued by the server must be returned unchanged.
"""

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chat_server import ChatServer, Json, Recorded, Reply, Script, failure
from streams import responses_events, sent

REQUEST_FIELDS = frozenset(
    {
        "background",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
    }
)
# Required and optional fields of each type of item.
ITEM_FIELDS = {
    "message": ({"role", "content"}, {"type", "id", "status", "phase"}),
    "reasoning": ({"type", "id", "summary"}, {"content", "encrypted_content", "status"}),
    "function_call": (
        {"type", "call_id", "name", "arguments"},
        {"id", "status", "namespace", "caller"},
    ),
    "function_call_output": ({"type", "call_id", "output"}, {"id", "status", "name", "namespace"}),
}
TOOL_FIELDS = {"type", "name", "description", "parameters", "strict"}
ROLES = ("system", "developer", "user", "assistant")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
FEWEST_TOKENS = 16


# Answers


def reasoning(item_id: str = "rs_1", summary: str = "", **fields: Any) -> Json:
    """Return a reasoning item with encrypted content."""
    summary_parts = [{"type": "summary_text", "text": summary}] if summary else []
    sealed = f"gAAAA{item_id}+/=="
    return {
        "id": item_id,
        "type": "reasoning",
        "summary": summary_parts,
        "encrypted_content": sealed,
        **fields,
    }


def said(*texts: str, item_id: str = "msg_1", refusal: str | None = None, **fields: Any) -> Json:
    """Return a message with a part for each text, and one for the refusal."""
    parts: list[Json] = [
        {"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in texts
    ]
    if refusal is not None:
        parts.append({"type": "refusal", "refusal": refusal})
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": parts,
        **fields,
    }


def called(name: str, arguments: Any = None, call_id: str = "call_1", **fields: Any) -> Json:
    """Return a function call; arguments other than text become JSON text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "status": "completed",
        "arguments": text,
        "call_id": call_id,
        "name": name,
        **fields,
    }


def counted(
    sent: int, written: int, *, cached: int = 0, cache_write: int = 0, thought: int = 0
) -> Json:
    """Return usage in the vendor's format."""
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": cache_write},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": sent + written,
    }


def response(
    *items: Json,
    status: str = "completed",
    usage: Json | None = None,
    fields: Json | None = None,
    **reply: Any,
) -> Reply:
    """Return a response; `fields` replaces fields of its body, `reply` of the Reply."""
    body: Json = {
        "id": "resp_loopback",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": "loopback",
        "output": list(items),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        **(fields or {}),
    }
    return Reply(body=body, **reply)


def incomplete(reason: str, *items: Json, **rest: Any) -> Reply:
    """Return an incomplete response."""
    fields = {"incomplete_details": {"reason": reason}}
    return response(*items, status="incomplete", fields=fields, **rest)


def failed(code: str, message: str = "no", **rest: Any) -> Reply:
    """Return a failed response."""
    fields = {"error": {"code": code, "message": message}}
    return response(status="failed", fields=fields, **rest)


# The server


class ResponsesServer(ChatServer):
    """The server, running within its context.

    Attributes:
        refusals: the error of each refused request.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self.refusals: list[str] = []
        self._answer = script
        self._issued: list[Sequence[Json]] = []
        super().__init__(self._checked, port=port)

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and path == "/v1/responses"

    def events(self, request: Recorded, body: Json) -> Iterator[bytes]:
        del request
        yield from sent(responses_events(body), named=True)

    async def _checked(self, body: Json, number: int) -> Reply:
        wrong = fault_of(body, self._issued)
        if wrong is not None:
            self.refusals.append(wrong)
            return failure(400, wrong, "invalid_request_error")
        reply = self._answer(body, number)
        if inspect.isawaitable(reply):
            reply = await reply
        output = reply.body.get("output") if isinstance(reply.body, dict) else None
        if isinstance(output, list):
            self._issued.append([item for item in output if isinstance(item, dict)])
        return reply


def fault_of(body: Json, issued: Sequence[Sequence[Json]] = ()) -> str | None:
    """Return the rule that a request breaks, in the vendor's words; None if valid.

    Args:
        body: the request.
        issued: the output items of each earlier answer.
    """
    wrong = next(_faults_of_settings(body), None) or _fault_of_tools(body.get("tools", []))
    if wrong is not None:
        return wrong
    items = body["input"]
    known = {item["id"]: item for output in issued for item in output if item.get("id")}
    faults = (
        fault
        for place, item in enumerate(items)
        for fault in _faults_of_item(item, f"input[{place}]", known)
    )
    return next(faults, None) or _fault_of_pairs(items) or _fault_of_reasoning(items, issued)


def _faults_of_settings(body: Json) -> Iterator[str]:
    for name in body.keys() - REQUEST_FIELDS:
        yield f"Unknown parameter: '{name}'."
    if not isinstance(body.get("model"), str):
        yield "Missing required parameter: 'model'."
    if not isinstance(body.get("input"), list) or not body["input"]:
        yield "Invalid 'input': expected an array that is not empty."
    if body.get("store") is not False:
        yield "This organisation keeps no data: 'store' must be false."
    if not 0 <= body.get("temperature", 1) <= 2:
        yield "Invalid 'temperature': decimal out of range."
    if body.get("max_output_tokens", FEWEST_TOKENS) < FEWEST_TOKENS:
        yield "Invalid 'max_output_tokens': integer below minimum value."
    if body.get("reasoning", {}).get("effort", "low") not in EFFORTS:
        yield "Invalid value: 'reasoning.effort'."


def _fault_of_tools(tools: Sequence[Json]) -> str | None:
    for tool in tools:
        if tool.keys() - TOOL_FIELDS or tool.get("type") != "function" or not tool.get("name"):
            return "Invalid value: 'tools'."
        schema = tool["parameters"]
        closed = schema.get("additionalProperties") is False
        named = sorted(schema.get("properties", {}))
        # The vendor makes a tool strict by default, which would change ours.
        if tool.get("strict", True) and not (
            closed and sorted(schema.get("required", [])) == named
        ):
            return f"Invalid schema for function '{tool['name']}'."
    return None


def _faults_of_item(item: Any, place: str, known: Mapping[str, Json]) -> Iterator[str]:
    original = known.get(item.get("id", ""))
    if original is not None:
        if json.dumps(item) != json.dumps(original):
            yield f"The content of item '{item['id']}' could not be verified."
        return
    kind = item.get("type", "message")
    must, may = ITEM_FIELDS.get(kind, (set(), item.keys()))
    if kind not in ITEM_FIELDS:
        yield f"Invalid value: '{place}.type'."
    for name in item.keys() - must - may:
        yield f"Unknown parameter: '{place}.{name}'."
    for name in must - item.keys():
        yield f"Missing required parameter: '{place}.{name}'."
    if kind == "message" and item["role"] not in ROLES:
        yield f"Invalid value: '{place}.role'."
    if kind == "reasoning":
        yield f"Item with id '{item['id']}' not found. Items are not persisted."
    for name in item.keys() & {"content", "arguments", "output", "name"}:
        if not isinstance(item[name], str):
            yield f"Invalid type for '{place}.{name}'."


def _fault_of_pairs(items: Sequence[Json]) -> str | None:
    called: set[str] = set()
    answered: set[str] = set()
    for item in items:
        kind, call_id = item.get("type"), item.get("call_id", "")
        if kind == "function_call":
            if call_id in called:
                return f"Duplicate function call {call_id}."
            called.add(call_id)
        elif kind == "function_call_output":
            if call_id not in called:
                return f"No tool call found for function call output with call_id {call_id}."
            if call_id in answered:
                return f"Duplicate function call output for call_id {call_id}."
            answered.add(call_id)
    unanswered = called - answered
    return f"No tool output found for function call {min(unanswered)}." if unanswered else None


def _fault_of_reasoning(items: Sequence[Json], issued: Sequence[Sequence[Json]]) -> str | None:
    """Check that reasoning is followed by its item, or that both are missing."""
    places = {item["id"]: place for place, item in enumerate(items) if item.get("id")}
    order = [item.get("id") for item in items]
    for output in issued:
        followers = [*(item.get("id") for item in output[1:]), None]
        for thought, follower in zip(output, followers, strict=False):
            if thought.get("type") != "reasoning":
                continue
            name = thought["id"]
            if name in places and (follower is None or order[places[name] + 1 :][:1] != [follower]):
                return f"Item '{name}' of type 'reasoning' was provided without its following item."
            if name not in places and follower in places:
                return f"Item '{follower}' was provided without its 'reasoning' item: '{name}'."
    return None
