"""Entry into the sandbox: drops privileges, then becomes the fork server.

Started by `harness.sandbox.launch` as `python … enter.py FD`, where FD is the socket to the
worker. The configuration is the first message on it, since judged code can read a command line.
Errors are reported on the socket. The fork server replaces this program, so nothing of its memory
remains.

Each start of a sandbox pays for what is imported here: the configuration is marshalled, since
`json` takes 5 ms, as does `typing`.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import struct
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from inside.connection import Connection
from inside.walls import linux, namespaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STACK_BYTES = 512 << 20
RIGHTS_TO_READ = (2, 1)  # CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE
_CAPABILITIES_VERSION_3 = 0x20080522


def claim_stack() -> None:
    """Set the stack limit, which takes effect when a program starts."""
    linux.check_hard(resource.RLIMIT_STACK, STACK_BYTES)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, hard))


def change_user(user: int, group: int, *, keep_reading: bool) -> None:
    """Become a user that owns nothing.

    Args:
        user: the user id.
        group: the group id.
        keep_reading: whether to keep the right to read files only root may read, which Landlock
            restricts.
    """
    if keep_reading:
        linux.prctl(linux.PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)
    if keep_reading:
        header = struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0)
        held = ctypes.create_string_buffer(24)
        linux.check(linux.LIBC.capget(header, held), "capget")
        permitted = struct.unpack("=6I", held.raw)[1]
        # Containers may have only the second; Landlock refuses the additional rights it gives.
        right = next((r for r in RIGHTS_TO_READ if permitted >> r & 1), RIGHTS_TO_READ[0])
        bit = 1 << right
        linux.check(linux.LIBC.capset(header, struct.pack("=6I", bit, bit, bit, 0, 0, 0)), "capset")
        linux.prctl(linux.PR_CAP_AMBIENT, linux.PR_CAP_AMBIENT_RAISE, right)


def drop_capabilities() -> None:
    """Give up all capabilities, also those that root would get back when a program starts.

    Root of a user namespace with no other user to become has them all there: with
    CAP_SYS_PTRACE a judged program could read the memory of its parent.
    """
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)  # then starting a program adds none, capabilities(7)
    header = struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0)
    linux.check(linux.LIBC.capset(header, bytes(24)), "capset")


def enter(config: dict[str, Any]) -> list[str]:
    """Enter the configured sandbox; return the command to run in it."""
    claim_stack()
    if config["means"] == "direct":
        user, group = config["user"] or (os.getuid(), os.getgid())
        namespaces.enter(config["view"], (user, group))
        return config["command"]
    if config["user"]:
        change_user(*config["user"], keep_reading=config["keep_reading"])
    elif config["level"] != "none" and not config["wrapper"]:
        drop_capabilities()
    return config["wrapper"] + config["command"]


def main() -> None:
    """Enter the sandbox and execute the command."""
    connection = Connection(int(sys.argv[1]))
    try:
        data, _ = connection.receive_bytes() or (b"", [])
        command = enter(marshal.loads(data))  # noqa: S302 - from the worker
        os.execv(command[0], command)
    except Exception as error:
        try:
            connection.say({"failed": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(1)


if __name__ == "__main__":
    main()
