"""Installed packages, written by hand."""

from collections.abc import Mapping
from pathlib import Path


def made_package(
    folder: Path, name: str, entries: Mapping[str, Mapping[str, str]], code: str = ""
) -> str:
    """Write a package into a folder, which must be put on the path.

    Args:
        folder: the folder.
        name: name of the package; its module has the same name, with underscores.
        entries: names of entry points and their attributes of the module, by group.
        code: source of the module.

    Returns:
        The module's name.
    """
    module = name.replace("-", "_")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, names in entries.items()
        for line in (f"[{group}]", *(f"{key} = {module}:{where}" for key, where in names.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return module
