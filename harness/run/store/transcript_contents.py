"""Contents of a transcript: requests and what they used, messages and their texts.

A transcript is append-only, so it contains all requests: also those whose answers became void when
their sample restarted, and those whose answer was lost to a limit, an interrupt or a kill. The
tokens of the latter are estimated (`harness.models.estimated_usage`).

The conversation in each event is described in `harness.agent.events`. All code that shows a
transcript, or writes its conversations in another format, uses this module.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from pydantic_core import from_json, to_json

from harness.agent.attempt import StopReason
from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    PutOff,
    RanWrittenTests,
    Request,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    Tested,
    ToolResult,
    Unusable,
    standing,
)
from harness.models.estimated_usage import characters_of, unheard_usage
from harness.models.protocol import AssistantMessage, Message, ToolCall, Usage

GIVEN_UP = frozenset({StopReason.TIME_LIMIT, StopReason.WALL_LIMIT})
"""Stop reasons that end a sample while the model is working; that is billed."""

REASONING_KEYS = ("thinking", "text", "reasoning_content", "reasoning", "content", "summary")
DEEPEST = 6
LONGEST_ARGUMENTS = 4 * 1024 * 1024
"""Characters; longer arguments are not parsed."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests that may be billed.

    Attributes:
        usage: their tokens; None if unknown.
        requests: number of requests.
        silent: whether a provider that answered did not report the tokens.
        estimated: whether the tokens are an estimate, because the answer was lost.
    """

    usage: Usage | None
    requests: int = 1
    silent: bool = False
    estimated: bool = False


def requests_of(events: Iterable[Event]) -> Iterator[Spent]:
    """Yield the usage of each request in a transcript; an estimate for lost answers."""
    conversation = _Conversation()
    waiting = False
    for event in events:
        heard = _heard(event)
        if heard is not None:
            yield heard
        if isinstance(event, Retried) and event.cut and event.usage is None:
            yield conversation.unheard()
        if waiting and _leaves_unheard(event):
            yield conversation.unheard()
        if isinstance(event, Request):
            waiting = True
        elif isinstance(event, Response | Unusable | Resumed | PutOff | SampleEnd | Cleared):
            waiting = False
        conversation.add(event)
    if waiting:
        yield conversation.unheard()


def _heard(event: Event) -> Spent | None:
    """Return the usage of the request that this event ends, if it contains it."""
    match event:
        case Retried(usage=Usage() as usage):
            return Spent(usage)
        case Unusable(usage=usage):
            return Spent(usage, estimated=bool(event.estimated))
        case Response(response=turn):
            return Spent(turn.usage, silent=turn.usage is None)
        case _:
            return None


def _leaves_unheard(event: Event) -> bool:
    """Whether an event shows that the previous request was cut off, but maybe billed."""
    match event:
        case Request() | Resumed():
            return True
        case PutOff():
            return event.in_flight
        case SampleEnd():
            return event.stop_reason in GIVEN_UP
        case _:
            return False


class _Conversation:
    """Length of a transcript's conversation, and the requested length of an answer."""

    def __init__(self) -> None:
        self._sizes: list[int | None] = []  # size of each valid event; None: a new conversation
        self._max_tokens: int | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, Resumed):
            del self._sizes[event.kept :]
            return
        if isinstance(event, SampleStart):
            given = event.settings.get("max_tokens")
            self._max_tokens = given if isinstance(given, int) else None
        self._sizes.append(_size(event))

    def unheard(self) -> Spent:
        length = 0
        for size in self._sizes:
            length = 0 if size is None else length + size
        return Spent(unheard_usage(length, self._max_tokens), estimated=True)


def _size(event: Event) -> int | None:
    """Return the characters that an event adds to its conversation."""
    said: tuple[Message, ...] = ()
    match event:
        case NewConversation():
            return None
        case Request():
            said = event.messages
        case Response():
            said = (event.response.message(),)
        case ToolResult():
            said = (event.result,)
        case _:
            pass
    return characters_of(said)


class Entry(NamedTuple):
    """One entry of a conversation.

    Attributes:
        item: a message to the model, its answer, a tool's result, tests not run by a tool call,
            results cleared from then on, or the end of a conversation.
        began, ended: seconds since the start of the sample, as the sum of answers, calls, tests
            and waits.
        retries: number of earlier failures of the request, for an answer.
    """

    item: Message | Response | ToolResult | Tested | Cleared | NewConversation
    began: float
    ended: float
    retries: int = 0


def entries(events: Iterable[Event]) -> Iterator[Entry]:
    """Yield the conversation in the valid events of a transcript, in order."""
    now, retries = 0.0, 0
    for event in standing(events):
        began = now
        match event:
            case Request():
                retries = 0
                for message in event.messages:
                    yield Entry(message, now, now)
            case Retried():
                retries += 1
                now += event.wait_s
            case Response():
                now += event.response.latency_s
                yield Entry(event, began, now, retries)
            case ToolResult() | Tested():
                now += event.seconds
                yield Entry(event, began, now)
            case RanWrittenTests():
                now += event.seconds
            case Cleared() | NewConversation():
                yield Entry(event, now, now)
            case _:
                pass


def message_text(message: Message) -> str:
    """Return a message's text."""
    return message.text if isinstance(message, AssistantMessage) else message.content


def arguments(call: ToolCall) -> str:
    """Return a call's arguments in readable form: just the program, if there is one."""
    return program(call) or call.arguments


def program(call: ToolCall) -> str | None:
    """Return the program or answer in a call's arguments; None if there is none."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return None
    try:
        values: Any = from_json(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    named = cast("dict[str, Any]", values)
    code = named.get("code", named.get("answer"))
    return code if isinstance(code, str) else None


def other_arguments(call: ToolCall) -> str:
    """Return the arguments other than the program or answer."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return ""
    values = cast("dict[str, Any]", from_json(call.arguments))
    rest = {key: value for key, value in values.items() if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""


def reasoning_text(blocks: Sequence[dict[str, Any]]) -> str:
    """Return the visible text of a model's reasoning; empty if it is encrypted."""
    return "\n\n".join(part for block in blocks for part in _reasoning(block, 0) if part.strip())


def _reasoning(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _reasoning(each, depth + 1)
    elif isinstance(value, dict):
        yield from _of_block(cast("dict[str, Any]", value), depth)


def _of_block(block: dict[str, Any], depth: int) -> Iterator[str]:
    inner = next((block[key] for key in ("block", "responses_item", "value") if key in block), None)
    if inner is not None:
        yield from _reasoning(inner, depth + 1) if _is_reasoning(block, inner) else ()
        return
    for key in REASONING_KEYS:
        if isinstance(block.get(key), str | list):
            yield from _reasoning(block[key], depth + 1)
            return


def _is_reasoning(block: dict[str, Any], inner: Any) -> bool:
    """Whether a part is reasoning, and not the answer or a call stored with it."""
    if "field" in block:
        return block["field"] not in {"content", "tool_calls"}
    kind = cast("dict[str, Any]", inner).get("type") if isinstance(inner, dict) else None
    return kind in {"thinking", "reasoning", "reasoning.text", "reasoning.summary"}
