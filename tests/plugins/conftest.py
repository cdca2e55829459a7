import subprocess
import sys
from pathlib import Path

import pytest
from made_once import made_once

PACKAGE = Path(__file__).parents[1] / "plugin_package"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path into which pip has installed the plug-in package."""
    return made_once(tmp_path_factory, "plug-in-site", _install)


def _install(folder: Path) -> None:
    quiet = ("-q", "--disable-pip-version-check", "--no-cache-dir")
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "install", *quiet, *offline]
    subprocess.run([*command, "--target", str(folder), str(PACKAGE)], check=True, timeout=300)
