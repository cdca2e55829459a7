"""The strongest sandbox that can be had here, found by starting it and trying to get out."""

import contextlib
import ctypes
import os
import random
import socket
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any, cast

from harness.sandbox.isolation import CANDIDATES, UNSAFE, Findings, Isolation, IsolationError, Level
from harness.sandbox.launch import ALLOWED_NAMES, LaunchError, launch
from harness.sandbox.server import ForkServer

GREETING_S = 60.0
_IPC_CREAT, _IPC_RMID = 0o1000, 0


def start(isolation: Isolation) -> tuple[ForkServer | None, Findings]:
    """Start a fork server and hear what its probe found.

    Returns:
        The server, unless it does not keep what its level promises; what was found.

    Raises:
        OSError: a process or a file cannot be made.
    """
    with _canaries() as outside:
        try:
            server = launch(isolation, outside)
        except LaunchError as error:
            return None, Findings(isolation, {}, str(error))
        server.socket.settimeout(GREETING_S)
        try:
            greeting = server.receive()
        except (OSError, EOFError, ValueError) as error:
            server.process.kill()
            server.process.wait()
            greeting = {"failed": server.last_words() or f"it does not start: {error}"}
    layers = cast("dict[str, str]", greeting.get("layers"))
    found = Findings(isolation, layers or {}, str(greeting.get("failed", "")))
    if found.holds:
        return server, found
    server.end()
    return None, found


def try_out(isolation: Isolation) -> Findings:
    """What holds in a sandbox, and what does not."""
    try:
        server, found = start(isolation)
    except OSError as error:
        return Findings(isolation, {}, str(error))
    if server is not None:
        server.end()
    return found


@cache
def strongest() -> Findings:
    """The first candidate that keeps what it promises.

    Raises:
        IsolationError: none does.
    """
    return choose()


def choose(least: Level = Level.SECCOMP, *, unsafe: bool = False) -> Findings:
    """The strongest sandbox that holds.

    Args:
        least: the level beneath which there shall be none.
        unsafe: run programs without a sandbox where none can be had.

    Raises:
        IsolationError: there is none so strong.
    """
    why: list[str] = []
    for isolation in CANDIDATES:
        if isolation.level.rank < least.rank:
            break
        found = try_out(isolation)
        if found.holds:
            return found
        why.append(f"{isolation}: {found.broken}")
    if unsafe:
        found = try_out(UNSAFE)
        if found.holds:
            return found
        why.append(f"{UNSAFE}: {found.broken}")
    raise IsolationError("; ".join(why))


@contextlib.contextmanager
def _canaries() -> Generator[dict[str, Any]]:
    """Things that are there and that no sandbox must let its programs reach."""
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
            "user": os.geteuid(),
            "key": key,
            "environment": list(ALLOWED_NAMES),
        }
