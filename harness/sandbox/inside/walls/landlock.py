"""Landlock: restricts file access without needing privileges; see landlock(7)."""

import ctypes
import os
import struct
from collections.abc import Iterable

from inside.walls import linux, syscalls

CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE

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
        self._call = syscalls.own(linux.machine())
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
