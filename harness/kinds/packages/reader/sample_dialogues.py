"""Sample dialogues of a package, which its statement shows: files `data/sample/*.interaction`."""

import re
from collections.abc import Sequence
from pathlib import Path

from harness.excerpts import shorten
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.text import fenced

MOST_DIALOGUES = 5
LONGEST_DIALOGUE = 4_000
EXPLAINED = (
    "A line that begins with `<` is read by your program, one that begins with `>` is printed by "
    "it; the mark and a blank after it are not part of the line. `---` stands between two runs of "
    "the program."
)


def statement_of_dialogues(package: PackageFolder, paths: Sequence[Path]) -> str:
    """Return what a statement says of sample dialogues; empty without one. Raises DataError."""
    samples = package.root / "data" / "sample"
    own = sorted((path for path in paths if path.is_relative_to(samples)), key=_by_number)
    texts = [text for path in own if (text := package.string(path).strip("\n"))]
    parts = [EXPLAINED] if texts else []
    for number, text in enumerate(texts[:MOST_DIALOGUES], 1):
        parts.append(f"## Sample dialogue {number}\n\n{fenced(shorten(text, LONGEST_DIALOGUE))}")
    return "".join(f"\n\n{part}" for part in parts)


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts names by their numbers: 2 before 10."""
    return [(int(each or 0), rest) for each, rest in re.findall(r"(\d{0,18})(\D*)", path.name)]
