"""Open file descriptors: closing inherited ones, copying between memory files."""

import os

MOST_DESCRIPTORS = 1 << 16  # more than a fork server ever has


def close_all_but(*kept: int) -> None:
    """Close all descriptors above 2 except the given ones.

    They would give access to other programs, their inputs and their outputs.
    """
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, MOST_DESCRIPTORS)


def copy(source: int, offset: int, length: int, target: int) -> int:
    """Copy a span of a memory file to another file's position, without buffering it.

    Returns:
        Number of bytes copied; fewer if a program shortens the file meanwhile.
    """
    copied = 0
    while copied < length:
        done = os.sendfile(target, source, offset + copied, length - copied)
        if not done:
            break
        copied += done
    return copied
