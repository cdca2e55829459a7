"""Imports run one way, features stand alone, and nothing heavy is imported before it is used."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ORDER = (
    {
        "errors",
        "excerpts",
        "version",
        "text",
        "markdown",
        "cache",
        "closing",
        "problem",
        "python_source",
        "stats",
        "yaml_text",
    },
    {"figures", "http_server"},
    {"languages"},
    {"registry"},
    {"plugins"},
    {"models", "sources", "sandbox"},
    {"grading"},
    {"efficiency", "tools"},
    {"agent"},
    {"run"},
    {"terminal", "cli"},
    {"features"},
)
"""The core, lowest first: a part imports those of earlier lines, and itself."""

WITHIN_RUN = (
    {"settings"},
    {"store"},
    {"reporter", "observer", "summary", "plan"},
    {"session"},
    {"engine"},
)
"""The same inside `harness/run`; parts of one line may import each other."""

BETWEEN_FEATURES = {
    ("evaluate", "observers"),
    ("experiment", "compare"),
    ("experiment", "observers"),
    ("experiment", "show"),
    ("export", "show"),
    ("import_", "grade"),
    ("import_", "show"),
    ("regrade", "show"),
    ("report", "compare"),
    ("report", "experiment"),
    ("storage", "show"),
    ("training", "episode"),
    ("training", "grade"),
    ("viewer", "compare"),
    ("viewer", "experiment"),
    ("viewer", "report"),
}
"""Which feature imports which."""

EXCEPTIONS: set[tuple[str, str]] = set()
"""Imports that break a rule: to be removed, never to be added to."""

MOST_FILES = 20
"""Modules in a folder, without `__init__.py`."""

HEAVY = ("openai", "anthropic", "datasets", "scipy", "numpy", "pandas", "yaml", "pytest", "ray")
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
CONSTANTS_BELOW = (
    "harness.features.compare",
    "harness.features.experiment",
    "harness.features.report",
    "harness.features.viewer",
    "harness.grading",
    "harness.sandbox",
    "harness.stats",
)
"""Packages whose constants do not all stand at the top yet: to be removed, never to be added to."""


@cache
def _modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for top in ("harness", "tools"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "__pycache__" not in parts and parts[:2] not in {
                ("harness", "tools"),
                ("harness", "prompts"),
                ("harness", "fixtures"),
            }:
                name = ".".join(("harness", *parts) if top == "tools" else parts)
                found[name.removesuffix(".__init__")] = path
    return found


@cache
def _imports() -> dict[str, set[str]]:
    """Module -> modules of ours that it imports, anywhere in it."""
    modules = _modules()
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        used: set[str] = set()
        tree = ast.parse(path.read_text())
        for node in [*ast.walk(tree)]:  # what is imported for type checkers alone does not count
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body.clear()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                each = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {full if full in modules else node.module for full in each}
        inner = {f"harness.sandbox.{each}" for each in used if each.split(".")[0] == "inside"}
        found[name] = {each for each in used | inner if each in modules} - {name}
    return found


def _part(module: str) -> str:
    return module.split(".")[1]


def _rank(part: str) -> int:
    return next(rank for rank, parts in enumerate(ORDER) if part in parts)


def _arrows() -> list[tuple[str, str]]:
    return [
        (name, used)
        for name, all_used in _imports().items()
        for used in all_used
        if name.count(".") and used.count(".")
    ]


def _wrong_way() -> set[tuple[str, str]]:
    return {
        (name, used)
        for name, used in _arrows()
        if (one := _part(name)) != (other := _part(used))
        and {one, other}.isdisjoint({"__main__"})
        and _rank(one) <= _rank(other)
    }


def _wrong_within_run() -> set[tuple[str, str]]:
    place = {part: rank for rank, parts in enumerate(WITHIN_RUN) for part in parts}
    return {
        (name, used)
        for name, used in _arrows()
        if name.startswith("harness.run.") and used.startswith("harness.run.")
        if place[name.split(".")[2]] < place[used.split(".")[2]]
    }


def _wrong_between_features() -> set[tuple[str, str]]:
    pairs = [
        (name, used)
        for name, used in _arrows()
        if _part(name) == _part(used) == "features" and min(name.count("."), used.count(".")) > 1
    ]
    return {
        (name, used)
        for name, used in pairs
        if (one := name.split(".")[2]) != (other := used.split(".")[2])
        and (one, other) not in BETWEEN_FEATURES
    }


def _cycles() -> list[set[str]]:
    """Modules that lead back to themselves (Tarjan's strongly connected components)."""
    graph = _imports()
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for used in graph[name]:
            if used not in number:
                visit(used)
                lowest[name] = min(lowest[name], lowest[used])
            elif used in stack:
                lowest[name] = min(lowest[name], number[used])
        if lowest[name] == number[name]:
            place = stack.index(name)
            group = set(stack[place:])
            del stack[place:]
            if len(group) > 1:
                found.append(group)

    for name in graph:
        if name not in number:
            visit(name)
    return found


def test_imports_run_one_way() -> None:
    assert _wrong_way() | _wrong_within_run() | _wrong_between_features() == EXCEPTIONS


def test_no_import_leads_back() -> None:
    assert _cycles() == []


def _constants_below(tree: ast.Module) -> list[str]:
    """Constants after the first function or class, but for those that need one of these."""
    below: set[str] = set()
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            below.add(node.name)
        elif below:
            names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
            made = {each.id for each in names if isinstance(each.ctx, ast.Store)}
            constant = isinstance(node, ast.Assign | ast.AnnAssign) and made
            if constant and all(map(CONSTANT.fullmatch, made)) and not _used(names) & below:
                found += sorted(made)
            else:
                below |= made
    return found


def _used(names: list[ast.Name]) -> set[str]:
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def test_constants_stand_above_functions_and_classes() -> None:
    below = {
        name: _constants_below(ast.parse(path.read_text()))
        for name, path in _modules().items()
        if not name.startswith(CONSTANTS_BELOW)
    }
    assert {name: constants for name, constants in below.items() if constants} == {}


def test_a_folder_can_be_looked_through() -> None:
    files = Counter(
        path.parent for name, path in _modules().items() if path.name != "__init__.py" and name
    )
    assert {str(path): count for path, count in files.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize("command", ["--help", "run --help", "compare --help", "models --help"])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        "import sys, runpy\n"
        f"sys.argv = ['harness', *{command.split()!r}]\n"
        "try: runpy.run_module('harness', run_name='__main__')\n"
        "except SystemExit: pass\n"
        f"print([n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "[]"
