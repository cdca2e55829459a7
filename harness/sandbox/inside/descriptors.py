"""What processes hand on, and must not: open files."""

import os

MOST_DESCRIPTORS = 1 << 16  # more than a fork server ever has


def close_all_but(*kept: int) -> None:
    """Close what a fork server has open: other programs, what they read and what they answered."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, MOST_DESCRIPTORS)


def copy(source: int, offset: int, length: int, target: int) -> int:
    """Copy a span of a memory file to where another stands, without ever holding it.

    Returns:
        How much was copied: less where a program makes the file shorter meanwhile.
    """
    copied = 0
    while copied < length:
        done = os.sendfile(target, source, offset + copied, length - copied)
        if not done:
            break
        copied += done
    return copied
