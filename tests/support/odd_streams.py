"""Streams as servers break them or write them oddly, and what is right for each.

Every one is a list of events as bytes. `RIGHT` says what a client must make of it: the whole
answer, or nothing of it, so that the request is sent again.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import messages_server
import responses_server
from chat_server import completion, tool_call
from streams import chat_events, messages_events, responses_events, sent

Json = dict[str, Any]
Right = Literal["whole", "again", "cut off", "calls", "refused"]

PROGRAM = "Here:\n\n```python\nn = int(input())\nprint(sum(map(int, input().split())))\n```\n"
PIECES = (
    "Here:\n\n```python\n",
    "n = int(input())\n",
    "print(sum(map(int, ",
    "input().split())))\n",
)
USAGE = {"prompt_tokens": 100, "completion_tokens": 70, "total_tokens": 170}
CALLS = (("write_solution", '{"code":"print(1)"}'), ("run_tests", "{}"))
DONE = b"data: [DONE]\n\n"
EMPTY = b"data:\n\n"


@dataclass(frozen=True)
class Odd:
    """An odd stream.

    Attributes:
        events: the stream, cut into its events.
        right: what a client must make of it.
        calls: names and arguments of the calls of the whole answer.
        content_type: as the server sends it.
    """

    events: tuple[bytes, ...]
    right: Right = "whole"
    calls: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/event-stream"


def data(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def chunk(text: str | None = None, finish: Any = None, **fields: Any) -> bytes:
    """Return a chunk with a piece of text; `fields` are further ones of the chunk."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data({"id": "a", "object": "chat.completion.chunk", "choices": [choice], **fields})


def texts(finish: Any = None, count: int = len(PIECES)) -> tuple[bytes, ...]:
    """Return chunks with the beginning of the program, and a finish reason in each."""
    return tuple(chunk(text, finish) for text in PIECES[:count])


def called(*pieces: Json, finish: str | None = "tool_calls") -> tuple[bytes, ...]:
    """Return a chunk for each piece of a call."""
    chunks = [
        data({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]})
        for piece in pieces
    ]
    return (*chunks, chunk(None, finish), data({"choices": [], "usage": USAGE}))


def piece(name: str | None, arguments: Any, **fields: Any) -> Json:
    named = {} if name is None else {"name": name}
    return {**fields, "function": {**named, "arguments": arguments}}


END = (chunk("```\n"), chunk(None, "stop"), chunk(None, None, choices=[], usage=USAGE), DONE)
ERROR = {"code": 500, "message": "the slot was lost", "type": "server_error"}
ERROR_FIELD = f"error: {json.dumps(ERROR)}\n\n".encode()
WRITE, TEST = CALLS
TWICE = (WRITE, ("write_solution", '{"code":"print(2)"}'))

CHAT: dict[str, Odd] = {
    "a field error, then the end mark": Odd((*texts(count=3), ERROR_FIELD, DONE), "again"),
    "a field error, then nothing": Odd((*texts(count=3), ERROR_FIELD), "again"),
    "an error in words": Odd((*texts(count=3), b"error: the slot was lost\n\n", DONE), "again"),
    "an error in a chunk": Odd((*texts(count=3), data({"error": ERROR}), DONE), "again"),
    "an error event without an error": Odd(
        (*texts(count=3), b"event: error\n" + data({"message": "oh"}), DONE), "again"
    ),
    "an error in a choice": Odd(
        (*texts(count=3), data({"choices": [{"index": 0, "error": ERROR}]}), DONE), "again"
    ),
    "a bare line of JSON": Odd((*texts(count=3), json.dumps({"error": ERROR}).encode()), "again"),
    "the reason error": Odd((*texts(count=3), chunk(None, "error"), DONE), "again"),
    "an error after the reason stop": Odd(
        (*texts(), chunk("", "stop"), data({"error": ERROR}), DONE), "again"
    ),
    "no reason, then the end mark": Odd((*texts(count=3), DONE), "again"),
    "no reason and no end mark": Odd(texts(count=3), "again"),
    "no reason, usage, then the end mark": Odd(
        (*texts(count=3), chunk(None, choices=[], usage=USAGE), DONE), "again"
    ),
    "an empty reason in every chunk": Odd((*texts(""), *END)),
    "the reason null in every chunk": Odd((*texts("null"), *END)),
    "an empty reason in every chunk, then nothing": Odd(texts("", 3), "again"),
    "an empty reason in every chunk, then the end mark": Odd((*texts("", 3), DONE), "again"),
    "the reason null in every chunk, then the end mark": Odd((*texts("null", 3), DONE), "again"),
    "the reason length, then an error": Odd(
        (
            *texts(count=3),
            chunk(None, "length"),
            chunk("", error={"code": 400, "message": "Token limit reached"}, usage=USAGE),
            DONE,
        ),
        "cut off",
    ),
    "an error beside the reason length": Odd(
        (*texts(count=3), chunk("", "length", error=ERROR, usage=USAGE), DONE), "cut off"
    ),
    "empty data at the beginning": Odd((EMPTY, *texts(), *END)),
    "empty data in between": Odd((*texts(count=2), EMPTY, EMPTY, *texts()[2:], *END)),
    "blank data and comments in between": Odd(
        (*texts(count=2), b"data:  \n\n", b": ping\n\n", *texts()[2:], *END)
    ),
    "empty data at the end": Odd((*texts(), *END, EMPTY)),
    "another content type": Odd((*texts(), *END), content_type="text/plain"),
    "the content type of JSON": Odd((*texts(), *END), content_type="application/json"),
    "half of it under another content type": Odd(
        (*texts(count=3), DONE), "again", content_type="text/plain"
    ),
    "calls of one index without ids": Odd(
        called(piece(*WRITE, index=0), piece(*TEST, index=0)), "calls", CALLS
    ),
    "calls of one index without ids, in pieces": Odd(
        called(
            piece(WRITE[0], "", index=0),
            piece(None, WRITE[1][:9], index=0),
            piece(None, WRITE[1][9:], index=0),
            piece(*TEST, index=0),
        ),
        "calls",
        CALLS,
    ),
    "two calls of one name, index 0 and no ids": Odd(
        called(piece(*TWICE[0], index=0), piece(*TWICE[1], index=0)), "calls", TWICE
    ),
    "calls without index and id": Odd(called(piece(*WRITE), piece(*TEST)), "calls", CALLS),
    "a call without arguments before another": Odd(
        called(piece("run_tests", "", index=0), piece(*WRITE, index=0)),
        "calls",
        (("run_tests", ""), WRITE),
    ),
    "a name in every piece of a call": Odd(
        called(
            piece(WRITE[0], WRITE[1][:9], index=0),
            piece(WRITE[0], WRITE[1][9:], index=0),
            piece(WRITE[0], "", index=0),
        ),
        "calls",
        (WRITE,),
    ),
    "a call cut in the middle, then the end mark": Odd(
        (*called(piece(WRITE[0], WRITE[1][:9], index=0), finish=None)[:1], DONE), "again"
    ),
    "a call cut by a field error": Odd(
        (*called(piece(WRITE[0], WRITE[1][:9], index=0))[:1], ERROR_FIELD, DONE), "again"
    ),
    "nothing but the end mark": Odd((DONE,), "again"),
    "withheld without a word": Odd(
        (data({"choices": [{"index": 0, "finish_reason": "content_filter"}]}), DONE), "refused"
    ),
}


