"""Command line of bubblewrap for a file view: bwrap(1), version 0.8 or newer."""

import shutil

from harness.sandbox.file_view import FileView

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--uid", "1000", "--gid", "1000"),
    *("--as-pid-1", "--new-session", "--cap-drop", "ALL"),
)


def program() -> str | None:
    """Return the path of `bwrap`, or None if it is not installed."""
    return shutil.which("bwrap")


def wrap(path: str, view: FileView) -> list[str]:
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
