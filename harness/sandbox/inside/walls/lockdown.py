"""Irreversible restrictions a runner applies before it runs judged code."""

import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

from inside.walls import landlock, linux
from inside.walls.seccomp import Filter

OPEN_FILES = 64
PROCESSES = 512  # and threads of the runner's user
ROOM_TO_MAP = 1 << 30  # address space above the memory limit, for unused pages, e.g. stacks

# Python's audit events to refuse if the kernel cannot; see the audit events table.
DENIED_EVENTS = (
    *("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.kill"),
    *("os.killpg", "pty.spawn", "subprocess.Popen", "socket.", "signal.pthread_kill"),
)
AF_UNIX = 1


class Lockdown:
    """Restrictions prepared once and applied by many processes to themselves.

    Args:
        level: a value of `harness.sandbox.isolation.Level`.
        view: the readable files, as in `harness.sandbox.launch`.
        counted: whether the user's processes all belong to the sandbox, so that their number can
            be limited.

    Attributes:
        missing: layer -> why it is unavailable.
    """

    def __init__(self, level: str, view: dict[str, Any], *, counted: bool) -> None:
        self.level = level
        self.counted = counted
        self.missing: dict[str, str] = {}
        most_data = resource.getrlimit(resource.RLIMIT_DATA)[1]
        self.most_data = sys.maxsize if most_data == resource.RLIM_INFINITY else most_data
        self.filter: Filter | None = None
        self.ruleset: landlock.Ruleset | None = None
        if level == "none":
            return
        try:
            self.filter = Filter()
        except ValueError as error:
            self.missing["seccomp"] = str(error)
        if level != "seccomp":
            try:
                self.ruleset = landlock.Ruleset(_rules(view))
            except (OSError, ValueError) as error:
                self.missing["landlock"] = str(error)

    def limit(self, memory_bytes: int, file_bytes: int) -> None:
        """Set the resource limits; memory in use is checked from outside."""
        limits = [
            (resource.RLIMIT_AS, memory_bytes + ROOM_TO_MAP),
            (resource.RLIMIT_FSIZE, file_bytes),
            (resource.RLIMIT_NOFILE, OPEN_FILES),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ]
        if self.counted:
            limits.append((resource.RLIMIT_NPROC, PROCESSES))
        for kind, value in limits:
            try:
                resource.setrlimit(kind, (value, value))
            except (ValueError, OSError):
                linux.check_hard(kind, value)
                raise
        if self.most_data < memory_bytes + ROOM_TO_MAP:
            linux.check_hard(resource.RLIMIT_DATA, memory_bytes + ROOM_TO_MAP)

    def restrict_files(self) -> None:
        """Restrict file access to the view."""
        if self.ruleset is not None:
            self.ruleset.enforce()
            os.close(self.ruleset.descriptor)

    def restrict_calls(self) -> None:
        """Restrict system calls to those the filter allows."""
        if self.filter is not None:
            self.filter.install()
        else:
            sys.addaudithook(_deny)


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(DENIED_EVENTS):
        if event == "os.kill" and arguments[0] == os.getpid():
            return
        if event == "socket.__new__" and arguments[1] == AF_UNIX:  # half of a pair
            return
        raise PermissionError(1, "Operation not permitted", event)


def _rules(view: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for path in view["reads"]:
        yield from _around(path, view["hides"])
    for path in view["packages"]:
        yield path, landlock.READ
    for path in view["devices"]:
        yield path, landlock.READ_FILE | landlock.WRITE_FILE
    yield ".", landlock.USE


def _around(path: str, hidden: list[str]) -> Iterator[tuple[str, int]]:
    """Yield rules for a folder except its hidden parts: rules can only add rights."""
    inner = [each for each in hidden if each.startswith(f"{path}/")]
    if path in hidden:
        return
    if not inner:
        yield path, landlock.READ
        return
    yield path, landlock.READ_DIR
    for name in os.listdir(path):
        yield from _around(f"{path}/{name}", inner)
