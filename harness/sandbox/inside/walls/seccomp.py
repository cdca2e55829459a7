"""The system call filters of judged programs, and of compilers.

A classic BPF program, see seccomp(2). It is an allow-list, so that calls of newer kernels stay
closed until they have been reviewed. Refused calls fail with EPERM. Calls the list cannot know
fail with ENOSYS, at which C libraries fall back to older calls. The filter applies to every thread
of the process and cannot be removed.

There are three. `JUDGED` is for programs that run in a process of the fork server. `COMPILED` is
for compiled ones: the call that starts them is passed on to a tracer, which lets it through once,
and leaves; a call without a tracer fails with ENOSYS. `COMPILER` also allows processes and
programs.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable, Sequence

from inside.walls import linux

SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4  # no mitigation slow-down: nothing else shares this process
AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FIRST_X32 = 0x40000000
LAST_KNOWN = 470  # higher numbers are calls newer than this list

# A thread shares everything with its process; a separate descriptor table would escape limits.
OF_A_THREAD = 0x00010F00  # CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD
TRUNCATING, TO_READ = 0o1003, 0o1000  # O_TRUNC | O_ACCMODE, and O_TRUNC | O_RDONLY
PRCTL_ALLOWED = (3, 15, 16, 0x53564D41)  # get dumpable, set and get a thread's name, name a mapping
IOCTL_ALLOWED = (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)  # is a terminal, bytes left, flags
FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030, 1032)  # copies, flags, pipe size; no locks or leases

_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
JUDGED, COMPILED, COMPILER = "judged", "compiled", "compiler"
OF_NAMESPACES = 0x7E020080  # CLONE_NEW* flags

_LOAD, _JUMP, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL, _ERROR, _TRACE = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FF00000

# A socket pair connects only to itself; event loops use one to wake themselves.
UNIX = (1,)
STREAMS = tuple(1 | flags for flags in (0, 0o4000, 0o2000000, 0o2004000))

MOST_JUMP = 255  # longest conditional jump
_PROCESS = -1  # placeholder for the process's own id

Instruction = tuple[int, int, int, int]
Code = list[Instruction]


class Filter:
    """The filter of a machine, built once; each process fills in its own id.

    Args:
        machine: the kernel's name of the architecture; default: this one's.
        purpose: `JUDGED`, `COMPILED` or `COMPILER`.

    Raises:
        ValueError: the machine's system calls are unknown.
    """

    def __init__(self, machine: str | None = None, purpose: str = JUDGED) -> None:
        self.machine = machine or linux.machine()
        self.code = _program(self.machine, purpose)
        self.packed = bytearray(
            b"".join(
                struct.pack("=HBBI", op, jt, jf, k & 0xFFFFFFFF) for op, jt, jf, k in self.code
            )
        )
        self.own = [8 * n + 4 for n, (*_, k) in enumerate(self.code) if k == _PROCESS]
        self.number = linux.own(self.machine)["seccomp"]
        # Built here, so that a forked process only fills in its id: it finds the buffer at the
        # same address.
        body = (ctypes.c_char * len(self.packed)).from_buffer(self.packed)
        self.program = struct.pack("HxxxxxxP", len(self.code), ctypes.addressof(body))

    def install(self) -> None:
        """Apply the filter to this process, which can then signal only itself.

        Raises:
            OSError: the kernel has no filters, or they are forbidden.
        """
        pid = os.getpid()
        for offset in self.own:
            struct.pack_into("=I", self.packed, offset, pid)
        flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW
        linux.syscall(self.number, SECCOMP_SET_MODE_FILTER, flags, self.program)


def _return(action: int) -> Code:
    return [(_RETURN, 0, 0, action)]


_YES = _return(_ALLOW)
_NO = _return(_ERROR | errno.EPERM)
_UNKNOWN = _return(_ERROR | errno.ENOSYS)
_ASK = _return(_TRACE)


def _only(position: int, values: Sequence[int], then: Code = _YES) -> Code:
    """Continue if an argument's lower half is one of the values; else refuse."""
    code: Code = [(_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * position)]
    for number, value in enumerate(values):
        code.append((_EQUAL, len(values) - number, 0, value))
    return [*code, *_NO, *then]


