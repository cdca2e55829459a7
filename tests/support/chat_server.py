"""A loopback server of OpenAI chat completions that can fail like real servers.

In a test:

    async with ChatServer(lambda body, n: completion("hello")) as server:
        ...  # server.base_url, server.requests, await server.arrived(3)

As a program, it is a model that solves the problems of a file, for trying the whole harness:

    python tests/support/chat_server.py --port 0 --scenario solver --solutions solutions.json

where solutions.json maps a problem's title to a list of programs, tried in order until the tests
pass. The first line of output is the base URL.
"""

import argparse
import asyncio
import inspect
import json
import re
import signal
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from streams import chat_events, sent

Json = dict[str, Any]

MAX_REQUEST_BYTES = 256 * 2**20
PIECE = b"x" * 2**16


@dataclass(frozen=True)
class Reply:
    """The server's reply to one request.

    Attributes:
        body: bytes, sent unchanged, or a value that is sent as JSON.
        silence_s: seconds of silence before the first byte.
        until: awaited before the first byte, after the silence.
        reset: whether the connection is reset instead of answered.
        cut_after: number of bytes of the body after which the connection is closed.
        padding: number of further bytes after the body.
        whole: whether the answer is not streamed, although the request asks for it.
        before_event: awaited before each event of a streamed answer.
        events: a stream to send event by event, in place of the body.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    silence_s: float = 0.0
    until: Callable[[], Awaitable[Any]] | None = None
    reset: bool = False
    cut_after: int | None = None
    padding: int = 0
    whole: bool = False
    before_event: Callable[[], Awaitable[Any]] | None = None
    events: Sequence[bytes] | None = None

    def payload(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script = Callable[[Json, int], Reply | Awaitable[Reply]]
Streaming = Literal["yes", "without usage", "ignored", "refused", "options refused"]


@dataclass(frozen=True)
class Recorded:
    """A received request; header names are in lower case.

    Attributes:
        body: the request without the fields in `stream` and `stream_options`.
    """

    body: Json
    headers: Mapping[str, str]
    path: str
    method: str = "POST"
    stream: bool = False
    stream_options: Json | None = None


# Replies


def tool_call(name: str, arguments: Any = None, call_id: str | None = "call_1") -> Json:
    """Return a tool call in the wire format; arguments other than text become JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    call: Json = {"type": "function", "function": {"name": name, "arguments": text}}
    return call if call_id is None else {"id": call_id, **call}


def completion(
    text: str | None = None,
    tool_calls: Sequence[Json] = (),
    *,
    finish_reason: str | None = None,
    usage: Json | None = None,
    message: Json | None = None,
    **reply: Any,
) -> Reply:
    """Return a successful answer; `message` and `reply` add fields of either."""
    assistant_message: Json = {"role": "assistant", "content": text, **(message or {})}
    if tool_calls:
        assistant_message["tool_calls"] = list(tool_calls)
    reason = finish_reason or ("tool_calls" if tool_calls else "stop")
    body: Json = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [{"index": 0, "message": assistant_message, "finish_reason": reason}],
    }
    if usage is not None:
        body["usage"] = usage
    return Reply(body=body, **reply)


