"""Imports run one way through the house, and nothing heavy is imported before it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = (
    *("problem", "sandbox", "grading", "tools", "agent", "runs"),
    *("report", "exports", "view", "api", "cli"),
)
LEAVES = ("sources", "models", "stats")
FREE = {"closing", "errors", "plugins", "version", "__init__", "__main__", ""}
HEAVY = ("openai", "anthropic", "datasets", "scipy", "numpy", "pandas", "yaml", "pytest", "ray")


def _room(module: str) -> str:
    return [*module.split("."), ""][1]


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {_room(name) for name in found if name.split(".")[0] == "harness"} - FREE


def _files() -> list[Path]:
    return [
        path
        for folder in ("harness", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "__pycache__" not in path.parts
    ]


@pytest.mark.parametrize("path", _files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downward(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    room = parts[0] if parts[0] == "tools" else parts[1]
    used = _imports(path) - {room}
    if room in FREE - {"__init__", "__main__"}:
        assert not used, used
    elif room in LEAVES:
        assert used <= {"problem"}, used
    elif room in ORDER:
        leaves = LEAVES if ORDER.index(room) >= ORDER.index("tools") else ()
        leaves = ("stats",) if room == "grading" else leaves  # how fast a solution is, is a figure
        below = {*ORDER[: ORDER.index(room)], *leaves}
        assert used <= below, used - below


@pytest.mark.parametrize("command", ["--help", "run --help", "compare --help"])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        "import sys, runpy\n"
        f"sys.argv = ['harness', *{command.split()!r}]\n"
        "try: runpy.run_module('harness', run_name='__main__')\n"
        "except SystemExit: pass\n"
        f"print([n for n in {HEAVY!r} + ('harness.runs', 'harness.agent') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_file_is_too_long_for_one_sitting() -> None:
    long = {str(path): n for path in _files() if (n := len(path.read_text().splitlines())) > 350}
    assert not long
