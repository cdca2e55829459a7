"""Choice of the strongest available sandbox, by trying to escape from each."""

import atexit
import contextlib
import ctypes
import os
import random
import socket
import sys
import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import (
    CANDIDATES,
    MISSING,
    UNSAFE,
    Findings,
    Isolation,
    IsolationError,
    Level,
)
from harness.sandbox.launch import ALLOWED_NAMES, FileView, LaunchError, can_change_user, launch

GREETING_S = 60.0
_IPC_CREAT, _IPC_RMID = 0o1000, 0

_held: dict[Isolation, Findings] = {}
"""Findings on sandboxes that held in this process; each worker probes its own when it starts."""
spare_servers: dict[Isolation, tuple[ForkServer, Findings]] = {}
"""Fork servers started to choose a sandbox; a worker takes one in place of starting its own."""
_early: "list[Future[ChosenSandbox]]" = []
"""The choice that `choose_early` began."""
_choosing = threading.Lock()
"""Held while sandboxes are probed: a second choice at a time finds what the first has kept."""


@atexit.register
def _end_spares() -> None:
    while spare_servers:
        spare_servers.popitem()[1][0].end()


def _leave_spares() -> None:
    """Close a forked process's copies of what belongs to its parent."""
    global _choosing  # noqa: PLW0603 - a thread of the parent may hold it
    _choosing = threading.Lock()
    for server, _ in spare_servers.values():
        server.leave()
    spare_servers.clear()
    _early.clear()


os.register_at_fork(after_in_child=_leave_spares)


def take(isolation: Isolation) -> tuple[ForkServer | None, Findings]:
    """Return the fork server that `choose` started, or start one; see `start`."""
    spare = spare_servers.pop(isolation, None)
    if spare is None:
        return start(isolation)
    if spare[0].process.poll() is None:
        return spare
    spare[0].end()
    return start(isolation)


def start(isolation: Isolation, view: FileView | None = None) -> tuple[ForkServer | None, Findings]:
    """Start a fork server and receive its probe's findings.

    Args:
        isolation: the sandbox's layers.
        view: the view of files; None for the interpreter's.

    Returns:
        The server, or None if it does not keep its level's promises; the findings.
    """
    with _canaries() as outside:
        try:
            server = launch(isolation, outside, view)
        except (LaunchError, OSError) as error:
            return None, Findings(isolation, {}, str(error))
        server.socket.settimeout(GREETING_S)
        try:
            greeting = server.receive()
        except (OSError, EOFError, ValueError) as error:
            server.process.kill()
            server.process.wait()
            greeting = {"failed": server.last_words() or f"it does not start: {error}"}
    # Prefer the reason why a layer is missing.
    layers: dict[str, str] = {}
    for key in ("missing", "layers"):
        layers |= cast("dict[str, str]", greeting.get(key) or {})
    failure, copies = str(greeting.get("failed", "")), bool(greeting.get("copies", True))
    findings = Findings(isolation, layers, failure, copies)
    if findings.holds:
        server.settle()
        return server, findings
    server.end()
    return None, findings


def probe_isolation(isolation: Isolation) -> Findings:
    """Return which layers hold in a sandbox."""
    server, findings = start(isolation)
    if server is not None:
        server.end()
    return findings


class ChosenSandbox(NamedTuple):
    """The chosen sandbox and the stronger ones tried before it.

    Attributes:
        findings: findings on the chosen sandbox.
        passed_over: findings on stronger ones that are unavailable here.
    """

    findings: Findings
    passed_over: tuple[Findings, ...] = ()

    @property
    def isolation(self) -> Isolation:
        """Isolation of the chosen sandbox."""
        return self.findings.isolation

    @property
    def notice(self) -> str:
        """Description of what is missing, for the user; empty if nothing is."""
        if self.isolation.level is Level.NAMESPACES:
            return ""
        return f"sandbox level {self.isolation.level}: {MISSING[self.isolation.level]} ({self.why})"

    @property
    def why(self) -> str:
        """Why no stronger sandbox is available."""
        return "; ".join(
            f"{findings.isolation}: {findings.broken}" for findings in self.passed_over
        )


@cache
def strongest() -> ChosenSandbox:
    """Return the first candidate that keeps its level's promises.

    Raises:
        IsolationError: there is none.
    """
    return choose()


def choose_early() -> None:
    """Begin to choose a sandbox in a thread, for a command that will need one soon."""
    thread = ThreadPoolExecutor(1)
    _early.append(thread.submit(_choose, Level.LANDLOCK))
    thread.shutdown(wait=False)


def choose(least: Level = Level.LANDLOCK, *, unsafe: bool = False) -> ChosenSandbox:
    """Return the strongest sandbox that holds; one that held before is not probed again.

    Args:
        least: the lowest acceptable level.
        unsafe: whether to run programs without a sandbox if none is available.

    Raises:
        IsolationError: no sandbox of that level is available.
    """
    if _early:
        with contextlib.suppress(Exception):  # it is chosen again below, and its error raised
            chosen = _early.pop().result()
            if chosen.isolation.level.rank >= least.rank:
                return chosen
    return _choose(least, unsafe=unsafe)


def _choose(least: Level, *, unsafe: bool = False) -> ChosenSandbox:
    if not sys.platform.startswith("linux"):
        raise IsolationError(
            f"judged programs are run on Linux only, and this is {sys.platform}: "
            "namespaces, Landlock and seccomp are missing; use WSL, a virtual machine, a container"
        )
    passed_over: list[Findings] = []
    for isolation in (*CANDIDATES, UNSAFE) if unsafe else CANDIDATES:
        if isolation.level.rank < least.rank and isolation != UNSAFE:
            continue
        with _choosing:
            findings = _held.get(isolation) or _kept(isolation)
            if findings.holds:
                _held[isolation] = findings
        if findings.holds:
            return ChosenSandbox(findings, tuple(passed_over))
        passed_over.append(findings)
    why = "; ".join(f"{findings.isolation}: {findings.broken}" for findings in passed_over)
    raise IsolationError(f"no sandbox of level {least} or above can be had here: {why}")


def _kept(isolation: Isolation) -> Findings:
    """Probe a sandbox; if it holds, keep its fork server for a worker."""
    server, findings = start(isolation)
    if server is not None:
        spare_servers[isolation] = (
            server,
            findings,
        )  # there is none: what held is not probed again
    return findings


@contextlib.contextmanager
def _canaries() -> Generator[dict[str, Any]]:
    """Provide things that exist outside and that sandboxed programs must not reach."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        library = ctypes.CDLL(None, use_errno=True)
        key = random.SystemRandom().randrange(1, 1 << 31)
        segment = library.shmget(key, 1, _IPC_CREAT | 0o666)
        if segment >= 0:
            stack.callback(library.shmctl, segment, _IPC_RMID, None)
        yield {
            "files": [str(Path(__file__)), "/etc/passwd"],
            "port": server.getsockname()[1],
            "process": os.getpid(),
            # A root that can become no other user has no id outside its namespace.
            "user": os.geteuid() or (0 if can_change_user() else -1),
            "key": key,
            "environment": list(ALLOWED_NAMES),
        }
