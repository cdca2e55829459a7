"""Tests with files and arguments: what a validator finds, and the files it leaves.

`harness.sandbox.inside.folder` is the other side.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.sandbox.inside.messages import FOLDER_ENTRY, FOLDER_HEAD


@dataclass(frozen=True, slots=True)
class TestFolder:
    """A test of a program that has files and arguments.

    Attributes:
        arguments: arguments, the first being the program's name.
        stdin: standard input.
        files: content of each file in the working directory.
        kept: folder whose files are kept after the program has ended; empty for none.
    """

    __test__ = False

    arguments: Sequence[str]
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    kept: str = ""

    def packed(self) -> bytes:
        """Return the input that carries it."""
        files = [(name, len(data)) for name, data in self.files.items()]
        head = {"arguments": self.arguments, "files": files, "kept": self.kept}
        text = json.dumps(head | {"stdin": len(self.stdin)}).encode()
        return b"".join((FOLDER_HEAD.pack(len(text)), text, self.stdin, *self.files.values()))


def unpack_kept(result: bytes | None) -> dict[str, bytes]:
    """Return the files that were kept, by name.

    Raises:
        ValueError: the program wrote on the judge's own channel.
    """
    data, at = result or b"", 0
    files: dict[str, bytes] = {}
    while at < len(data):
        if len(data) - at < FOLDER_ENTRY.size:
            raise ValueError("the kept files are garbled")
        label, size = FOLDER_ENTRY.unpack_from(data, at)
        at += FOLDER_ENTRY.size
        if len(data) - at < label + size:
            raise ValueError("the kept files are garbled")
        name = data[at : at + label].decode("utf-8", "replace")
        files[name] = data[at + label : at + label + size]
        at += label + size
    return files
