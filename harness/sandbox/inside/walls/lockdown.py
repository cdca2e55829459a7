"""Irreversible restrictions a runner applies before it runs judged code.

Landlock restricts file access without needing privileges; see landlock(7).
"""

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from inside.walls import linux
from inside.walls.seccomp import COMPILED, COMPILER, JUDGED, Filter

OPEN_FILES = 64
PROCESSES = 512  # and threads of the runner's user
ROOM_TO_MAP = 1 << 30  # address space above the memory limit, for unused pages, e.g. stacks

# Python's audit events to refuse if the kernel cannot; see the audit events table.
DENIED_EVENTS = (
    *("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.kill"),
    *("os.killpg", "pty.spawn", "subprocess.Popen", "socket.", "signal.pthread_kill"),
)
AF_UNIX = 1


CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1

EXECUTE = 1 << 0
WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE

READ = READ_FILE | READ_DIR
USE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE

# Rights by the version that introduced them; handled rights are denied unless a rule allows them.
_OF_FILE_SYSTEM = {1: (1 << 13) - 1, 2: REFER, 3: TRUNCATE, 5: 1 << 15}
_TCP = {4: 3}  # bind, connect
_SCOPES = {6: 3}  # abstract unix sockets, signals


class Ruleset:
    """Rules that a process applies to itself and its children.

    Args:
        rules: path -> rights for it and everything below; missing paths are skipped.

    Raises:
        OSError: the kernel has no Landlock, or forbids it.
        ValueError: the machine's system calls are unknown.
    """

    def __init__(self, rules: Iterable[tuple[str, int]]) -> None:
        self._call = linux.own()
        create = self._call["landlock_create_ruleset"]
        self.version = linux.syscall(create, None, 0, CREATE_RULESET_VERSION)
        handled = self._known(_OF_FILE_SYSTEM)
        attributes = struct.pack("=QQQ", handled, self._known(_TCP), self._known(_SCOPES))
        size = 8 * (1 + (self.version >= 4) + (self.version >= 6))  # noqa: PLR2004 - versions
        self.descriptor = linux.syscall(create, attributes, size, 0)
        for path, rights in rules:
            self._add(path, rights & handled)

    def _known(self, by_version: dict[int, int]) -> int:
        return sum(bits for version, bits in by_version.items() if version <= self.version)

    def _add(self, path: str, rights: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not os.path.isdir(path):
                rights &= OF_FILES
            rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
            add = self._call["landlock_add_rule"]
            linux.syscall(add, self.descriptor, RULE_PATH_BENEATH, rule, 0)
        finally:
            os.close(place)

    def enforce(self) -> None:
        """Apply the rules to this process permanently; needs the no-new-privileges flag."""
        linux.syscall(self._call["landlock_restrict_self"], self.descriptor, 0)


class Lockdown:
    """Restrictions prepared once and applied by many processes to themselves.

    Args:
        level: a value of `harness.sandbox.isolation.Level`.
        view: the readable files, as in `harness.sandbox.launch`.
        counted: whether the user's processes all belong to the sandbox, so that their number can
            be limited.
        compiles: whether a compiler is locked in, which runs the programs of the view, and not a
            judged program.

    Attributes:
        missing: layer -> why it is unavailable.
    """

    def __init__(
        self, level: str, view: dict[str, Any], *, counted: bool, compiles: bool = False
    ) -> None:
        self.level = level
        self.counted = counted
        self.compiles = compiles
        self.missing: dict[str, str] = {}
        most_data = resource.getrlimit(resource.RLIMIT_DATA)[1]
        self.most_data = sys.maxsize if most_data == resource.RLIM_INFINITY else most_data
        self.filter: Filter | None = None
        self.ruleset: Ruleset | None = None
        if level == "none":
            return
        try:
            self.filter = Filter(purpose=COMPILER if compiles else JUDGED)
        except ValueError as error:
            self.missing["seccomp"] = str(error)
        if level != "seccomp":
            try:
                self.ruleset = Ruleset(_rules(view, EXECUTE if compiles else 0))
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

    def filter_of_compiled(self) -> bytes:
        """Return the filter that a compiled program's launcher applies; empty for none.

        It is the number of instructions, of places of the process's own id, and these places, as
        unsigned integers; then the instructions.
        """
        if self.filter is None:
            return struct.pack("=II", 0, 0)
        compiled = Filter(purpose=COMPILED)
        head = struct.pack("=II", len(compiled.code), len(compiled.own))
        return head + struct.pack(f"={len(compiled.own)}I", *compiled.own) + compiled.packed


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(DENIED_EVENTS):
        if event == "os.kill" and arguments[0] == os.getpid():
            return
        if event == "socket.__new__" and arguments[1] == AF_UNIX:  # half of a pair
            return
        raise PermissionError(1, "Operation not permitted", event)


def _rules(view: dict[str, Any], more: int) -> Iterator[tuple[str, int]]:
    """Yield the rules of a view; `more` rights hold for what it reads."""
    for path in view["reads"]:
        for place, rights in _around(path, view["hides"]):
            yield place, rights | more
    for path in view["packages"]:
        yield path, READ
    for path in view["devices"]:
        yield path, READ_FILE | WRITE_FILE
    yield ".", USE


def _around(path: str, hidden: list[str]) -> Iterator[tuple[str, int]]:
    """Yield rules for a folder except its hidden parts: rules can only add rights."""
    inner = [each for each in hidden if each.startswith(f"{path}/")]
    if path in hidden:
        return
    if not inner:
        yield path, READ
        return
    yield path, READ_DIR
    for name in os.listdir(path):
        yield from _around(f"{path}/{name}", inner)
