"""Sample dialogues of a package, which its statement shows: files `data/sample/*.interaction`."""

from collections.abc import Sequence
from pathlib import Path

from harness.excerpts import shorten
from harness.sources.contests.package.package_folder import PackageFolder
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
    shown = [path for path in paths if path.is_relative_to(samples)][:MOST_DIALOGUES]
    parts = [EXPLAINED] if shown else []
    for number, path in enumerate(shown, 1):
        text = shorten(package.string(path).strip("\n"), LONGEST_DIALOGUE)
        parts.append(f"## Sample dialogue {number}\n\n{fenced(text)}")
    return "".join(f"\n\n{part}" for part in parts)
