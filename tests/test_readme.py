"""The Python blocks of README and docs run as they stand, page by page."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from pages import PAGES, carried_out
from program import harness, results

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^\s*print\(.*\)  # (.*)$")
"""What a line prints stands in its comment."""


def blocks(page: Path) -> list[tuple[int, str]]:
    """Each with the line that it begins at."""
    text = page.read_text()
    return [(text[: each.start()].count("\n") + 2, each[1]) for each in BLOCK.finditer(text)]


def is_program(code: str) -> bool:
    """Whether it is a program by itself, with arguments of its own."""
    return "sys.argv" in code


WITH_BLOCKS = [page for page in PAGES if any(not is_program(code) for _, code in blocks(page))]


async def execute(code: str, place: str, names: dict[str, Any]) -> str:
    """Run a block, which may await; returns what it printed."""
    out = io.StringIO()
    compiled = compile(code, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(out):
        outcome = eval(compiled, names)
        if inspect.isawaitable(outcome):
            await outcome
    return out.getvalue()


def test_there_are_blocks() -> None:
    assert {page.name for page in WITH_BLOCKS} >= {"README.md", "library.md", "sandbox.md", "ci.md"}


@pytest.mark.parametrize("page", carried_out(WITH_BLOCKS))
def test_each_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    names: dict[str, Any] = {"__name__": "__main__"}

    async def all_of_them() -> None:
        for line, code in blocks(page):
            if is_program(code):
                continue
            printed = await execute(code, f"{page.name}:{line}", names)
            wanted = [match[1] for each in code.splitlines() if (match := SAID.search(each))]
            if wanted:
                assert printed.splitlines() == wanted, f"{page.name}:{line}"

    asyncio.run(all_of_them())
    if page.name == "sandbox.md":
        execution, output = names["execution"], names["output"]
        assert (execution.value, output["passed"]) == (3, True)


def test_each_program_works_as_an_agent(tmp_path: Path) -> None:
    programs = [code for page in PAGES for _, code in blocks(page) if is_program(code)]
    assert programs
    for number, code in enumerate(programs):
        (tmp_path / "agent.py").write_text(code)
        agent = f"{shlex.quote(sys.executable)} {tmp_path / 'agent.py'} {{mcp_config}}"
        flags = ["--set", "agent_without_namespace=true", "-n", "1", "--out", f"r{number}"]
        done = harness(tmp_path, "run", "--agent-command", agent, *flags)
        assert done.returncode == 0, done.stderr
        (result,) = results(tmp_path / f"r{number}")
        assert (result["tool_calls"], result["written"]) == (3, 1)
