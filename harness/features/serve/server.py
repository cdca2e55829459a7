"""Start and stop of `harness serve`: sandboxes, problems and the web server."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp

from harness.errors import UsageError
from harness.features.serve.app import ServerLimits, Service
from harness.features.serve.grading_service import Graders
from harness.features.serve.problem_cache import ProblemCache
from harness.features.serve.requests import LOOPBACK
from harness.features.serve.run_code import SingleRun
from harness.features.serve.work import Metrics, Workers
from harness.http_server import PatientConnection, Server, address_of, listen, quiet_config
from harness.kinds.cpp.language import LANGUAGE as CPP
from harness.problem import Problem
from harness.run.plan.judging_options import judging_of
from harness.run.plan.languages import check_compiler
from harness.run.plan.problem_loader import checked, read
from harness.run.settings.spec import RunSpec
from harness.sandbox.executor import Executor
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import choose
from harness.text import printable_line

HEADERS_S = 10.0
MOST_CONNECTIONS = 4_096
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)
GRACE_S = 30
"""Seconds that requests have to finish when the server shuts down."""

KEEP_ALIVE_S = 75
LEAST_TOKEN = 16
_TRIAL = SingleRun(Program("print(input()[::-1])"), b"ready", Limits())


class BoundedConnection(PatientConnection):
    """A connection that is closed if a request's headers take too long."""

    headers_s = HEADERS_S
    most = MOST_CONNECTIONS

    def connection_made(self, transport: Any) -> None:
        """Refuse the connection if there are too many; else wait for its headers."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL)
            transport.close()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Process the data; the timer runs until the headers are complete."""
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Wait only while the client has not sent complete headers."""
        if cast("Any", self.conn).their_state is h11.IDLE:
            self.wait(self.headers_s)
        else:
            self.stop_waiting()


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of the server.

    Attributes:
        spec: settings of judging and of the executor.
        problems: benchmarks, each as `NAME[:WHERE]`.
        host, port: address to listen on; port 0 means any free port.
        token: token that clients must send; None for no token.
    """

    spec: RunSpec
    problems: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    bounds: ServerLimits = field(default_factory=ServerLimits)


def check_access(host: str, token: str | None, variable: str) -> None:
    """Refuse to start a server that other machines could use without a token.

    Args:
        host: address to listen on.
        token: token that clients must send.
        variable: environment variable of the token.

    Raises:
        UsageError: the token is missing or too short.
    """
    if token is None and host not in LOOPBACK:
        raise UsageError(
            f"--host {host}: other machines could run programs here; put a token into the "
            f"environment variable {variable}, or leave --host out"
        )
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii()):
        raise UsageError(f"{variable}: the token needs at least {LEAST_TOKEN} ASCII characters")


def load_all(names: Sequence[str], spec: RunSpec) -> list[Problem]:
    """Return the problems of several benchmarks.

    Raises:
        HarnessError: a benchmark cannot be read, or two problems have the same id.
    """
    problems = [problem for name in names for problem in read(name, spec).problems]
    return list(checked(problems))  # pyright: ignore[reportArgumentType, reportReturnType]


def serve(settings: ServerSettings, say: Callable[[str], None]) -> None:
    """Serve until an interrupt or SIGTERM; requests in progress are answered.

    Args:
        settings: settings of the server.
        say: called with lines on the address and on missing isolation.

    Raises:
        HarnessError: no sandbox or port is available, or the problems cannot be read.
    """
    if settings.spec.cpp_flags:
        check_compiler(CPP, settings.spec.cpp_flags)
    problems = load_all(settings.problems, settings.spec)
    choice = choose(settings.spec.require_isolation, unsafe=settings.spec.unsafe_no_sandbox)
    if choice.notice:
        say(printable_line(choice.notice))
    with _listen(settings.host, settings.port) as bound:
        opening = settings.spec.where.open(choice.isolation, lambda line: say(printable_line(line)))

        async def live() -> None:
            async with opening as pool:
                await _serve_on(pool, problems, settings, bound, say)

        asyncio.run(live())


async def _serve_on(
    pool: Executor,
    problems: Sequence[Problem],
    settings: ServerSettings,
    bound: socket.socket,
    say: Callable[[str], None],
) -> None:
    """Serve with an open executor."""
    service = service_of(pool, problems, settings)
    await asyncio.gather(*(pool.call(_TRIAL) for _ in range(pool.size)))  # all of them work
    address = address_of(bound)
    server = GracefulServer(
        config_of(service.app(settings.token)), lambda: say(f"The judge listens at {address}")
    )
    await server.serve(sockets=[bound])


def service_of(pool: Executor, problems: Sequence[Problem], settings: ServerSettings) -> Service:
    """Return the handlers of the paths, for an open executor."""
    options = judging_of(settings.spec)
    most_memory = options.memory_bytes or Limits().memory_bytes
    workers = Workers(pool, Metrics())
    graders = Graders(workers, ProblemCache(problems), options, most_memory)
    return Service(graders, settings.bounds, len(problems))


def config_of(app: ASGIApp) -> uvicorn.Config:
    """Return uvicorn's configuration for an app."""
    return quiet_config(
        app,
        http=BoundedConnection,
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )


class GracefulServer(Server):
    """Server that stops after requests in progress, or at once on a second signal."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End after the requests in progress; after a second interrupt, close their connections."""
        super().handle_exit(sig, frame)
        if self.force_exit:  # from Python 3.12 on, closing a server waits for its connections
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals until the server ends; they are not raised again afterwards."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises UsageError."""
    try:
        return listen(host, port)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"--host {host} --port {port}: {why}; choose another") from error
