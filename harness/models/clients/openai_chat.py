"""Client of OpenAI's chat completions, at the vendor or any compatible endpoint.

Servers differ in the fields of a streamed chunk, so chunks are merged by a few rules and not by
type: text grows, lists grow by `index` or by the kind of their last part, and any other value
replaces the one before it. Unknown fields, such as a call's `extra_content` with Gemini's
signature, are kept as they were sent.
"""

from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import from_json

from harness.models.clients.amendments import CHAT_AMENDMENTS
from harness.models.clients.client import Client
from harness.models.clients.event_stream import StreamFormat
from harness.models.clients.openai_answer import STOP_REASONS, turn_from_wire, usage_from_wire
from harness.models.clients.openai_request import max_tokens_field, request_body
from harness.models.clients.wire import Json, stop_word
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import Message, ModelSettings, ToolSpec

GROWING = frozenset(
    {
        *("content", "reasoning_content", "reasoning", "refusal", "arguments"),
        *("text", "thinking", "summary", "data"),
    }
)
"""Fields whose text comes in pieces. Others come whole, some with every chunk."""
ITEM = 64  # bytes of a list's item besides its text
MOST_CHOICES = 128
MOST_ITEMS = 10_000  # in one list


class ChatStream:
    """Assembles the chunks of one completion."""

    def __init__(self) -> None:
        self._body: Json = {}
        self._message: Json = {}
        self._finish: str | None = None
        self.usage: Any = None
        self._error: Any = None
        self._begun = False
        self.size = 0

    @property
    def done(self) -> bool:
        """Whether the model reported that it is done, or the server that it failed."""
        return self._finish is not None or self._error is not None

    def add(self, data: Json) -> None:
        """Add a chunk. Raises MalformedAnswerError."""
        if data.get("error"):
            self._error = data["error"]
        for name in ("id", "model", "created"):
            if data.get(name) is not None:
                self._body[name] = data[name]
        self.usage = data.get("usage") or _groq_usage(data) or self.usage
        choices: Any = data.get("choices")
        if not isinstance(choices, list):
            return
        for choice in cast("list[Any]", choices)[:MOST_CHOICES]:
            if isinstance(choice, dict) and not cast("Json", choice).get("index"):
                self._add_choice(cast("Json", choice))

    def _add_choice(self, choice: Json) -> None:
        self._begun = True
        self._finish = stop_word(choice.get("finish_reason")) or self._finish
        self._error = choice.get("error") or self._error
        self.usage = choice.get("usage") or self.usage  # Moonshot reports it there
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self.size += _merge_object(self._message, cast("Json", delta))

    def answer(self) -> Json:
        """Return the completion, or the server's error, which makes any text before it void.

        An answer that ended at its token limit stands: gateways may report that as an error, too.
        """
        usage = {"usage": self.usage} if self.usage else {}
        if self._error is not None and STOP_REASONS.get(self._finish or "") != "max_tokens":
            return {"error": self._error, **usage}
        if not self._begun:
            raise MalformedAnswerError("the stream has no choices")
        message = {name: _joined(value) for name, value in self._message.items()}
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            message["tool_calls"] = [_without_index(call) for call in cast("list[Any]", calls)]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._body, "object": "chat.completion", "choices": [choice], **usage}


class _Text:
    """Text that comes in pieces."""

    __slots__ = ("pieces",)

    def __init__(self, first: str) -> None:
        self.pieces = [first]


def _merge_object(into: Json, delta: Json) -> int:
    """Merge an object's fields; return the approximate number of bytes added."""
    return sum(_merge_field(into, name, value) for name, value in delta.items())


def _merge_field(into: Json, name: str, value: Any) -> int:
    before = into.get(name)
    if isinstance(value, list):
        items: list[Any] = cast("list[Any]", before) if isinstance(before, list) else []
        if isinstance(before, _Text) and any(before.pieces):
            items.append({"type": "text", "text": before})
        into[name] = items
        return _merge_list(name, items, cast("list[Any]", value))
    if isinstance(value, dict):
        if not isinstance(before, dict):
            before = into[name] = {}
        return ITEM + _merge_object(cast("Json", before), cast("Json", value))
    if isinstance(value, str) and name in GROWING:
        return _merge_text(into, name, value)
    if value is None or (value == "" and before):  # only the first chunk has a value
        into.setdefault(name, None)
        return 0
    into[name] = value
    return len(value) if isinstance(value, str) else ITEM


