"""System calls that Python's standard library does not offer, and a check of resource limits.

`enter.py` uses this module, and each start of a sandbox pays for what it imports.
"""

from __future__ import annotations

import ctypes
import os
import resource

from inside.walls import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGKILL, SIGCHLD = 9, 17  # on all machines of `syscalls`; `signal` takes 2 ms to import
CLONE_PARENT = 0x00008000
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2

# PyDLL keeps the interpreter's lock: after a bare clone no other thread could give it back.
LIBC = ctypes.PyDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def machine() -> str:
    """Return the kernel's name of the architecture."""
    return os.uname().machine


def check(result: int, what: str) -> int:
    """Return a call's result; raises OSError, naming the call, if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: Any) -> int:
    """Make a system call by number; raises OSError if it fails.

    Numbers must fit in 31 bits: they are passed unconverted, since the first conversion costs a
    fresh process 0.1 ms.
    """
    result = LIBC.syscall(number, *arguments)
    return result if result >= 0 else check(result, f"system call {number}")


def clone_beside() -> int:
    """Fork a sibling, a child of this process's parent, see clone(2). Raises OSError.

    Python's fork hooks do not run; this process must have no other thread.

    Returns:
        The sibling's process id; 0 in the sibling.
    """
    number = syscalls.own(machine())["clone"]
    return syscall(number, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)


def prctl(option: int, value: int, extra: int = 0) -> int:
    """Set or read an attribute of this process: `prctl` of Linux. Raises OSError."""
    return check(LIBC.prctl(option, value, extra, 0, 0), f"prctl {option}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount a file system; raises OSError, naming the target, if it fails."""
    names = (text.encode() if text is not None else None for text in (source, target, kind))
    done = LIBC.mount(*names, ctypes.c_ulong(flags), data.encode() if data is not None else None)
    check(done, f"mount {target}")


def check_hard(kind: int, value: int) -> None:
    """Check that this process may have a given amount of a resource.

    Raises:
        ResourceError: its hard limit is so low that a correct program might hit it.
    """
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and hard < value:
        name = next(n for n in dir(resource) if n[:7] == "RLIMIT_" and getattr(resource, n) == kind)
        raise ResourceError(f"{name} is {hard:,} at most here, and {value:,} are needed")


class ResourceError(Exception):
    """The machine, or the environment the harness was started in, grants too little."""
