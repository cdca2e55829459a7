"""What another user of the machine may read: tests that become one need their files there."""

import stat
from pathlib import Path

import pydantic
import pytest

import harness

ROOT = Path(harness.__file__).parents[1]
PACKAGES = Path(pydantic.__file__).parents[1]


def readable_by_all(path: Path) -> bool:
    """Whether any user may read a file, or a folder."""
    real = path.resolve()
    return bool(real.stat().st_mode & stat.S_IROTH) and all(
        parent.stat().st_mode & stat.S_IXOTH for parent in real.parents
    )


def skip_unless_readable_by_all() -> None:
    """Skip the test if another user cannot import the package: a clone in a closed folder."""
    if not (readable_by_all(PACKAGES) and readable_by_all(ROOT)):
        pytest.skip("the packages or the checkout can be read by their owner alone")
