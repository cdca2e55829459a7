"""The files a judged program can see: the interpreter, but no files of the user."""

import importlib.util
import os
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

ALLOWED_PACKAGES = ("numpy", "sortedcontainers")
INSIDE = Path(__file__).parent / "inside"
HOME = "/box"
HOME_BYTES = 64 << 20
HOME_FILES = 4096
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_TABLES = ("/etc/ld.so.cache", "/usr/share/zoneinfo")


@dataclass(frozen=True, slots=True)
class FileView:
    """Paths visible in the sandbox, each at its original location.

    Attributes:
        reads: readable files and folders.
        hides: folders below `reads` that are hidden.
        packages: readable folders below `hides`: the allowed packages and the sandbox's code.
        links: symbolic links and their targets.
        devices: device files.
        home: the working directory, if it is a file system of its own.
        home_bytes, home_files: capacity of `home` in bytes and in files.
    """

    reads: tuple[str, ...]
    hides: tuple[str, ...]
    packages: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    devices: tuple[str, ...] = DEVICES
    home: str = HOME
    home_bytes: int = HOME_BYTES
    home_files: int = HOME_FILES

    def as_json(self) -> dict[str, Any]:
        """Return the view as plain data."""
        return asdict(self)


def interpreter() -> str:
    """Return the interpreter's real path, without virtual environment links or shims."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@cache
def package_folders() -> dict[str, str]:
    """Return the install folder of each package solutions may import, importing none."""
    specs = {name: importlib.util.find_spec(name) for name in ALLOWED_PACKAGES}
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
