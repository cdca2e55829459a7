"""A loopback server of Anthropic's Messages API, as strict as the real one.

In a test:

    async with MessagesServer(lambda body, n: message("hello")) as server:
        ...  # server.base_url, server.requests

It keeps a prompt cache like the real one: marked prefixes are written, prefixes written earlier
are read, and both are counted in the usage of answers that have none. A token is a character of
JSON here.
"""

import inspect
import json
from collections.abc import Iterator, Sequence
from typing import Any

from chat_server import ChatServer, Json, Recorded, Reply, Script
from streams import messages_events, sent

MOST_BREAKPOINTS = 4
LOOKBACK_BLOCKS = 20  # number of blocks before a breakpoint to search for an earlier write
THINKING = ("thinking", "redacted_thinking")

BLANK = "messages: text content blocks must contain non-whitespace text"
REBOUND = (
    "messages: Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation."
)

Prefixes = list[tuple[str, bool]]


# Replies


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def tool_use(name: str, arguments: Json | None = None, call_id: str = "toolu_1") -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments or {}}


def thinking(text: str, signature: str = "c2lnbmVk") -> Json:
    return {"type": "thinking", "thinking": text, "signature": signature}


def redacted(data: str) -> Json:
    return {"type": "redacted_thinking", "data": data}


def message(
    *content: Json | str,
    stop_reason: str | None = None,
    usage: Json | None = None,
    fields: Json | None = None,
    **reply: Any,
) -> Reply:
    """Return a successful answer; strings are text blocks, `reply` adds Reply fields."""
    blocks = [text_block(block) if isinstance(block, str) else block for block in content]
    called = any(block["type"] == "tool_use" for block in blocks)
    body: Json = {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": "loopback",
        "content": blocks,
        "stop_reason": stop_reason or ("tool_use" if called else "end_turn"),
        "stop_sequence": None,
        **(fields or {}),
    }
    if usage is not None:
        body["usage"] = usage
    return Reply(body=body, **reply)


def error(status: int, kind: str = "api_error", text: str = "no", **reply: Any) -> Reply:
    """Return an error in the vendor's format."""
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_body"}
    return Reply(body=body, status=status, **reply)


# The server


class MessagesServer(ChatServer):
    """The server, running within its context.

    Attributes:
        refused: reasons of the requests refused by the server itself, not by its script.
        binds: whether thinking is bound to the conversation before it, as newer models have it.
            Such a server takes back blank texts.
    """

    binds = False

    def __init__(self, script: Script, *, port: int = 0) -> None:
        super().__init__(self._checked(script), port=port)
        self.refused: list[str] = []
        self._thoughts: dict[str, list[Json]] = {}
        self._written: set[str] = set()
        self._bound: dict[str, str] = {}  # signature: the conversation before

    @property
    def base_url(self) -> str:
        return super().base_url.removesuffix("/v1")

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and path == "/v1/messages"

    def events(self, request: Recorded, body: Json) -> Iterator[bytes]:
        del request
        yield from sent(messages_events(body), named=True)

    def _checked(self, script: Script) -> Script:
        async def checked(body: Json, number: int) -> Reply:
            wrong = (each for each in faults(body) if not (self.binds and each == BLANK))
            fault = next(wrong, None) or self._altered_thoughts(body) or self._rebound(body)
            if fault:
                self.refused.append(fault)
                return error(400, "invalid_request_error", fault)
            reply = script(body, number)
            if inspect.isawaitable(reply):
                reply = await reply
            return self._accounted(body, reply)

        return checked

    def _accounted(self, body: Json, reply: Reply) -> Reply:
        """Record thinking blocks and cached prefixes; add the usage to the answer."""
        answer = reply.body
        if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
            return reply
        self._bind(body, answer["content"])
        for block in answer["content"]:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._thoughts[block["id"]] = _thoughts(answer["content"])
        if "usage" not in answer:
            answer = {**answer, "usage": {**self._cached(body), "output_tokens": 1}}
        return Reply(**{**vars(reply), "body": answer})

    def _cached(self, body: Json) -> Json:
        """Return the tokens that this request read from and wrote to the cache."""
        prefixes = list(_prefixes(body))
        marked = [position for position, (_, marks) in enumerate(prefixes) if marks]
        read = 0
        for mark in marked:
            for prefix, _ in prefixes[max(0, mark - LOOKBACK_BLOCKS + 1) : mark + 1]:
                if prefix in self._written:
                    read = max(read, len(prefix))
        until = len(prefixes[marked[-1]][0]) if marked else 0
        self._written |= {prefixes[mark][0] for mark in marked}
        return {
            "input_tokens": len(prefixes[-1][0]) - until,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": until - read,
        }

    def _bind(self, body: Json, answer: Sequence[Any]) -> None:
        prompt = [prefix for prefix, _ in _prefixes(body)][-1]
        for block in answer:
            if isinstance(block, dict):
                self._bound.setdefault(block.get("signature", ""), prompt)
                prompt += json.dumps(block)

    def _rebound(self, body: Json) -> str:
        """Return the thinking that stands after another conversation than it was written for."""
        prompt = ""
        for block in _all_blocks(body) if self.binds else ():
            if block.get("type") in THINKING and self._bound.get(block["signature"]) != prompt:
                return REBOUND
            plain = {name: value for name, value in block.items() if name != "cache_control"}
            prompt += json.dumps(plain)
        return ""

    def _altered_thoughts(self, body: Json) -> str:
        """Return the turn whose thinking was altered; a conversation may leave all of it out."""
        if not any(_thoughts(turn["content"]) for turn in body["messages"]):
            return ""
        for number, turn in enumerate(body["messages"]):
            for block in turn["content"]:
                expected = self._thoughts.get(block.get("id", ""), None)
                if expected is not None and _thoughts(turn["content"]) != expected:
                    return f"messages.{number}: thinking blocks cannot be modified"
        return ""