def _merge_text(into: Json, name: str, value: str) -> int:
    before = into.get(name)
    if isinstance(before, list):  # Mistral's text follows its thinking
        part: list[Any] = [{"type": "text", "text": value}] if value else []
        return _merge_list(name, cast("list[Any]", before), part)
    if isinstance(before, _Text):
        before.pieces.append(value)
    else:
        into[name] = _Text(value)
    return len(value)


def _merge_list(name: str, items: list[Any], more: list[Any]) -> int:
    if len(items) > MOST_ITEMS:
        raise MalformedAnswerError("the stream has a list that is longer than any answer's")
    return sum(_merge_item(name, items, item) for item in more)


def _merge_item(name: str, items: list[Any], item: Any) -> int:
    """Merge a list item into the item that it continues, or append it."""
    if not isinstance(item, dict):
        items.append(item)
        return ITEM + len(str(item))
    fields = cast("Json", item)
    same = _same_call(items, fields) if name == "tool_calls" else _same_part(items, fields)
    if same is None:
        same = {}
        items.append(same)
    return ITEM + _merge_object(same, fields)


def _same_call(calls: list[Any], call: Json) -> Json | None:
    """Return the call that a piece belongs to, by index, unless it begins another call.

    Some servers give every call the index 0, or none, and some no ids.
    """
    index, call_id = call.get("index"), call.get("id")
    known = _last(calls)
    if index is not None:
        known = next((each for each in reversed(calls) if each.get("index") == index), None)
    if known is None or _begins_another(known, call):
        return None
    own = known.get("id")
    return None if call_id and call_id != own and (own or index is None) else known


def _begins_another(known: Json, call: Json) -> bool:
    """Return whether a piece with a function's name begins another call.

    It does with another name, or with more arguments after complete ones. Some servers repeat the
    name in every piece.
    """
    before, piece = known.get("function"), call.get("function")
    if not isinstance(before, dict) or not isinstance(piece, dict):
        return False
    function, more = cast("Json", before), cast("Json", piece)
    name, named = function.get("name"), more.get("name")
    if not (name and named):
        return False
    return name != named or (bool(more.get("arguments")) and _complete(function.get("arguments")))


def _complete(arguments: Any) -> bool:
    """Return whether the arguments so far are a whole JSON object."""
    if not isinstance(arguments, _Text):
        return isinstance(arguments, dict)
    if not arguments.pieces[-1].rstrip().endswith("}"):
        return False
    try:
        return isinstance(from_json("".join(arguments.pieces)), dict)
    except ValueError:
        return False


def _same_part(parts: list[Any], part: Json) -> Json | None:
    """Return the part of a text, or of reasoning, that a piece continues."""
    index, last = part.get("index"), _last(parts)
    if index is not None:
        place = (index, part.get("type"))
        known = [cast("Json", each) for each in parts if isinstance(each, dict)]
        return next((e for e in known if (e.get("index"), e.get("type")) == place), None)
    if last is None or last.get("type") != part.get("type") or last.get("signature"):
        return None
    return last if any(name in GROWING for name in part) or "signature" in part else None


def _last(items: list[Any]) -> Json | None:
    return cast("Json", items[-1]) if items and isinstance(items[-1], dict) else None


def _joined(value: Any) -> Any:
    """Return the value with the pieces of each text joined."""
    if isinstance(value, _Text):
        return "".join(value.pieces)
    if isinstance(value, dict):
        return {name: _joined(each) for name, each in cast("Json", value).items()}
    if isinstance(value, list):
        return [_joined(each) for each in cast("list[Any]", value)]
    return value


def _without_index(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    return {name: value for name, value in cast("Json", call).items() if name != "index"}


def _groq_usage(data: Json) -> Any:
    own = data.get("x_groq")
    return cast("Json", own).get("usage") if isinstance(own, dict) else None


class OpenAIChat(Client):
    """Model at an endpoint of OpenAI's chat completions.

    An endpoint that asks for `max_completion_tokens` gets it instead of `max_tokens`. Reasoning and
    broken tool call arguments are sent back as they came. An endpoint that refuses such fields gets
    the conversation once more without reasoning, or with the arguments wrapped in valid JSON.
    """

    ANSWER_FIELD = "choices"
    TURN = staticmethod(turn_from_wire)
    STREAM = StreamFormat(
        {"stream": True, "stream_options": {"include_usage": True}}, ChatStream, usage_from_wire
    )
    AMENDMENTS = CHAT_AMENDMENTS

    @classmethod
    def body(
        cls,
        model: str,
        base_url: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
    ) -> Json:
        """Return the JSON body of a request. Raises ModelError."""
        field = max_tokens_field(base_url)
        return request_body(model, messages, tools, settings, max_tokens_field=field)

    def _resource(self) -> Any:
        return self._client.chat.completions
