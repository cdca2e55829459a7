"""A container of our own making: what is outside it is not there, see namespaces(7).

The program that calls `enter` stays outside, waits, and passes the end on; a copy of it goes on
inside as process 1 of namespaces of its own: user, process, mount, network, System V IPC, host name
and control group. When that ends, the kernel ends everything in there.
"""

import contextlib
import os
import signal
import stat
import struct
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from inside.walls import linux, syscalls

NEW = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4
IN_MEMORY = MS_NOSUID | MS_NODEV
SOME_FOLDER = "/tmp"  # noqa: S108 - there everywhere; only we see what is mounted over it
NEW_ROOT, OLD_ROOT = "/new", "/old"
USER = 1000  # who a judged program is, in there


def enter(
    view: dict[str, Any],
    outside: tuple[int, int],
    kinds: Iterable[str] = tuple(NEW),
    build: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Go on inside new namespaces; the caller's own process never returns.

    Args:
        view: what of the file system is seen there, as `harness.sandbox.file_view` describes it.
        outside: the user and group that the one inside is to the kernel.
        kinds: the namespaces that are new, of `NEW`.
        build: makes the new root from the view; that of a judged program by itself.

    Raises:
        OSError: the system does not let us.
    """
    clone = syscalls.own(linux.machine())["clone"]
    go, tell = os.pipe()
    flags = sum(NEW[kind] for kind in kinds)
    pid = linux.syscall(clone, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid:
        os.close(go)
        _wait(pid, tell, outside)
    os.close(tell)
    if os.read(go, 1) != b"y":
        raise PermissionError("the user namespace takes no map of users")
    os.close(go)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    (build or _build)(view)
    if os.getuid() != USER:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user clears it


def _wait(pid: int, tell: int, outside: tuple[int, int]) -> NoReturn:
    """The side that stays: says who is who, waits, and ends as the other ended."""
    with contextlib.suppress(OSError):
        _map_users(pid, outside)
        os.write(tell, b"y")
    os.close(tell)
    os.closerange(3, 1024)  # the socket: only the one inside may hold it
    status = os.waitpid(pid, 0)[1]
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _map_users(pid: int, outside: tuple[int, int]) -> None:
    root = os.geteuid() == 0 and outside[0] != 0
    if not root:
        _write(f"/proc/{pid}/setgroups", "deny")
    for name, number in zip(("uid_map", "gid_map"), outside, strict=True):
        _write(f"/proc/{pid}/{name}", f"{USER} {number} 1\n" + ("0 0 1\n" if root else ""))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _build(view: dict[str, Any]) -> None:
    """Make a root of its own in memory and leave the old one behind."""
    begin_root()
    for link, target in view["links"]:
        os.symlink(target, place(link))
    for path in view["reads"]:
        bind(path)
    hidden = [path for path in view["hides"] if os.path.isdir(NEW_ROOT + path)]
    for path in hidden:
        linux.mount("tmpfs", NEW_ROOT + path, "tmpfs", IN_MEMORY, "size=64k,mode=755")
    for path in view["packages"]:
        bind(path)
    for path in hidden:
        set_attributes(NEW_ROOT + path, MOUNT_ATTR_RDONLY)
    for path in view["devices"]:
        bind(path, device=True)
    _mount_processes()
    home = place(view["home"])
    os.mkdir(home)
    room = f"size={view['home_bytes']},nr_inodes={view['home_files']},mode=777"
    linux.mount("tmpfs", home, "tmpfs", IN_MEMORY, room)
    finish_root()
    os.chdir(view["home"])


def begin_root() -> None:
    """Begin a root in memory: it grows at `NEW_ROOT`, and what was is at `OLD_ROOT`."""
    linux.mount("none", "/", None, MS_REC | MS_PRIVATE)
    linux.mount("tmpfs", SOME_FOLDER, "tmpfs", IN_MEMORY, "size=64k,mode=755")
    os.mkdir(SOME_FOLDER + NEW_ROOT)
    os.mkdir(SOME_FOLDER + OLD_ROOT)
    _pivot(SOME_FOLDER, SOME_FOLDER + OLD_ROOT)  # to reach what lies beneath it too
    linux.mount("tmpfs", NEW_ROOT, "tmpfs", IN_MEMORY, "size=1m,mode=755")


def finish_root() -> None:
    """Leave what was behind, for good; the new root can only be read."""
    linux.check(linux.LIBC.umount2(OLD_ROOT.encode(), MNT_DETACH), "umount the old root")
    os.chdir(NEW_ROOT)
    _pivot(".", ".")
    linux.check(linux.LIBC.umount2(b".", MNT_DETACH), "umount the builder's root")
    set_attributes("/", MOUNT_ATTR_RDONLY)


def _pivot(new: str, old: str) -> None:
    number = syscalls.own(linux.machine())["pivot_root"]
    linux.syscall(number, new.encode(), old.encode())
    if new != ".":
        os.chdir("/")


def _mount_processes() -> None:
    """The one folder by which a program may name its own streams: /dev/stdin leads through it."""
    os.mkdir(place("/proc"), 0o555)
    with contextlib.suppress(OSError):  # not where the outer one is covered, as in containers
        linux.mount("proc", NEW_ROOT + "/proc", "proc", IN_MEMORY | MS_NOEXEC, "subset=pid")
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{descriptor}", place(f"/dev/{name}"))


def place(path: str) -> str:
    """Where a path will be in the new root, its parents made."""
    os.makedirs(NEW_ROOT + os.path.dirname(path), exist_ok=True)
    return NEW_ROOT + path


def bind(path: str, *, device: bool = False) -> None:
    """Show a file or folder at its own place in the new root, to be read only."""
    source, target = OLD_ROOT + path, place(path)
    if stat.S_ISDIR(os.stat(source).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o644))
    linux.mount(source, target, None, MS_BIND | MS_REC)
    attributes = MOUNT_ATTR_NOSUID | (0 if device else MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)
    set_attributes(target, attributes, AT_RECURSIVE)


def set_attributes(target: str, attributes: int, flags: int = 0) -> None:
    """Make a mount one that can only be read, say; see mount_setattr(2)."""
    number = syscalls.own(linux.machine())["mount_setattr"]
    body = struct.pack("=QQQQ", attributes, 0, 0, 0)
    linux.syscall(number, AT_FDCWD, target.encode(), flags, body, len(body))
