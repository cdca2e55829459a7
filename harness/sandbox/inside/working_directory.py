"""The working directory of judged code, emptied between tests."""

import os
import stat


def empty_working_directory() -> None:
    """Empty the working directory; raises FileNotFoundError if it was removed."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        empty_folder(folder)
    finally:
        os.close(folder)
    os.getcwd()  # fails if the directory was removed


def empty_folder(folder: int) -> None:
    """Remove the contents of an open folder, whatever their permissions.

    No paths are used, since a path may have been redirected. The contents of a subfolder are moved
    up before it is removed, so any depth of nesting works.
    """
    while names := os.listdir(folder):
        for name in names:
            if not _unlocked(name, folder):
                os.unlink(name, dir_fd=folder)
                continue
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                fresh = os.urandom(8).hex()
                for number, entry in enumerate(os.listdir(inner)):
                    _unlocked(entry, inner)  # to move a folder one must be able to write in it
                    os.rename(entry, f"{fresh}-{number}", src_dir_fd=inner, dst_dir_fd=folder)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)


def _unlocked(name: str, folder: int) -> bool:
    """Make a folder within an open one accessible; return False if it is not a folder."""
    state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(state.st_mode):
        return False
    os.chmod(name, stat.S_IRWXU, dir_fd=folder)
    return True
