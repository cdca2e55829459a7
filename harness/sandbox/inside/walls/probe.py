"""Test of the sandbox: a forked process tries what judged programs must not do.

It applies the layers in a runner's order, and tests each layer's own boundary before applying the
next, so that no layer covers for another.
"""

import _socket
import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import select
import signal
from collections.abc import Callable, Generator
from typing import Any

from inside.processes import kill_strays
from inside.walls import linux
from inside.walls.lockdown import ROOM_TO_MAP, Lockdown

PATIENCE_S = 10.0
MEMORY_BYTES = 256 << 20
FILE_BYTES = 1 << 16
IPC_CREAT, CLONE_NEWUSER, PTRACE_TRACEME = 0o1000, 0x10000000, 0

Attempt = Callable[[], None]


class EscapeError(Exception):
    """An action that must be refused succeeded; the message says which."""


def probe(lockdown: Lockdown, canaries: dict[str, Any]) -> dict[str, str]:
    """Test every layer.

    Args:
        lockdown: the restrictions a runner applies.
        canaries: things outside that must not be reachable: `files`, a listening `port`, a
            `process` and its `user`, the `key` of a shared memory segment; also the allowed
            `environment` and the known `descriptors`.

    Returns:
        Layer -> what got through; empty if the layer held.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            canaries["descriptors"] = [*canaries["descriptors"], write]
            os.write(write, json.dumps(_try_all(lockdown, canaries)).encode())
        finally:
            os._exit(0)
    os.close(write)
    try:
        text = os.read(read, 1 << 16) if select.select([read], [], [], PATIENCE_S)[0] else b""
    finally:
        os.close(read)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kill_strays()
    return json.loads(text) if text else {"probe": "it died or did not end"}


def _try_all(lockdown: Lockdown, canaries: dict[str, Any]) -> dict[str, str]:
    """Test every layer, in an order in which steps remove what later ones need not."""
    layers: dict[str, str] = {}

    def test(layer: str, attempt: Attempt) -> None:
        layers[layer] = _outcome(attempt)

    test("user namespace", lambda: _be_somebody(canaries["user"]))
    test("process namespace", lambda: _signal(canaries["process"]))
    test("mount namespace", lambda: _read_any(canaries["files"]))
    test("network namespace", lambda: _connect(canaries["port"]))
    test("ipc namespace", lambda: _attach(canaries["key"]))
    test("own user", lambda: _be_root(canaries["user"]))
    test("no new privileges", _may_gain)
    test("environment", lambda: _know(canaries["environment"]))
    test("descriptors", lambda: _inherit([*canaries["descriptors"], _ruleset(lockdown)]))
    lockdown.limit(MEMORY_BYTES, FILE_BYTES)
    test("limits", _take_too_much)
    lockdown.restrict_files()
    test("files", lambda: _read_any(canaries["files"]))
    if lockdown.ruleset is not None:
        test("landlock", _list_root)
    test("working directory", _use_folder)
    lockdown.restrict_calls()
    layer = "audit hook" if lockdown.filter is None else "seccomp"
    bare, compiles = lockdown.filter is not None, lockdown.compiles
    test(layer, lambda: _call_kernel(canaries["process"], bare=bare, compiles=compiles))
    return layers


def _outcome(attempt: Attempt) -> str:
    try:
        attempt()
    except EscapeError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@contextlib.contextmanager
def _refused(what: str, error: type[OSError] = OSError) -> Generator[None]:
    """Expect the system to refuse what is done."""
    try:
        yield
    except error:
        return
    raise EscapeError(what)


def _be_somebody(user: int) -> None:
    """Check the user namespace: a process in it must not be the user outside."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            lines = file.read().split("\n")
    except OSError:
        if os.getuid() == user:
            raise EscapeError("it is the user outside") from None
        return
    if lines[0].split()[2] == str((1 << 32) - 1):
        raise EscapeError("it is in the namespace of all users")