def _nothing(position: int) -> Code:
    """Allow the call if an argument, both halves, is zero."""
    upper: Code = [(_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * position + 4), (_EQUAL, 1, 0, 0)]
    return _only(position, [0], [*upper, *_NO, *_YES])


def _threads() -> Code:
    """Allow only clones that are threads."""
    mask: Instruction = (_AND, 0, 0, OF_A_THREAD)
    return [(_LOAD, 0, 0, _FIRST_ARGUMENT), mask, (_EQUAL, 1, 0, OF_A_THREAD), *_NO, *_YES]


def _processes() -> Code:
    """Allow only clones without a new namespace."""
    mask: Instruction = (_AND, 0, 0, OF_NAMESPACES)
    return [(_LOAD, 0, 0, _FIRST_ARGUMENT), mask, (_EQUAL, 1, 0, 0), *_NO, *_YES]


def _not_emptying(position: int) -> Code:
    """Refuse read-only opens that truncate the file: older Landlocks allow them."""
    mask: Instruction = (_AND, 0, 0, TRUNCATING)
    load: Instruction = (_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * position)
    return [load, mask, (_EQUAL, 0, 1, TO_READ), *_NO, *_YES]


_CHECKS: dict[str, Callable[[], Code]] = {
    "clone": _threads,
    "clone3": lambda: _UNKNOWN,  # its flags are in memory, which a filter cannot read
    "open": lambda: _not_emptying(1),
    "openat": lambda: _not_emptying(2),
    "kill": lambda: _only(0, [_PROCESS]),
    "tgkill": lambda: _only(0, [_PROCESS]),
    "prlimit64": lambda: _only(0, [0, _PROCESS]),
    "prctl": lambda: _only(0, PRCTL_ALLOWED),
    "ioctl": lambda: _only(1, IOCTL_ALLOWED),
    "fcntl": lambda: _only(1, FCNTL_ALLOWED),
    "socketpair": lambda: _only(0, UNIX, _only(1, STREAMS)),
    "sendto": lambda: _nothing(4),
    "recvfrom": lambda: _YES,
}


def _program(machine: str, purpose: str) -> Code:
    answers = dict.fromkeys(linux.allowed(machine).values(), _YES)
    answers |= {number: _CHECKS[name]() for name, number in linux.checked(machine).items()}
    if purpose == COMPILED:
        answers |= dict.fromkeys(linux.starting(machine).values(), _ASK)
    if purpose == COMPILER:
        numbers = linux.compiling(machine)
        answers |= dict.fromkeys(numbers.values(), _YES) | {numbers["clone"]: _processes()}
    ranges: list[tuple[int, Code]] = []  # first number of each range, and its answer
    for number in range(LAST_KNOWN + 1):
        answer = answers.get(number, _NO)
        if not ranges or ranges[-1][1] != answer:
            ranges.append((number, answer))
    ranges.append((LAST_KNOWN + 1, _UNKNOWN))
    code: Code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, AUDIT_ARCHITECTURE[machine]),
        *_return(_KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, FIRST_X32), *_return(_KILL)]
    return code + _search(ranges)


def _search(ranges: Sequence[tuple[int, Code]]) -> Code:
    """Return a binary search for the number's range, and its answer."""
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle]), _search(ranges[middle:])
    if len(low) <= MOST_JUMP:
        return [(_AT_LEAST, len(low), 0, ranges[middle][0]), *low, *high]
    return [(_AT_LEAST, 0, 1, ranges[middle][0]), (_JUMP, 0, 0, len(low)), *low, *high]
