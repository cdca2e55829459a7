"""`.ci/run` runs all tests; the command of the README leaves out the thorough half."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from pages import README, ROOT

TESTS = """
import pytest

def test_quick() -> None: ...

@pytest.mark.thorough
def test_thorough() -> None: ...
"""


def options_of_ci() -> str:
    """Return the options that `.ci/run` adds to those of pyproject.toml."""
    (options,) = re.findall(
        r'^export PYTEST_ADDOPTS="(.*)"$', (ROOT / ".ci" / "run").read_text(), re.MULTILINE
    )
    return options


def collected(folder: Path, *arguments: str, **environment: str) -> set[str]:
    """Return the names of the tests that pytest would run with the options of pyproject.toml."""
    (folder / "test_halves.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", folder]
    slow = ("-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:anyio")
    done = subprocess.run(
        [*command, *slow, "--collect-only", *arguments, folder],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"::(\w+)", done.stdout))


def arguments_of_the_readme() -> list[str]:
    """Return the arguments of pytest in the README's command, without the number of processes."""
    (command,) = re.findall(r"^python3 -m venv .*/pytest (.*)$", README.read_text(), re.MULTILINE)
    return [word for word in shlex.split(command) if word not in {"-n", "auto"}]


def test_the_command_of_the_readme_runs_the_quick_half(tmp_path: Path) -> None:
    test_names = collected(tmp_path, *arguments_of_the_readme(), PYTEST_ADDOPTS="")
    assert test_names == {"test_quick"}


def test_ci_runs_both_halves(tmp_path: Path) -> None:
    arguments = arguments_of_the_readme()
    test_names = collected(tmp_path, *arguments, PYTEST_ADDOPTS=options_of_ci())
    assert test_names == {"test_quick", "test_thorough"}