def _thoughts(content: Sequence[Any]) -> list[Json]:
    return [b for b in content if isinstance(b, dict) and b.get("type") in THINKING]


def _prefixes(body: Json) -> Iterator[tuple[str, bool]]:
    """Yield every prefix of the prompt that ends with a block, and if it is marked."""
    prompt = ""
    for block in _all_blocks(body):
        plain = {name: value for name, value in block.items() if name != "cache_control"}
        prompt += json.dumps(plain)
        yield prompt, "cache_control" in block


def _all_blocks(body: Json) -> Iterator[Json]:
    """Yield the blocks in the order of the prompt: tools, system, conversation."""
    yield from body.get("tools", ())
    yield from body.get("system", ())
    for turn in body["messages"]:
        yield from turn["content"]


# Rules of the real API


def faults(body: Json) -> Iterator[str]:
    """Yield all errors in a request."""
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: Field required"
    for unknown in set(body) & {"temperature", "top_p", "top_k"}:
        yield f"{unknown}: Extra inputs are not permitted"
    yield from _faults_of_turns(body["messages"])
    yield from _faults_of_blocks(list(_all_blocks(body)))


def _faults_of_blocks(blocks: list[Json]) -> Iterator[str]:
    if sum("cache_control" in block for block in blocks) > MOST_BREAKPOINTS:
        yield f"a maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided"
    for block in blocks:
        if block.get("type") in THINKING and "cache_control" in block:
            yield "cache_control: thinking blocks cannot be marked"
        if block.get("type") == "text" and not block["text"].strip():
            yield BLANK


def _faults_of_turns(turns: list[Json]) -> Iterator[str]:
    asked: list[str] = []
    for number, turn in enumerate(turns):
        where = f"messages.{number}"
        if turn["role"] != ("assistant" if number % 2 else "user"):
            yield f"{where}: the first role must be user, and roles must alternate"
        if not turn["content"]:
            yield f"{where}: content must not be empty"
        yield from _faults_of_results(where, turn["content"], asked)
        asked = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        yield from _faults_of_calls(where, turn)
    if not turns or asked:
        yield f"{asked}: tool_use ids were found without tool_result blocks"
    elif turns[-1]["content"] and turns[-1]["content"][-1]["type"] in THINKING:
        yield "The final block in an assistant message cannot be `thinking`"


def _faults_of_results(where: str, content: list[Json], asked: list[str]) -> Iterator[str]:
    kinds = [block["type"] for block in content]
    results = [block for block in content if block["type"] == "tool_result"]
    if kinds[: len(results)] != ["tool_result"] * len(results):
        yield f"{where}: tool_result blocks must come first"
    if sorted(block["tool_use_id"] for block in results) != sorted(asked):
        yield f"{where}: each tool_use must have its tool_result in the next message"
    for block in results:
        if block.get("is_error") and not block.get("content"):
            yield f"{where}: content cannot be empty if `is_error` is true"


def _faults_of_calls(where: str, turn: Json) -> Iterator[str]:
    for block in turn["content"]:
        if block["type"] == "tool_use" and not isinstance(block["input"], dict):
            yield f"{where}: tool_use.input: Input should be an object"
        if block["type"] in THINKING and turn["role"] != "assistant":
            yield f"{where}: thinking is the assistant's"
