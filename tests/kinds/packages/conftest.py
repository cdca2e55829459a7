"""Packages in a test's own folder."""

from pathlib import Path

import pytest
from contest_packages import Package, write_package


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Writes a package of the given settings and further files."""

    def write(
        settings: str = "name: Parts\n",
        more: dict[str, str] | None = None,
        *,
        folder: str = "parts",
    ) -> Path:
        return write_package(tmp_path / folder, settings, more)

    return write
