"""A container made with system calls directly, see namespaces(7).

The program that calls `enter` stays outside, waits, and passes on the exit code. A copy of it
continues as process 1 of new namespaces: user, process, mount, network, System V IPC, host name
and control group. When that process ends, the kernel ends all others in them.
"""

from __future__ import annotations

import os
import stat
import struct

from inside.walls import linux

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

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
SOME_FOLDER = "/tmp"  # noqa: S108 - exists everywhere; a mount over it is visible only here
NEW_ROOT, OLD_ROOT = "/new", "/old"
USER = 1000  # user id of a judged program inside


def enter(
    view: dict[str, Any],
    outside: tuple[int, int],
    kinds: Iterable[str] = tuple(NEW),
    build: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Continue inside new namespaces; the calling process never returns.

    Args:
        view: the visible files, as in `harness.sandbox.launch`.
        outside: the user and group outside that the inner user is mapped to.
        kinds: the namespaces to make new, of `NEW`.
        build: makes the new root from the view; by default that of a judged program.

    Raises:
        OSError: the system does not allow it.
    """
    clone = linux.own()["clone"]
    go, tell = os.pipe()
    flags = sum(NEW[kind] for kind in kinds)
    pid = linux.syscall(clone, flags | linux.SIGCHLD, 0, 0, 0, 0)
    if pid:
        os.close(go)
        _wait(pid, tell, outside)
    os.close(tell)
    if os.read(go, 1) != b"y":
        raise PermissionError("the user namespace takes no map of users")
    os.close(go)
    linux.prctl(linux.PR_SET_PDEATHSIG, linux.SIGKILL)
    (build or _build)(view)
    if os.getuid() != USER:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        linux.prctl(linux.PR_SET_PDEATHSIG, linux.SIGKILL)  # changing the user clears it


def _wait(pid: int, tell: int, outside: tuple[int, int]) -> NoReturn:
    """Map the users, wait for the inner process, and exit with its exit code."""
    try:
        _map_users(pid, outside)
        os.write(tell, b"y")
    except OSError:
        pass
    os.close(tell)
    os.closerange(3, 1024)  # the socket: only the inner process may hold it
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
    """Make a root file system in memory and leave the old one."""
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
    """Start a root in memory at `NEW_ROOT`, with the old root at `OLD_ROOT`."""
    linux.mount("none", "/", None, MS_REC | MS_PRIVATE)
    linux.mount("tmpfs", SOME_FOLDER, "tmpfs", IN_MEMORY, "size=64k,mode=755")
    os.mkdir(SOME_FOLDER + NEW_ROOT)
    os.mkdir(SOME_FOLDER + OLD_ROOT)
    _pivot(SOME_FOLDER, SOME_FOLDER + OLD_ROOT)  # so that paths below it can be reached too
    linux.mount("tmpfs", NEW_ROOT, "tmpfs", IN_MEMORY, "size=1m,mode=755")


def finish_root() -> None:
    """Detach the old root for good; the new root becomes read-only."""
    linux.check(linux.LIBC.umount2(OLD_ROOT.encode(), MNT_DETACH), "umount the old root")
    os.chdir(NEW_ROOT)
    _pivot(".", ".")
    linux.check(linux.LIBC.umount2(b".", MNT_DETACH), "umount the builder's root")
    set_attributes("/", MOUNT_ATTR_RDONLY)


def _pivot(new: str, old: str) -> None:
    number = linux.own()["pivot_root"]
    linux.syscall(number, new.encode(), old.encode())
    if new != ".":
        os.chdir("/")


def _mount_processes() -> None:
    """Mount /proc, the only way to name a program's own streams: /dev/stdin uses it."""
    os.mkdir(place("/proc"), 0o555)
    try:  # noqa: SIM105 - `contextlib` takes 3 ms to import
        linux.mount("proc", NEW_ROOT + "/proc", "proc", IN_MEMORY | MS_NOEXEC, "subset=pid")
    except OSError:  # the outer /proc is covered, as in containers
        pass
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{descriptor}", place(f"/dev/{name}"))


def place(path: str) -> str:
    """Return a path's location in the new root, creating its parents."""
    os.makedirs(NEW_ROOT + os.path.dirname(path), exist_ok=True)
    return NEW_ROOT + path


def bind(path: str, *, device: bool = False) -> None:
    """Show a file or folder read-only at its own path in the new root."""
    source, target = OLD_ROOT + path, place(path)
    if stat.S_ISDIR(os.stat(source).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o644))
    linux.mount(source, target, None, MS_BIND | MS_REC)
    attributes = MOUNT_ATTR_NOSUID | (0 if device else MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)
    set_attributes(target, attributes, AT_RECURSIVE)


def set_attributes(target: str, attributes: int, flags: int = 0) -> None:
    """Set a mount's attributes, such as read-only; see mount_setattr(2)."""
    number = linux.own()["mount_setattr"]
    body = struct.pack("=QQQQ", attributes, 0, 0, 0)
    linux.syscall(number, AT_FDCWD, target.encode(), flags, body, len(body))
