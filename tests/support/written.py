"""Recordings written by hand, whose outcomes tests know, and the flags that play them."""

from pathlib import Path

WRITTEN = Path(__file__).parent / "written_recordings"
"""Answers for the first 20 bundled problems: one sample with tools, five single shots."""
FIRST = ("-b", "fixture", "-n", "20")
"""Flags that select their problems."""
LINK = "written"
PLAYED = (*FIRST, "-m", f"replay:{LINK}")
"""Flags that play them in a folder made by `link_written`."""


def link_written(folder: Path) -> tuple[str, ...]:
    """Make the recordings known in a folder; return the flags that play them there."""
    link = folder / LINK
    if not link.is_symlink():
        link.symlink_to(WRITTEN)
    return PLAYED
