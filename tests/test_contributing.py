"""The recipes of CONTRIBUTING.md, carried out as written."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT
from program import harness, results

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipe(heading: str) -> str:
    """Return the first Python block below a heading."""
    match = CODE.search(PAGE.partition(f"\n## {heading}\n")[2])
    assert match, heading
    return match[1]


def ruff(*arguments: str, text: str, name: str) -> None:
    """Check a text as a new module."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        *arguments,
        "--stdin-filename",
        name,
        "-",
    ]
    done = subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="no ruff"
)
@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("A new tool", "tools/count_lines.py"),
        ("A new problem source", "harness/sources/mine.py"),
        ("A new feature", "harness/features/info/count.py"),
    ],
)
def test_the_module_of_a_recipe_passes_ruff(heading: str, name: str) -> None:
    ruff("check", text=recipe(heading), name=name)
    ruff("format", "--check", text=recipe(heading), name=name)


def test_the_recipe_of_a_tool_asks_for_a_solution_first() -> None:
    from harness.tools.toolbox import ToolError

    names: dict[str, Any] = {}
    exec(compile(recipe("A new tool"), "CONTRIBUTING.md", "exec"), names)
    tool = names["CountLines"]()

    class Empty:
        latest = None

    with pytest.raises(ToolError, match="write_solution"):
        asyncio.run(tool.call(Empty(), tool.arguments()))


def test_the_recipe_of_a_tool_works_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "count_lines.py").write_text(recipe("A new tool") + "\n\ntool = CountLines()\n")
    flags = ["--tool", "count_lines:tool", "-t", "fixture/long-words", "--out", "r"]
    done = harness(tmp_path, "run", "--agentic-mode", *flags)
    assert done.returncode == 0, done.stderr
    assert [result["verdict"] for result in results(tmp_path / "r")] == ["accepted"]
    assert "count_lines" in (tmp_path / "r" / "run.json").read_text()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with a source, a setting and a feature, as the recipes say."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "harness", folder / "harness", symlinks=True)
    for name in ("tools", "prompts", "fixtures"):
        (folder / name).symlink_to(ROOT / name)
    package = folder / "harness"
    (package / "sources" / "mine.py").write_text(recipe("A new problem source"))
    count = package / "features" / "count"
    count.mkdir()
    (count / "__init__.py").write_text('"""Counting."""\n')
    (count / "command.py").write_text(recipe("A new feature"))
    loaders = "LOADERS: Mapping[str, str] = {\n"
    add(package / "registry.py", loaders, line_of("LOADERS"))
    add(package / "registry.py", "for name, target, text, panel in (\n", line_of("COMMANDS"))
    group, _, field = recipe("A new setting").partition(":\n")
    module = package / "run" / "settings" / "mode_settings.py"
    described = f'{group}:\n    """How a solution is sought, and what one sample may use."""\n\n'
    add(module, described, field)
    return folder


def line_of(table: str) -> str:
    """Return the line for a table that the page shows."""
    match = re.search(rf"in `{table}` of `[^`]*`[:,]\s`([^`]*)`", PAGE)
    assert match, table
    return f"{match[1]},\n"


def add(module: Path, after: str, text: str) -> None:
    """Insert a text after a piece of a module that occurs once."""
    before = module.read_text()
    assert before.count(after) == 1, module
    module.write_text(before.replace(after, after + text))


def in_the_copy(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )


ROW = {"id": "echo", "statement": "Print the input.", "tests": [["1", "1"], ["2", "2"]]}


@pytest.mark.thorough
def test_the_recipe_of_a_source_is_a_benchmark_of_a_run(copy: Path) -> None:
    (copy / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (copy / "solver.py").write_text("def solve(problem): return 'print(input())'\n")
    flags = ["-b", "mine:rows.jsonl", "-m", "python:solver:solve", "--out", "r"]
    done = in_the_copy(copy, "run", *flags)
    assert done.returncode == 0, done.stderr
    assert [result["verdict"] for result in results(copy / "r")] == ["accepted"]


@pytest.mark.thorough
def test_the_recipe_of_a_source_names_a_missing_column(copy: Path) -> None:
    (copy / "bad.jsonl").write_text('{"id": "echo"}\n')
    done = in_the_copy(copy, "problems", "-b", "mine:bad.jsonl")
    assert done.returncode == 2
    assert "statement" in done.stderr


@pytest.mark.thorough
def test_the_recipe_of_a_feature_is_a_command(copy: Path) -> None:
    rows = (ROOT / "fixtures" / "problems.jsonl").read_text().splitlines()
    done = in_the_copy(copy, "count")
    assert (done.returncode, done.stdout) == (0, f"{len(rows)}\n"), done.stderr


@pytest.mark.thorough
def test_the_recipe_of_a_setting_is_a_flag_that_other_modes_refuse(copy: Path) -> None:
    assert "--patience" in in_the_copy(copy, "run", "--help-all").stdout
    refused = in_the_copy(copy, "run", "--mode", "single_shot", "--patience", "2")
    assert refused.returncode == 2
    assert "--patience" in refused.stderr
    done = in_the_copy(copy, "run", "--agentic-mode", "--patience", "2", "-n", "1", "--out", "s")
    assert done.returncode == 0, done.stderr
    assert json.loads((copy / "s" / "run.json").read_text())["spec"]["patience"] == 2
