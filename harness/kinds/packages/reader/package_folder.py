"""Files of a package: bounded, inside of its folder, and hashed as they are read."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from harness.errors import DataError
from harness.kinds.packages.reader.constants import with_constants
from harness.sources.files.folder import Folder, decoded
from harness.yaml_text import YamlError, parse_yaml

MOST_BYTES = 1 << 26
"""Largest test or statement."""
MOST_PACKAGE_BYTES = 1 << 29
"""Most bytes that are read of one package: its tests are in memory while they are judged."""
MOST_YAML_BYTES = 1 << 16
MOST_PROGRAM_BYTES = 1 << 20


VALIDATORS = (
    *("input_validators", "input_validator", "answer_validators", "answer_validator"),
    *("output_validators", "output_validator", "graders"),
)
"""Folders whose programs a contest's packages often share, by links."""


class PackageFolder(Folder):
    """Reads files of a package, which must be there.

    Args:
        root: its folder.
        around: the folder of packages that the user named; links of validators may lead to it.
    """

    def __init__(self, root: Path, around: Path | None = None) -> None:
        super().__init__(root)
        self._around = os.path.realpath(root if around is None else around)

    def holds(self, path: Path) -> bool:
        """Return whether a path, with its links followed, is where the package may lead."""
        if super().holds(path):
            return True
        real = Path(os.path.realpath(path))
        return self._may_be_shared(path) and real.is_relative_to(self._around)

    def outside(self, path: Path) -> str:
        """Return what is wrong with a path that links out."""
        what = super().outside(path)
        near = Path(os.path.realpath(self.root.parent))
        if self._may_be_shared(path) and Path(os.path.realpath(path)).is_relative_to(near):
            return f"{what}; validators may link to files of the folder that is named: name {near}"
        return what

    def _may_be_shared(self, path: Path) -> bool:
        inside = path.relative_to(self.root).parts if path.is_relative_to(self.root) else ()
        return bool(inside) and inside[0] in VALIDATORS

    def bytes(self, path: Path, most: int = MOST_BYTES) -> bytes:
        """Return the content of a file. Raises DataError."""
        data = self.read(path, most)
        if data is None:
            raise DataError(str(path), None, "no such file")
        if self.size > MOST_PACKAGE_BYTES:
            what = f"its files have more than {MOST_PACKAGE_BYTES:,} bytes"
            raise DataError(str(self.root), None, what)
        return data

    def string(self, path: Path, most: int = MOST_BYTES) -> str:
        """Return the text of a file. Raises DataError."""
        return decoded(path, self.bytes(path, most))

    def program(self, path: Path, constants: Mapping[str, str]) -> str:
        """Return the source of a program, with the package's constants. Raises DataError."""
        return with_constants(self.string(path, MOST_PROGRAM_BYTES), constants)

    def group(self, path: Path, constants: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return what the file of a group or test says; of a key that is given twice, the last.

        The format's own tools read it so.

        Raises:
            DataError: it cannot be read.
        """
        return self.mapping(path, constants, may_repeat=True)

    def mapping(
        self,
        path: Path,
        constants: Mapping[str, str] | None = None,
        *,
        may_repeat: bool = False,
    ) -> dict[str, Any]:
        """Return the keys and values of a YAML file. Raises DataError."""
        text = with_constants(self.string(path, MOST_YAML_BYTES), constants or {})
        try:
            value: object = parse_yaml(text, may_repeat=may_repeat)
        except YamlError as error:
            raise DataError(str(path), None, str(error)) from None
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise DataError(str(path), None, "not a YAML mapping")
        return cast("dict[str, Any]", value)
