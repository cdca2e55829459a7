"""What `harness pack` has done, in a line."""

from pathlib import Path

from harness.features.storage.pack import Packed
from harness.text import count, printable_line


def packed_line(run: Path, done: Packed) -> str:
    """How many transcripts were packed, what that saves, and how many were left out."""
    name = printable_line(str(run))
    rest = f"; {count(done.left, 'transcript')} left out, not graded or very large"
    rest = rest if done.left else ""
    if not done.held:
        return f"{name}: nothing to pack{rest}"
    if not done.added:
        return f"{name}: nothing more to pack{rest}"
    return (
        f"{name}: {count(done.added, 'transcript')} packed; {done.held:,} together take "
        f"{done.packed:,} bytes instead of {done.size:,}{rest}"
    )


def unpacked_line(run: Path, files: int) -> str:
    """How many transcripts are files again."""
    return f"{printable_line(str(run))}: {count(files, 'transcript')} unpacked"
