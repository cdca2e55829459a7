"""The server's paths: `/run_code`, `/grade`, `/health`, `/metrics`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.features.serve.compiled_run import NAMES
from harness.features.serve.grade_request import SolutionBatch, SolutionItem
from harness.features.serve.grading_service import Graders
from harness.features.serve.requests import (
    SHUTTING_DOWN,
    Holding,
    JsonResponse,
    ParsedSize,
    Places,
    Refusal,
    RequestGate,
    json_bytes,
    pass_over,
    read_body,
    read_json,
    read_model,
)
from harness.features.serve.run_code import ReadyRequest, failed_answer, run_answer
from harness.features.serve.run_request import RunRequest
from harness.features.serve.work import CONTENT_TYPE, LeftError, while_there
from harness.languages import PYTHON
from harness.sandbox.execution import SandboxError
from harness.version import __version__

T = TypeVar("T")
NDJSON = "application/x-ndjson"
SEND_S = 60.0
"""Seconds within which a client must take a piece of its answer."""
MARGIN_S = 8.0
"""Seconds of the wait for a worker in `/run_code`, beside a `compile_timeout` that is not needed.

verl's client waits for both timeouts and 10 s, and retries only after a 504.
"""
PIECE = 1 << 18
LARGE = 1 << 20
"""Bytes of a body above which it is parsed in a thread, not on the event loop."""
FAILING = 5
"""Sandbox failures in a row after which `/health` reports `failing`."""

UNREAD = frozenset({413, 503})
"""Statuses of refusals that may come before the body was read."""

LEFT = 499
"""Status counted if a client closed its connection, as in nginx; never sent."""


class ServerLimits(NamedTuple):
    """Limits of the server.

    Attributes:
        requests: most requests at a time, including those that wait for a worker.
        body_bytes: most bytes of one body.
        held_bytes: most bytes of all bodies and outputs.
        wait_s: seconds to wait for a free worker, unless the request says otherwise.
    """

    requests: int = 1_024
    body_bytes: int = 64 << 20
    held_bytes: int = 1 << 30
    wait_s: float = 300.0


Answer = Callable[[bytes, Holding], Coroutine[Any, Any, Response]]


class Service:
    """Handlers of the paths.

    Args:
        graders: judges of items; their workers also run programs.
        bounds: limits of the server.
        problems: number of problems that the server has.
    """

    def __init__(self, graders: Graders, bounds: ServerLimits, problems: int) -> None:
        self._graders = graders
        self.workers = graders.workers
        self.bounds = bounds
        self._problems = problems
        self.places = Places(bounds.requests, bounds.held_bytes)
        self._parsing = asyncio.Lock()

    def app(self, token: str | None) -> ASGIApp:
        """Return the whole server as an ASGI app."""
        counted = self.workers.metrics.answered
        routes = [
            Route("/run_code", BodyPath(self, self.run_code), methods=["POST"]),
            Route("/grade", BodyPath(self, self.grade), methods=["POST"]),
            Route("/health", self._health),
            Route("/metrics", self._metrics),
        ]
        return RequestGate(Starlette(routes=routes), token, counted)

    async def run_code(self, body: bytes, holding: Holding) -> Response:
        """Run a program. Raises Refusal."""
        request = await self._read(_run_request, body, holding)
        del body
        flags = self._graders.usual.flags
        make = partial(ReadyRequest.of, request, self._graders.most_memory, flags)
        prepared = await asyncio.to_thread(make) if request.language in NAMES else make()
        wait_s = self.bounds.wait_s
        if request.compile_timeout is not None:
            compiles = prepared.run.program.is_compiled
            wait_s = min(wait_s, MARGIN_S + (0 if compiles else request.compile_timeout))
        try:
            ran = await self.workers.do(prepared.run, wait_s)
        except SandboxError as error:
            self.workers.metrics.judged("/run_code", "SandboxError", 0.0)
            return JsonResponse(failed_answer(str(error)))
        execution = ran.execution
        holding.hold(len(execution.stdout) + len(execution.result or execution.partial))
        answer = run_answer(ran, prepared)
        self.workers.metrics.judged("/run_code", answer["status"], execution.cpu_s)
        return JsonResponse(answer)

    async def grade(self, body: bytes, holding: Holding) -> Response:
        """Judge one solution, or a batch of them. Raises Refusal."""
        request = await self._read(partial(_grade_request, at_once=self._at_once()), body, holding)
        del body
        if isinstance(request, SolutionItem):
            check = partial(self._graders.check, [request], where="")
            is_compiled = request.language not in {None, PYTHON}
            (asked,) = await asyncio.to_thread(check) if is_compiled else check()
            del request, check  # their tests would stay beside those of `asked`
            return JsonResponse(await self._graders.answer(asked, self.bounds.wait_s))
        checks = await asyncio.to_thread(self._graders.check, request.each())
        del request
        return StreamingResponse(self._lines(checks), media_type=NDJSON)

    async def _read(
        self, read: Callable[[bytes, ParsedSize], T], body: bytes, holding: Holding
    ) -> T:
        """Parse a body, a large one in a thread, one at a time. Raises Refusal."""
        size = ParsedSize()
        if len(body) <= LARGE:
            asked = read(body, size)
        else:
            async with self._parsing:
                asked = await asyncio.to_thread(read, body, size)
        holding.hold(size.bytes)
        return asked

    def _at_once(self) -> int:
        """Return the number of solutions of a batch that are judged at a time."""
        return self.workers.pool.size + 1

    async def _lines(self, asked: Sequence[Any]) -> AsyncIterator[bytes]:
        async for each in self._graders.stream(asked, self.bounds.wait_s):
            yield json_bytes(each) + b"\n"

    async def _health(self, request: Request) -> Response:
        del request
        failures = self.workers.metrics.failures
        ill = failures >= FAILING or self.workers.pool.size == 0
        status = 503 if ill else 200
        self.workers.metrics.answered("/health", status)
        return JsonResponse(
            {
                "status": "failing" if ill else "ok",
                "version": __version__,
                "slots": self.workers.pool.size,
                "problems": self._problems,
                "waiting": self.workers.waiting,
                "running": self.workers.running,
                "sandbox_failures_in_a_row": failures,
            },
            status,
        )

    async def _metrics(self, request: Request) -> Response:
        del request
        self.workers.metrics.answered("/metrics", 200)
        gauges = {
            "slots": self.workers.pool.size,
            "work_waiting": self.workers.waiting,
            "work_running": self.workers.running,
            "requests_held": self.places.taken,
            "bytes_held": self.places.bytes,
            "problems": self._problems,
        }
        return Response(self.workers.metrics.text(gauges), headers={"content-type": CONTENT_TYPE})


class BodyPath(NamedTuple):
    """A path whose requests have bodies; a request holds a place until its answer."""

    service: Service
    answer: Answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        service, counted = self.service, self.service.workers.metrics.answered
        places, retry_s = service.places, service.workers.retry_s
        is_read = is_begun = False

        async def sent(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                counted(scope["path"], message["status"])
            for piece in _pieces(message):
                async with asyncio.timeout(SEND_S):
                    await send(piece)

        try:
            with Holding(places) as holding:
                places.check(retry_s)
                most = service.bounds.body_bytes
                body = await read_body(Request(scope, receive), holding, most)
                is_read = True
                with places.take(retry_s):
                    answer = self.answer(body, holding)
                    del body
                    response = await while_there(answer, _left(receive))
                    await response(scope, receive, sent)
        except Refusal as refusal:
            refusal.__traceback__ = refusal.__context__ = None  # their frames hold what was parsed
            if not is_read and refusal.status in UNREAD:
                await pass_over(receive)
            await refusal.response()(scope, receive, sent)
        except asyncio.CancelledError:  # the grace of a stopping server has ended
            if not is_begun:
                await Refusal(503, SHUTTING_DOWN).response()(scope, receive, sent)
        except (ClientDisconnect, LeftError, TimeoutError):
            counted(scope["path"], LEFT)


def _pieces(message: Message) -> Iterator[Message]:
    """Split a message into pieces, so that each must be taken within `SEND_S`."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        yield message
        return
    for start in range(0, len(body), PIECE):
        yield {**message, "body": body[start : start + PIECE], "more_body": True}
    yield {**message, "body": b""}


async def _left(receive: Receive) -> None:
    """Return when the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _run_request(body: bytes, size: ParsedSize) -> RunRequest:
    return read_model(RunRequest, read_json(body, size), size)


def _grade_request(body: bytes, size: ParsedSize, *, at_once: int) -> SolutionItem | SolutionBatch:
    """Return one item, or a batch if the object has `items`.

    Args:
        body: the body.
        size: memory that the request takes, to which this adds.
        at_once: number of a batch's solutions that are judged at a time.

    Raises:
        Refusal: 422, the body is no request; 413, it needs too much memory.
    """
    data = read_json(body, size)
    if isinstance(data, dict) and "items" in data:
        batch = read_model(SolutionBatch, cast("object", data), size)
        size.add_results(sum(sorted(item.tests_sent for item in batch.items)[-at_once:]))
        return batch
    item = read_model(SolutionItem, cast("object", data), size)
    size.add_results(item.tests_sent)
    return item
