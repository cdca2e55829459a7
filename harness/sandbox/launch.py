"""Starting a fork server in a sandbox with a given isolation."""

import contextlib
import itertools
import marshal
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any, NamedTuple

from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import Isolation, Level

ALLOWED_PACKAGES = ("numpy", "sortedcontainers")
INSIDE = Path(__file__).parent / "inside"
HOME = "/box"
HOME_BYTES = 64 << 20
HOME_FILES = 4096
COMPILERS_HOME_BYTES = 320 << 20  # a precompiled header
CHECKERS_HOME_BYTES = 512 << 20  # input, answer and output of a test
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_TABLES = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
FLAGS = ("-s", "-S", "-P", "-B")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
ALLOWED_NAMES = (*ENVIRONMENT, "HOME", "TMPDIR", "PWD", "LC_CTYPE")  # PWD is bubblewrap's
# For root: user ids that no distribution assigns, see systemd's table of user identifiers.
FIRST_USER, USERS = 60_706, 478
RIGHTS_TO_CHANGE = (6, 7)  # CAP_SETGID, CAP_SETUID
SETTINGS = ("level", "means", "view", "counted", "packages", "compiles")
"""What the fork server needs of a configuration."""
_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--uid", "1000", "--gid", "1000"),
    *("--as-pid-1", "--new-session", "--cap-drop", "ALL"),
)


class FileView(NamedTuple):
    """Paths visible in the sandbox, each at its original location.

    Attributes:
        reads: readable files and folders.
        hides: folders below `reads` that are hidden.
        packages: readable folders below `hides`: the allowed packages and the sandbox's code.
        links: symbolic links and their targets.
        devices: device files.
        home: the working directory, if it is a file system of its own.
        home_bytes, home_files: capacity of `home` in bytes and in files.
        compiles: whether it is a compiler's, which may start the programs that it finds.
    """

    reads: tuple[str, ...]
    hides: tuple[str, ...]
    packages: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    devices: tuple[str, ...] = DEVICES
    home: str = HOME
    home_bytes: int = HOME_BYTES
    home_files: int = HOME_FILES
    compiles: bool = False


def interpreter() -> str:
    """Return the interpreter's real path, without virtual environment links or shims."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@cache
def package_folders() -> dict[str, str]:
    """Return the install folder of each package solutions may import, importing none."""
    specs = {name: find_spec(name) for name in ALLOWED_PACKAGES}
    origins = {name: spec.origin for name, spec in specs.items() if spec and spec.origin}
    return {name: str(Path(origin).parent.parent) for name, origin in origins.items()}


@cache
def interpreters_view() -> FileView:
    """Return the view the running interpreter needs on this machine."""
    prefix = Path(sys.base_prefix).resolve()
    standard = f"python{sys.version_info.major}.{sys.version_info.minor}"
    libraries = [Path(path) for path in _LIBRARIES]
    own = [prefix / "lib" / standard, prefix / sys.platlibdir / standard]
    own += (prefix / "lib").glob("*.so*")  # libraries they link to
    links = tuple((str(path), str(path.readlink())) for path in libraries if path.is_symlink())
    folders = [path for path in (*libraries, *own) if path.exists() and not path.is_symlink()]
    packages = [
        path
        for name, folder in package_folders().items()
        for path in (Path(folder) / name, Path(folder) / f"{name}.libs")
        if path.exists()
    ]
    return FileView(
        reads=_without_nested([*folders, Path(interpreter()), *_existing(_TABLES)]),
        hides=tuple(sorted({str(path) for folder in folders for path in _packages_of(folder)})),
        packages=(*(str(path) for path in packages), str(INSIDE)),
        links=links,
        devices=tuple(str(path) for path in _existing(DEVICES)),
    )


def compilers_view(folders: Sequence[str]) -> FileView:
    """Return the view of a compiler: the interpreter's, and the compiler's own folders."""
    view = interpreters_view()
    links = {*view.links, *((f, str(Path(f).readlink())) for f in folders if Path(f).is_symlink())}
    more = [Path(folder) for folder in folders if not Path(folder).is_symlink()]
    reads = _without_nested([*map(Path, view.reads), *_existing(tuple(map(str, more)))])
    links = tuple(sorted(links))
    return view._replace(reads=reads, links=links, compiles=True, home_bytes=COMPILERS_HOME_BYTES)


def checkers_view() -> FileView:
    """Return the view of checkers: the interpreter's, with room for the files of a test."""
    return interpreters_view()._replace(home_bytes=CHECKERS_HOME_BYTES)


def _existing(paths: tuple[str, ...]) -> list[Path]:
    return [Path(path) for path in paths if Path(path).exists()]


def _packages_of(folder: Path) -> list[Path]:
    """Return the `site-packages` and `dist-packages` folders in a library folder."""
    names = ("site-packages", "dist-packages")
    places = [folder, *folder.glob("python*")]
    return [place / name for place in places for name in names if (place / name).is_dir()]


def _without_nested(paths: list[Path]) -> tuple[str, ...]:
    nested = {path for path in paths if any(parent in paths for parent in path.parents)}
    return tuple(dict.fromkeys(str(path) for path in paths if path not in nested))


_numbers = itertools.count(os.getpid())


class LaunchError(Exception):
    """The requested sandbox is not available here; the message says why."""


