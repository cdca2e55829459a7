"""The recipes of CONTRIBUTING.md, carried out as written."""

import asyncio
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
    found = CODE.search(PAGE.partition(f"\n## {heading}\n")[2])
    assert found, heading
    return found[1]


def ruff(*arguments: str, text: str) -> None:
    """Check a text as a new module of `tools/`."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        *arguments,
        "--stdin-filename",
        "tools/count_lines.py",
        "-",
    ]
    done = subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="no ruff"
)
def test_the_recipe_of_a_tool_passes_ruff() -> None:
    ruff("check", text=recipe("A new tool"))
    ruff("format", "--check", text=recipe("A new tool"))


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
