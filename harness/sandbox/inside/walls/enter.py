"""The way into the sandbox: gives up what a fork server must not have, then becomes one.

Started by `harness.sandbox.launch` as `python … enter.py FD`: FD is the socket to the worker, whose
first message is the configuration; judged code can read a command line. It says on the socket what
went wrong, if anything does. Nothing of its memory is there afterwards: the fork server is a
program of its own.
"""

import contextlib
import ctypes
import os
import resource
import struct
import sys
from typing import Any

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from inside.connection import Connection
from inside.walls import linux, namespaces
from inside.walls.lockdown import check_hard

STACK_BYTES = 512 << 20
RIGHTS_TO_READ = (2, 1)  # CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE
_CAPABILITIES_VERSION_3 = 0x20080522


def claim_stack() -> None:
    """Set the stack limit: the room for it is laid out when a program starts."""
    check_hard(resource.RLIMIT_STACK, STACK_BYTES)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, hard))


def change_user(user: int, group: int, *, keep_reading: bool) -> None:
    """Become a user who owns nothing.

    Args:
        user: its number.
        group: likewise.
        keep_reading: keep the right to read what only root may; Landlock says what of it.
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
        # Containers may have the second only; what more it permits, Landlock refuses.
        right = next((r for r in RIGHTS_TO_READ if permitted >> r & 1), RIGHTS_TO_READ[0])
        bit = 1 << right
        linux.check(linux.LIBC.capset(header, struct.pack("=6I", bit, bit, bit, 0, 0, 0)), "capset")
        linux.prctl(linux.PR_CAP_AMBIENT, linux.PR_CAP_AMBIENT_RAISE, right)


def enter(config: dict[str, Any]) -> list[str]:
    """Go where the configuration says; returns the command that is to follow."""
    claim_stack()
    if config["means"] == "direct":
        user, group = config["user"] or (os.getuid(), os.getgid())
        namespaces.enter(config["view"], (user, group))
        return config["command"]
    if config["user"]:
        change_user(*config["user"], keep_reading=config["keep_reading"])
    return config["wrapper"] + config["command"]


def main() -> None:
    """Enter, and become what the command says."""
    connection = Connection(int(sys.argv[1]))
    try:
        config, _ = connection.receive() or ({}, [])
        command = enter(config)
        os.execv(command[0], command)
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.say({"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)


if __name__ == "__main__":
    main()
