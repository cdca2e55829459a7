import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "plugin_package"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path into which pip has installed the plug-in package."""
    folder = tmp_path_factory.mktemp("site")
    quiet = ("-q", "--disable-pip-version-check", "--no-cache-dir")
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "install", *quiet, *offline]
    subprocess.run([*command, "--target", str(folder), str(PACKAGE)], check=True, timeout=300)
    return folder