def _be_root(user: int) -> None:
    if user == 0 and os.getuid() == 0:
        raise EscapeError("it is root")


def _signal(process: int) -> None:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return
    except PermissionError:
        raise EscapeError("it sees processes outside") from None
    raise EscapeError("it can signal processes outside")


def _read_any(paths: list[str]) -> None:
    for path in paths:
        with _refused(f"it can read {path}"), open(path, "rb") as file:
            file.read(1)


def _connect(port: int) -> None:
    client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    client.settimeout(1.0)
    try:
        with _refused("it reaches a server on this machine"):
            client.connect(("127.0.0.1", port))
    finally:
        client.close()  # an exception may keep it, and then it is a descriptor too many


def _attach(key: int) -> None:
    if linux.LIBC.shmget(key, 0, 0) >= 0 or ctypes.get_errno() != errno.ENOENT:
        raise EscapeError("it finds shared memory of others")


def _may_gain() -> None:
    if linux.prctl(linux.PR_GET_NO_NEW_PRIVS, 0) != 1:
        raise EscapeError("it may gain privileges")


def _know(allowed: list[str]) -> None:
    more = sorted(set(os.environ) - set(allowed))
    if more:
        raise EscapeError(f"it sees the variable {more[0]}")


def _ruleset(lockdown: Lockdown) -> int:
    return -1 if lockdown.ruleset is None else lockdown.ruleset.descriptor


def _inherit(known: list[int]) -> None:
    for descriptor in range(3, 1024):
        try:
            fcntl.fcntl(descriptor, fcntl.F_GETFD)
        except OSError:
            continue
        if descriptor not in known:
            raise EscapeError(f"it holds descriptor {descriptor}")


def _take_too_much() -> None:
    with _refused("it can take more memory than its limit"):
        mmap.mmap(-1, MEMORY_BYTES + ROOM_TO_MAP).close()
    with open("probe", "wb", buffering=0) as file:
        os.unlink("probe")
        try:
            written = file.write(bytes(FILE_BYTES + 1))
        except OSError:
            return
    if written > FILE_BYTES:
        raise EscapeError("it can write more to a file than its limit")


def _list_root() -> None:
    with _refused("it can list the root folder", PermissionError):
        os.listdir("/")


def _use_folder() -> None:
    """Check that the working directory is usable; only this one must succeed."""
    with open("probe", "w+b") as file:
        file.write(b"mine")
        file.seek(0)
        mine = file.read() == b"mine"
    os.unlink("probe")
    if not mine:
        raise EscapeError("it cannot use its working directory")


def _call_kernel(process: int, *, bare: bool, compiles: bool) -> None:
    """Try system calls; with `bare`, also ones that bypass the interpreter."""
    attempts: dict[str, Callable[[], object]] = {}
    if not compiles:
        attempts["fork"] = os.fork
        attempts["run a program"] = lambda: os.execv("/bin/true", ["true"])
    attempts |= {
        "open a socket": lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM),
        "signal the judge": lambda: os.kill(process, 0),
        "signal its parent": lambda: os.kill(os.getppid(), 0),
    }
    if bare:
        attempts |= {
            "send to any socket": lambda: _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM),
            "make a file in memory": lambda: os.memfd_create("probe"),
            "make a namespace": lambda: _bare("unshare", CLONE_NEWUSER),
            "trace": lambda: _bare("ptrace", PTRACE_TRACEME, 0, 0, 0),
            "share memory": lambda: _bare("shmget", 0, 4096, IPC_CREAT),
            "name a host": lambda: _bare("sethostname", b"probe", 5),
        }
    for what, attempt in attempts.items():
        try:
            done = attempt()
        except OSError:
            continue
        if what == "fork" and done == 0:
            os._exit(0)
        raise EscapeError(f"it can {what}")


def _bare(name: str, *arguments: Any) -> int:
    return linux.check(getattr(linux.LIBC, name)(*arguments), name)