def _whole(events: Iterator[bytes]) -> tuple[bytes, ...]:
    return tuple(events)


MESSAGE = _whole(
    sent(
        messages_events(
            messages_server.message(PROGRAM, usage={"input_tokens": 9, "output_tokens": 9}).body
        ),
        named=True,
    )
)
RESPONSE = _whole(
    sent(
        responses_events(
            responses_server.response(
                responses_server.said(PROGRAM), usage=responses_server.counted(9, 9)
            ).body
        ),
        named=True,
    )
)
COMPLETION = _whole(sent(chat_events(completion(PROGRAM, usage=USAGE).body, usage=True)))
ASKED_AGAIN: dict[str, tuple[bytes, ...]] = {
    "nothing": (),
    "the end mark": (DONE,),
    "a field error": (ERROR_FIELD,),
    "a field error and the end mark": (ERROR_FIELD, DONE),
    "an error in an event": (data({"type": "error", "error": {"type": "api_error", **ERROR}}),),
}
"""What may stand in place of the rest of a stream that breaks."""

MESSAGES: dict[str, Odd] = {
    **{
        f"half of it, then {name}": Odd((*MESSAGE[:-3], *rest), "again")
        for name, rest in ASKED_AGAIN.items()
    },
    "no reason": Odd(tuple(event.replace(b'"end_turn"', b"null") for event in MESSAGE), "again"),
    "an empty reason": Odd(
        tuple(event.replace(b'"end_turn"', b'""') for event in MESSAGE), "again"
    ),
    "empty data in between": Odd((*MESSAGE[:5], EMPTY, *MESSAGE[5:])),
    "another content type": Odd(MESSAGE, content_type="text/plain"),
}
RESPONSES: dict[str, Odd] = {
    **{
        f"half of it, then {name}": Odd((*RESPONSE[:-1], *rest), "again")
        for name, rest in ASKED_AGAIN.items()
    },
    "empty data in between": Odd((*RESPONSE[:2], EMPTY, *RESPONSE[2:])),
    "another content type": Odd(RESPONSE, content_type="text/plain"),
}
ODD: dict[str, tuple[str, Odd]] = {
    f"{wire}: {name}": (wire, odd)
    for wire, odds in (("chat", CHAT), ("messages", MESSAGES), ("responses", RESPONSES))
    for name, odd in odds.items()
}
GOOD = {
    "chat": completion(PROGRAM, usage=USAGE),
    "messages": messages_server.message(PROGRAM, usage={"input_tokens": 9, "output_tokens": 9}),
    "responses": responses_server.response(
        responses_server.said(PROGRAM), usage=responses_server.counted(9, 9)
    ),
}
GOOD_CALLS = completion(
    None, [tool_call(*call, f"c{place}") for place, call in enumerate(CALLS)], usage=USAGE
)
