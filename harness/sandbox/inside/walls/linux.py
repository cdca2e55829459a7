"""The kernel's calls that Python has no name for."""

import ctypes
import os
import signal
from typing import Any

from inside.walls import syscalls

CLONE_PARENT = 0x00008000
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2

# PyDLL keeps the interpreter's lock: after a bare clone there is no other thread to give it back.
LIBC = ctypes.PyDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def machine() -> str:
    """The architecture, as the kernel names it."""
    return os.uname().machine


def check(result: int, what: str) -> int:
    """The result of a call; OSError, naming it, where it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: Any) -> int:
    """A system call by number; OSError where it fails.

    Numbers must fit in 31 bits: they go as they are, since the first use of a converted one costs
    a fresh process 0.1 ms.
    """
    result = LIBC.syscall(number, *arguments)
    return result if result >= 0 else check(result, f"system call {number}")


def clone_beside() -> int:
    """Fork a sibling: a child of this process's parent, as clone(2) has it. OSError if it fails.

    None of Python's hooks runs; this process must have no other thread.

    Returns:
        The sibling's number; 0 in the sibling.
    """
    number = syscalls.own(machine())["clone"]
    return syscall(number, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)


def prctl(option: int, value: int, extra: int = 0) -> int:
    """Set or ask something of this process; OSError where that fails."""
    return check(LIBC.prctl(option, value, extra, 0, 0), f"prctl {option}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something; OSError, naming the target, where that fails."""
    names = (text.encode() if text is not None else None for text in (source, target, kind))
    done = LIBC.mount(*names, ctypes.c_ulong(flags), data.encode() if data is not None else None)
    check(done, f"mount {target}")