def failure(status: int, message: str = "no", code: str | None = None, **reply: Any) -> Reply:
    """Return an error in the vendor's format."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Reply(body={"error": error}, status=status, **reply)


def html_page(status: int = 200, title: str = "Bad gateway") -> Reply:
    """Return an error page of a proxy."""
    page = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return Reply(body=page.encode(), status=status, content_type="text/html")


def in_turn(*replies: Reply) -> Script:
    """Return the replies one after the other, repeating the last one."""
    return lambda _body, n: replies[min(n, len(replies) - 1)]


# The server


class ChatServer:
    """The server, running within its context; raises the script's errors at the end.

    Attributes:
        requests: all chat requests, in order of arrival.
        open_connections: current number of connections.
        most_open_connections: largest number of connections so far.
        disconnected: number of connections closed by the client before its answer was sent.
        streaming: how requests for a stream are handled.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        self.streaming: Streaming = "yes"
        self.requests: list[Recorded] = []
        self.open_connections = 0
        self.most_open_connections = 0
        self.disconnected = 0
        self._script = script
        self._port = port
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._mistakes: list[Exception] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def serves(self, method: str, path: str) -> bool:
        """Whether a path exists; overridden by servers of other protocols."""
        return method == "POST" and path.endswith("/chat/completions")

    def parse(self, raw: bytes, headers: Mapping[str, str]) -> Json:  # noqa: ARG002 - for others
        """Parse a request's body; ValueError if it is malformed."""
        return json.loads(raw or b"{}")

    def answer(self, request: Recorded, number: int) -> Reply | Awaitable[Reply]:
        """Return the reply to a request; overridden by servers with several paths."""
        return self._script(request.body, number)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self._port, limit=2**20, backlog=1024
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        if self._mistakes:
            raise self._mistakes[0]

    async def arrived(self, count: int, timeout_s: float = 60.0) -> None:
        """Wait until this many requests have arrived."""
        await self._reached(lambda: len(self.requests) >= count, timeout_s)

    async def left(self, count: int = 1, timeout_s: float = 60.0) -> None:
        """Wait until this many clients have disconnected without their answer."""
        await self._reached(lambda: self.disconnected >= count, timeout_s)

    async def _reached(self, condition: Callable[[], bool], timeout_s: float) -> None:
        async with asyncio.timeout(timeout_s), self._changed:
            await self._changed.wait_for(condition)

    async def _announce(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open_connections += 1
        self.most_open_connections = max(self.most_open_connections, self.open_connections)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:
            pass  # the server is closing; end the task silently
        finally:
            self._tasks.discard(task)
            self.open_connections -= 1
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        if head[0].count(" ") != 2:
            return False
        method, path, _ = head[0].split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        length = int(headers.get("content-length", "0"))
        if length > MAX_REQUEST_BYTES:
            return False
        raw = await reader.readexactly(length)
        if not self.serves(method, path):
            return await _send(writer, failure(404, f"no {method} {path} here"))
        try:
            body = self.parse(raw, headers)
        except ValueError:
            return await _send(writer, failure(400, "the request is not JSON"))
        stream, options = body.pop("stream", False), body.pop("stream_options", None)
        request = Recorded(body, headers, path, method, stream, options)
        return await self._serve_chat(request, reader, writer)

    async def _serve_chat(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        self.requests.append(request)
        number = len(self.requests) - 1
        await self._announce()
        try:
            reply = self._refusal_to_stream(request) or self.answer(request, number)
            if inspect.isawaitable(reply):
                reply = await reply
        except Exception as error:  # noqa: BLE001 - the test's own error; raised at the end
            self._mistakes.append(error)
            reply = failure(400, f"the script failed: {error!r}")
        if (reply.silence_s or reply.until) and await self._gone_while_waiting(reply, reader):
            self.disconnected += 1
            await self._announce()
            return False
        events = self._streamed(request, reply)
        if events is not None:
            return await _send_events(writer, reply, events)
        return await _send(writer, reply)

    def _refusal_to_stream(self, request: Recorded) -> Reply | None:
        """Return the error for a request for a stream, if streaming is refused."""
        if request.stream and self.streaming == "refused":
            return failure(400, "streaming is not supported for this model")
        if request.stream_options is not None and self.streaming == "options refused":
            return failure(422, "stream_options: Extra inputs are not permitted")
        return None

    def _streamed(self, request: Recorded, reply: Reply) -> list[bytes] | None:
        """Return an answer as events; None if it is not streamed, such as an error."""
        if reply.events is not None:
            return list(reply.events)
        good = reply.status == 200 and isinstance(reply.body, dict) and not reply.padding
        if not (request.stream and good) or reply.whole or self.streaming == "ignored":
            return None
        try:
            return list(self.events(request, reply.body))
        except (KeyError, TypeError, ValueError, AttributeError):
            return None  # a malformed body cannot be streamed

    def events(self, request: Recorded, body: Json) -> Iterator[bytes]:
        """Yield the events of a successful answer; overridden for other protocols."""
        usage = bool((request.stream_options or {}).get("include_usage"))
        yield from sent(chat_events(body, usage=usage and self.streaming != "without usage"))
        yield b"data: [DONE]\n\n"

    async def _gone_while_waiting(self, reply: Reply, reader: asyncio.StreamReader) -> bool:
        """Wait as the reply demands; return True as soon as the client has disconnected."""

        async def wait() -> None:
            await asyncio.sleep(reply.silence_s)
            if reply.until is not None:
                await reply.until()

        waiting = asyncio.ensure_future(wait())
        watching = asyncio.ensure_future(reader.read(1))  # a waiting client sends nothing
        try:
            await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
            return watching.done()
        finally:
            for task in (waiting, watching):
                task.cancel()
            await asyncio.gather(waiting, watching, return_exceptions=True)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    if reply.reset:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    payload = reply.payload()
    headers = {
        "content-type": reply.content_type,
        "content-length": str(len(payload) + reply.padding),
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status} Said", *(f"{k}: {v}" for k, v in headers.items())]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    sent = payload if reply.cut_after is None else payload[: reply.cut_after]
    writer.write(head + sent)
    await writer.drain()
    left = reply.padding if reply.cut_after is None else 0
    while left > 0:
        piece = PIECE[:left]
        writer.write(piece)
        left -= len(piece)
        await writer.drain()
    return reply.cut_after is None


async def _send_events(writer: asyncio.StreamWriter, reply: Reply, events: list[bytes]) -> bool:
    """Stream an answer, or part of it before closing the connection."""
    if reply.reset:
        return await _send(writer, reply)
    kind = "text/event-stream; charset=utf-8" if reply.events is None else reply.content_type
    lines = ["HTTP/1.1 200 Said", f"content-type: {kind}"]
    lines += ["transfer-encoding: chunked", *(f"{k}: {v}" for k, v in reply.headers.items())]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    left = sys.maxsize if reply.cut_after is None else reply.cut_after
    for event in events if reply.before_event else [b"".join(events)]:
        if reply.before_event is not None:
            await reply.before_event()
        part = event[:left]
        left -= len(part)
        writer.write(f"{len(event):x}\r\n".encode() + part)
        if len(part) < len(event):
            await writer.drain()
            return False
        writer.write(b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


# The solver: a model that knows the answers

PASSED = re.compile(
    r"\ball\b[^.\n]*\bpass|\b(\d+)\s*(?:/|of|out of)\s*\1\b[^.\n]*\bpass"
    r"|passed:?\s*(\d+)\s*(?:/|of)\s*\2\b",
    re.IGNORECASE,
)


class Solver:
    """An agent that writes one known program after another until the tests pass.

    It is stateless: the next step follows from the conversation.
    """

    def __init__(self, solutions: Mapping[str, Sequence[str]]) -> None:
        # The longest title first, as "Two Sum" is part of "Two Sum II".
        self._solutions = dict(sorted(solutions.items(), key=lambda item: -len(item[0])))

    def title_in(self, body: Json) -> str | None:
        """Return the known title in the conversation, if any."""
        text = "\n".join(_text(message.get("content")) for message in body["messages"])
        titles = (title for title in self._solutions if title in text or _escaped(title) in text)
        return next(titles, None)

    def programs(self, title: str) -> Sequence[str]:
        """Return the known programs for a problem, in order."""
        return self._solutions[title]

    def __call__(self, body: Json, number: int) -> Reply:
        title = self.title_in(body)
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}
        codes = self._solutions[title] if title is not None else ()
        if not tools:
            return self._reply(body, _prose(codes))
        written = list(_calls(body["messages"], "write_solution"))
        if title is None and not list(_calls(body["messages"], "read_problem")):
            return self._reply(
                body, "Let me read it.", [tool_call("read_problem", {}, _id(number))]
            )
        if len(written) < len(codes) and not _passed(body["messages"]):
            code = codes[len(written)]
            names = ["write_solution", "run_tests"] if written else list(AGENT_TOOLS)
            arguments = {"write_solution": {_code_argument(tools): code}}
            return self._reply(
                body,
                f"Attempt {len(written) + 1}.",
                [
                    tool_call(name, arguments.get(name, {}), _id(number, position))
                    for position, name in enumerate(name for name in names if name in tools)
                ],
            )
        return self._reply(body, "That is my final answer." if codes else _prose(codes))

    def _reply(self, body: Json, text: str, calls: Sequence[Json] = ()) -> Reply:
        tokens_in = len(json.dumps(body["messages"])) // 4
        tokens_out = len(json.dumps([text, *calls])) // 4
        usage = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
        return completion(text, calls, usage=usage)


AGENT_TOOLS = ("read_problem", "write_solution", "run_tests")


def _prose(codes: Sequence[str]) -> str:
    return f"```python\n{codes[0]}\n```" if codes else "I do not know this problem."


def _id(number: int, position: int = 0) -> str:
    return f"call_s{number}_{position}"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return content or ""


def _escaped(title: str) -> str:
    return json.dumps(title)[1:-1]


def _calls(messages: Sequence[Json], name: str) -> Sequence[Json]:
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    return [call for call in calls if call["function"]["name"] == name]


def _passed(messages: Sequence[Json]) -> bool:
    """Whether the latest test report states that every test passed."""
    runs = {call["id"] for call in _calls(messages, "run_tests")}
    reports = [_text(m.get("content")) for m in messages if m.get("tool_call_id") in runs]
    return bool(reports and PASSED.search(reports[-1]))


def _code_argument(tools: Mapping[str, Json]) -> str:
    properties = tools.get("write_solution", {}).get("parameters", {}).get("properties", {})
    return next((name for name in ("code", "source", "solution") if name in properties), "code")


# The program


def _with_faults(solver: Solver, *, every: int, latency_s: float, log: Path | None) -> Script:
    def script(body: Json, number: int) -> Reply:
        refused = bool(every) and (number + 1) % every == 0
        if log is not None:
            entry = {
                "n": number,
                "title": solver.title_in(body),
                "messages": len(body["messages"]),
                "status": 429 if refused else 200,
            }
            with log.open("a", encoding="utf-8") as out:
                out.write(json.dumps(entry) + "\n")
        if refused:
            return failure(429, "slow down", "rate_limit", headers={"retry-after-ms": "10"})
        reply = solver(body, number)
        return Reply(body=reply.body, silence_s=latency_s)

    return script


async def _run(arguments: argparse.Namespace) -> None:
    solutions = json.loads(arguments.solutions.read_text(encoding="utf-8"))
    script = _with_faults(
        Solver(solutions),
        every=arguments.fault_every,
        latency_s=arguments.latency,
        log=arguments.log,
    )
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with ChatServer(script, port=arguments.port) as server:
        print(server.base_url, flush=True)
        await stop.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="A model that knows the answers.")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--scenario", choices=["solver"], default="solver")
    parser.add_argument("--solutions", type=Path, required=True, help="JSON: title -> [code, …]")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--fault-every", type=int, default=0, help="every Nth request is a 429")
    parser.add_argument("--log", type=Path, help="a JSON line per request")
    asyncio.run(_run(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
