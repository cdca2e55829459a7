"""System calls: those that the standard library lacks, and those a judged program may make.

Also a check of resource limits. A row of the tables is a call's name, its number on x86-64, and on
aarch64 (`-`: does not exist). The numbers are from the kernel's headers: `asm/unistd_64.h`, and
`asm-generic/unistd.h`, which aarch64 uses.

`enter.py` uses this module, and each start of a sandbox pays for what it imports.
"""

from __future__ import annotations

import ctypes
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGKILL, SIGCHLD = 9, 17  # on all `MACHINES`; `signal` takes 2 ms to import
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
_ALLOWED = """
# files
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69
pwritev 296 70, preadv2 327 286, pwritev2 328 287, close 3 57, close_range 436 436, lseek 8 62
creat 85 -, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -
pipe2 293 59, fstat 5 80, newfstatat 262 79, stat 4 -, lstat 6 -, statx 332 291, statfs 137 43
fstatfs 138 44, access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -
readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50
mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38
renameat2 316 276, ftruncate 77 46, fallocate 285 47, fsync 74 82, fdatasync 75 83
sync_file_range 277 84, fadvise64 221 223, readahead 187 213, sendfile 40 71
copy_file_range 326 285, umask 95 166
# waiting for files
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -
eventfd2 290 19, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87
# memory
mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, brk 12 214
msync 26 227, mincore 27 232
# threads
futex 202 98, futex_waitv 449 449, get_robust_list 274 100, set_robust_list 273 99
set_tid_address 218 96, rseq 334 293, membarrier 324 283, sched_yield 24 124
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120
sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_rr_get_interval 148 127
getcpu 309 168
# itself
gettid 186 178, getpid 39 172, getppid 110 173, getuid 102 174, geteuid 107 175, getgid 104 176
getegid 108 177, getgroups 115 158, getresuid 118 148, getresgid 120 150, getpgid 121 155
getpgrp 111 -, getsid 124 156, getpriority 140 141, uname 63 160, sysinfo 99 179, getrusage 98 165
times 100 153, getrlimit 97 163, setrlimit 160 164, arch_prctl 158 -, exit 60 93
exit_group 231 94, wait4 61 260, waitid 247 95, getrandom 318 278
# time and signals
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101
gettimeofday 96 169, time 201 -, setitimer 38 103, getitimer 36 102, alarm 37 -, pause 34 -
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136
rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, restart_syscall 219 128
"""
# Allowed for some arguments only.
_CHECKED = """
clone 56 220, clone3 435 435, kill 62 129, tgkill 234 131, prlimit64 302 261, prctl 157 167
ioctl 16 29, fcntl 72 25, socketpair 53 199, sendto 44 206, recvfrom 45 207
open 2 -, openat 257 56
"""
# A compiler may start its passes, which are programs; see `Lockdown.compiles`.
_COMPILING = """
fork 57 -, vfork 58 -, clone 56 220, execve 59 221
"""
# The one call that starts a compiled solution.
_STARTING = """
execveat 322 281
"""
# Needed by the sandbox itself before it locks itself in.
_OWN = """
seccomp 317 277, landlock_create_ruleset 444 444, landlock_add_rule 445 445
landlock_restrict_self 446 446, mount_setattr 442 442, pivot_root 155 41
"""
MACHINES = ("x86_64", "aarch64")


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
    number = own()["clone"]
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


def _numbers(text: str, on: str | None) -> dict[str, int]:
    on = on or machine()
    if on not in MACHINES:
        known = " and ".join(MACHINES)
        raise ValueError(f"no table of system calls for {on}, only for {known}")
    column = 1 + MACHINES.index(on)
    rows = (row.strip() for line in text.splitlines() for row in line.partition("#")[0].split(","))
    cells = [row.split() for row in rows if row]
    return {cell[0]: int(cell[column]) for cell in cells if cell[column] != "-"}


def allowed(on: str | None = None) -> dict[str, int]:
    """Return the calls allowed with any arguments; ValueError for an unknown machine."""
    return _numbers(_ALLOWED, on)


def checked(on: str | None = None) -> dict[str, int]:
    """Return the calls allowed with some arguments only."""
    return _numbers(_CHECKED, on)


def compiling(on: str | None = None) -> dict[str, int]:
    """Return the further calls of a compiler; `clone` makes no namespace."""
    return _numbers(_COMPILING, on)


def starting(on: str | None = None) -> dict[str, int]:
    """Return the call that starts a compiled solution."""
    return _numbers(_STARTING, on)


def own(on: str | None = None) -> dict[str, int]:
    """Return calls without a C library function, and calls with checked arguments."""
    return _numbers(_OWN, on) | checked(on)
