"""README's shell blocks: every command is one that there is, and what needs nobody else runs."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from program import harness
from typer.main import get_command

from harness.cli.app import app

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A provider, a data set, an address, a name that stands for the reader's own, or a server.
ELSEWHERE = (
    *("gpt-", "qwen", "claude", "livecodebench", "apps", "mercury", "leetcodedataset", "http"),
    *("DIR", "ID", "s1", "nightly", "release", "mine", "toy", "grid.yaml", "HOST", "--resume"),
    *("o1_eval", "view", "mcp", "solutions.jsonl", "inspect", "$", "AGENT", "regrade"),
    *("runs/grid", "runs/offline", "--efficiency"),  # made of such, or long and tried in tests/cli
)
COMMAND: Any = get_command(app)
DONE = {0, 1}  # one is a threshold that was missed, or a regression


def commands() -> list[list[str]]:
    """Each command line of ours, as words: without what follows a pipe or goes into a file."""
    found: list[list[str]] = []
    for block in BLOCK.findall((ROOT / "README.md").read_text()):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            ends = (place for place, word in enumerate(words) if word in {"|", ">", ">>", "&"})
            words = words[: next(ends, len(words))]
            if words[:1] == ["harness"]:
                found.append(words[1:])
    return found


def parameters(words: list[str]) -> Iterator[str]:
    """The flags that a command line's command has."""
    command = COMMAND
    rest = iter(words)
    while hasattr(command, "commands"):  # a group
        word = next(rest, "")
        if word.startswith("-") or not word:
            break
        assert word in command.commands, f"there is no command {word}: {words}"
        command = command.commands[word]
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    yield from ("-h", "--help")


def expanded(words: list[str], folder: Path) -> Iterator[str]:
    """As a shell does with a star."""
    for word in words:
        found = sorted(folder.glob(word)) if "*" in word else ()
        yield from (str(path.relative_to(folder)) for path in found) if found else (word,)


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_flag_is_one_that_there_is(words: list[str]) -> None:
    known = set(parameters(words))
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    if "--agent-command" not in flags:
        assert not set(flags) - known


def test_a_command_without_its_path_is_found_after_what_stands_before_it(tmp_path: Path) -> None:
    """The lines up to the first bare `harness`, typed where there is such an environment."""
    text = "".join(BLOCK.findall((ROOT / "README.md").read_text()))
    before, found, _ = text.partition("\nharness ")
    assert found
    assert "python3 -m venv .venv && .venv/bin/pip install" in before
    if not (Path(sys.prefix) / "bin" / "activate").exists():
        pytest.skip("the tests run in no virtual environment")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    lines = [line for line in before.splitlines() if not line.startswith("python3 -m venv")]
    script = "\n".join([*lines, "command -v harness"])
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == Path(sys.prefix) / "bin" / "harness"


def test_what_needs_nobody_else_runs_from_top_to_bottom(tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    ran: list[str] = []
    for words in commands():
        line = " ".join(words)
        if any(word in line for word in ELSEWHERE):
            continue
        if "r" in words and not (tmp_path / "r").exists():  # as a run is called in most places
            shutil.copytree(tmp_path / "runs" / "agentic", tmp_path / "r")
        done = harness(tmp_path, *expanded(words, tmp_path))
        assert done.returncode in DONE, f"{line}\n{done.stderr}"
        ran.append(line)
    assert len(ran) >= 15, ran