def launch(
    isolation: Isolation, canaries: dict[str, Any], view: FileView | None = None
) -> ForkServer:
    """Start a fork server.

    Args:
        isolation: the sandbox's layers.
        canaries: what its probe must not reach.
        view: the view of files; None for the interpreter's.

    Raises:
        LaunchError: a precondition is not met.
        OSError: a process or a file cannot be made.
    """
    compile_inside()
    config = _configuration(isolation, view or interpreters_view())
    own_room = isolation.means is not None
    folder = None if own_room else tempfile.mkdtemp(prefix="harness-")
    home = config["view"]["home"] if folder is None else folder
    errors = os.memfd_create("errors")
    ours, theirs = socket.socketpair()
    config["canaries"] = canaries | {"descriptors": [theirs.fileno()]}
    config["command"] = [
        *(interpreter(), *FLAGS, str(INSIDE / "fork_server.py"), str(theirs.fileno()))
    ]
    settings = {name: config[name] for name in SETTINGS}
    try:
        if folder is not None and config["user"]:
            os.chown(folder, *config["user"])
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            [
                *(interpreter(), *FLAGS, str(INSIDE / "walls" / "enter.py")),
                str(theirs.fileno()),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=folder or "/",
            env={**ENVIRONMENT, "HOME": home, "TMPDIR": home},
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        os.close(errors)
        if folder is not None:
            Path(folder).rmdir()
        raise
    finally:
        theirs.close()
    server = ForkServer(process, ours, folder, errors)
    with contextlib.suppress(OSError):  # if it has died, its stderr says why
        server.send_bytes(marshal.dumps(config))
        server.send(settings | {"canaries": config["canaries"]})
    return server


@cache
def compile_inside() -> None:
    """Store the bytecode of what runs inside, where nothing can be written.

    Some installers leave it out; each fork server would then compile these modules again, and each
    solution that imports an allowed package that package, in its own CPU time.
    """
    for path in INSIDE.rglob("*.py"):
        SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    places = {name: Path(folder, name) for name, folder in package_folders().items()}
    new = {name: place for name, place in places.items() if _may_compile(place / "__init__.py")}
    if new and not sys.dont_write_bytecode:
        path = sorted({str(place.parent) for place in new.values()})
        code = f"import sys; sys.path[:0] = {path!r}; import {', '.join(new)}"
        subprocess.run([interpreter(), "-I", "-c", code], capture_output=True, check=False)  # noqa: S603 - our own interpreter


def _may_compile(source: Path) -> bool:
    stored = Path(cache_from_source(source))
    return source.exists() and not stored.exists() and os.access(source.parent, os.W_OK)


def _configuration(isolation: Isolation, view: FileView) -> dict[str, Any]:
    """Return the settings for `inside/walls/enter.py` and `inside/fork_server.py`."""
    user = throwaway_user()
    readable = user is None or all(map(_is_public, (interpreter(), *view.reads, *view.packages)))
    wrapped = isolation.means == "bubblewrap"
    path = bubblewrap_path() if wrapped else None
    if wrapped and path is None:
        raise LaunchError("bwrap is not installed")
    if not readable and (wrapped or isolation.level is Level.SECCOMP):
        raise LaunchError(f"{interpreter()} can be read by root alone")
    return {
        "level": isolation.level.value,
        "means": isolation.means,
        "user": user if isolation.level is not Level.NONE or readable else None,
        "keep_reading": not readable,
        "counted": user is not None or isolation.means is not None,
        "view": view._asdict(),
        "packages": package_folders(),
        "compiles": view.compiles,
        "wrapper": bubblewrap_arguments(path, view) if path else [],
    }


def can_change_user() -> bool:
    """Whether this process is root and may become any user.

    Root may not in a namespace with few users, or without the capabilities, as in a container that
    dropped them all.
    """
    return os.geteuid() == 0 and _has_rights() and all(map(_maps_users, ("uid_map", "gid_map")))


def _has_rights() -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    held = next((int(line[7:], 16) for line in lines if line.startswith("CapEff:")), 0)
    return all(held >> right & 1 for right in RIGHTS_TO_CHANGE)


def _maps_users(name: str) -> bool:
    lines = (line.split() for line in Path(f"/proc/self/{name}").read_text().splitlines())
    return any(
        int(first) <= FIRST_USER and int(first) + int(count) >= FIRST_USER + USERS
        for first, _, count in lines
    )


def throwaway_user() -> tuple[int, int] | None:
    """Return, for root, a user and group that own nothing; None for other users."""
    if not can_change_user():
        return None
    number = FIRST_USER + next(_numbers) % USERS
    return (number, number)


def _is_public(path: str) -> bool:
    """Whether everybody may read a file, or list a folder."""
    for parent in Path(path).parents:
        if not parent.stat().st_mode & stat.S_IXOTH:
            return False
    return bool(Path(path).stat().st_mode & stat.S_IROTH)


def bubblewrap_path() -> str | None:
    """Return the path of `bwrap`, or None if it is not installed."""
    return shutil.which("bwrap")


def bubblewrap_arguments(path: str, view: FileView) -> list[str]:
    """Return the bubblewrap arguments to put before a command."""
    read = [word for name in view.reads for word in ("--ro-bind", name, name)]
    hide = [word for name in view.hides for word in ("--tmpfs", name)]
    show = [word for name in view.packages for word in ("--ro-bind", name, name)]
    close = [word for name in view.hides for word in ("--remount-ro", name)]
    link = [word for name, target in view.links for word in ("--symlink", target, name)]
    devices = [word for name in view.devices for word in ("--dev-bind", name, name)]
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        devices += ["--symlink", f"/proc/self/fd/{descriptor}", f"/dev/{name}"]
    home = ["--size", str(view.home_bytes), "--tmpfs", view.home, "--chdir", view.home]
    return [
        *(path, *_NAMESPACES, *link, *read, *hide, *show, *close, *devices),
        *("--proc", "/proc", *home, "--remount-ro", "/", "--"),
    ]
