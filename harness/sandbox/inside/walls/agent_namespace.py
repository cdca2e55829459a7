"""A namespace for a program that may use the network, but not the harness's data.

Started by `harness.features.external.agent_sandbox` as `python … agent_namespace.py FD`, where FD
holds the configuration. It makes a file system that shows only listed paths, with its own process
numbers; puts files into the scratch folder, which is kept in memory; and starts the program there.
It stays as the first process of the namespace, so that all other processes in it end with the
program.

Without namespaces the program runs directly. Processes it leaves behind are found by descent and
killed too.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import struct
import sys
from types import FrameType
from typing import Any, NoReturn

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from inside.walls import linux, namespaces

KINDS = ("user", "mount", "pid", "ipc", "uts", "cgroup")  # the network is shared
OWN_FOLDERS = ("/tmp", "/dev/shm", "/run")  # noqa: S108 - new and empty inside
PROCESSES = 4096
OPEN_FILES = 1 << 16
CANNOT_START = 127  # exit code, as used by shells
DEATH_BY_SIGNAL = 128
ROUNDS = 100  # searches for descendants, which may start others meanwhile
_CAPABILITIES_VERSION_3 = 0x20080522


def main() -> None:
    """Make the namespace and run the program in it."""
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        config = json.load(file)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL if config["confined"] else signal.SIGTERM)
    if os.getppid() != config["parent"]:
        os._exit(1)
    if config["confined"]:
        user, group = config["user"] or (os.getuid(), os.getgid())
        try:
            namespaces.enter(config["view"], (user, group), KINDS, _build)
            _give_up_rights()
        except OSError as error:
            _tell(config, {"failed": f"no namespace can be made: {error}"})
    else:
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        signal.signal(signal.SIGTERM, _end)
    files: dict[str, str] = config["files"]
    for name, text in files.items():
        with open(f"{config['scratch']}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    if config["probe"]:
        _tell(config, _findings(config))
    linux.prctl(linux.PR_SET_DUMPABLE, 0)  # hinders tracing of this process
    _run(config)


def _build(view: dict[str, Any]) -> None:
    """Build the new root: the listed paths but the hidden ones, and writable folders."""
    namespaces.begin_root()
    for path in OWN_FOLDERS:  # first, since shown paths may be inside one
        _in_memory(path, view["room_bytes"] // 4)
    _in_memory(view["scratch"], view["room_bytes"])
    for link, target in view["links"]:
        os.symlink(target, namespaces.place(link))
    for path in view["reads"]:
        namespaces.bind(path)
    for path in view["devices"]:
        namespaces.bind(path, device=True)
    for path in view["hides"]:
        _cover(path)
    os.mkdir(namespaces.place("/proc"), 0o555)
    with contextlib.suppress(OSError):  # fails if the outer /proc is covered, as in containers
        in_memory = namespaces.IN_MEMORY | namespaces.MS_NOEXEC
        linux.mount("proc", namespaces.NEW_ROOT + "/proc", "proc", in_memory)
    _terminals()
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{descriptor}", namespaces.place(f"/dev/{name}"))
    os.symlink("/proc/self/fd", namespaces.place("/dev/fd"))
    namespaces.finish_root()


def _in_memory(path: str, size: int) -> None:
    os.makedirs(namespaces.place(path), exist_ok=True)
    who = f"uid={namespaces.USER},gid={namespaces.USER},mode=755"
    room = f"size={size},nr_inodes={size >> 12},{who}"
    linux.mount("tmpfs", namespaces.NEW_ROOT + path, "tmpfs", namespaces.IN_MEMORY, room)


def _cover(path: str) -> None:
    """Hide a file or folder inside a shown one."""
    target = namespaces.NEW_ROOT + path
    if os.path.isdir(target):
        linux.mount("tmpfs", target, "tmpfs", namespaces.IN_MEMORY, "size=4k,mode=555")
        namespaces.set_attributes(target, namespaces.MOUNT_ATTR_RDONLY)
    elif os.path.lexists(target):
        nothing = namespaces.OLD_ROOT + "/dev/null"
        linux.mount(nothing, target, None, namespaces.MS_BIND)


def _terminals() -> None:
    """Mount a separate devpts, for programs that start others on a terminal."""
    target = namespaces.place("/dev/pts")
    os.mkdir(target)
    with contextlib.suppress(OSError):
        flags = namespaces.MS_NOSUID | namespaces.MS_NOEXEC
        linux.mount("devpts", target, "devpts", flags, "newinstance,ptmxmode=0666,mode=0620")
        os.symlink("pts/ptmx", namespaces.place("/dev/ptmx"))


def _give_up_rights() -> None:
    """Drop the rights to undo the namespace: the mounts that hide data must stay."""
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    header = struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0)
    none = ctypes.create_string_buffer(24)
    linux.check(linux.LIBC.capset(header, none), "capset")
    _limit(resource.RLIMIT_NPROC, PROCESSES)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _findings(config: dict[str, Any]) -> dict[str, Any]:
    """Return whether the program is found, and hidden paths that are visible."""
    command: list[str] = config["command"]
    hides: list[str] = config["view"]["hides"]
    program = shutil.which(command[0], path=config["env"].get("PATH"))
    seen = [path for path in hides if config["confined"] and _shows(path)]
    return {"program": program, "seen": seen}


def _shows(path: str) -> bool:
    """Whether a path that should be hidden has readable content."""
    try:
        return bool(os.listdir(path)) if os.path.isdir(path) else os.path.isfile(path)
    except OSError:
        return False


def _tell(config: dict[str, Any], report: dict[str, Any]) -> NoReturn:
    if config["probe"]:
        print(json.dumps(report), flush=True)
    else:
        print(report["failed"], file=sys.stderr, flush=True)
    os._exit(0 if config["probe"] else CANNOT_START)


def _run(config: dict[str, Any]) -> NoReturn:
    """Start the program, reap orphans, and exit with the program's exit code."""
    program = os.fork()
    if not program:
        _become(config)
    while True:
        try:
            pid, status = os.wait()
        except InterruptedError:
            continue
        if pid == program:
            break
    if not config["confined"]:
        _end_descendants()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else DEATH_BY_SIGNAL - code)


def _become(config: dict[str, Any]) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # undo Python's own setting
        os.setsid()
        if config["memory_bytes"] is not None:  # reserved memory (Node, Java) is free
            _limit(resource.RLIMIT_DATA, config["memory_bytes"])
        os.chdir(config["scratch"])
        os.execvpe(config["command"][0], config["command"], config["env"])
    except (OSError, ValueError) as error:
        message = getattr(error, "strerror", None) or error
        print(f"{config['command'][0]}: {message}", file=sys.stderr, flush=True)
    os._exit(CANNOT_START)


def _limit(kind: int, wanted: int) -> None:
    """Limit a resource to an amount, or to what this process may have of it."""
    hard = resource.getrlimit(kind)[1]
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (most, most))


def _end(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    _end_descendants()
    os._exit(DEATH_BY_SIGNAL + number)


def _end_descendants() -> None:
    """Kill all descendants of this process, until none is left."""
    for _ in range(ROUNDS):
        alive = _descendants()
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> list[int]:
    """Return all descendants of this process that are still alive."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(name))
            else:
                children.setdefault(int(parent), [])
    processes: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        processes += below
        ahead += below
    return processes


if __name__ == "__main__":
    main()
