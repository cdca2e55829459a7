"""Shell blocks of README and docs: every flag exists, and what needs nobody else runs."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from for_each import for_each
from pages import PAGES, README, ROOT, carried_out
from program import harness
from typer.main import get_command

from harness.cli.app import app
from harness.sources.benchmarks import parse_spec

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A provider, a data set, an address, a name that stands for the reader's own, or a server.
ELSEWHERE = (
    *(
        "gpt-",
        "GPT4-",
        "qwen",
        "claude",
        "MODEL",
        "eval-results",
        "livecodebench",
        "apps",
        "mercury",
        "leetcodedataset",
        "icpc:",
        "--install-completion",  # which changes the user's shell
    ),
    "http",
    *("DIR", "ID", "s1", "nightly", "release", "mine", "toy", "grid.yaml", "HOST", "--resume"),
    *("o1_eval", "view", "mcp", "serve", "solutions.jsonl", "inspect", "$", "AGENT", "grade r"),
    # made of such, or long and tried in tests/cli
    *("runs/grid", "runs/offline", "runs/now", "plain exit", "--efficiency"),
)
COMMAND: Any = get_command(app)
FEW = {"HARNESS_SAMPLE_SIZE": "10"}
"""For commands that do not say how many problems. The pages name samples of the first ten, and a
later one takes 14 s of CPU to exceed its limit."""
DONE = {0, 1}  # one is a threshold that was missed, or a regression


def commands(page: Path) -> list[list[str]]:
    """Each command line of harness, as words: without what follows a pipe or goes into a file."""
    command_lines: list[list[str]] = []
    for block in BLOCK.findall(page.read_text()):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            ends = (place for place, word in enumerate(words) if word in {"|", ">", ">>", "&"})
            words = words[: next(ends, len(words))]
            if words[:1] == ["harness"]:
                command_lines.append(words[1:])
    return command_lines


def parameters(words: list[str]) -> Iterator[str]:
    """The flags that a command line's command has."""
    command = COMMAND
    rest = iter(words)
    while hasattr(command, "list_commands"):  # a group
        word = next(rest, "")
        if word.startswith("-") or not word:
            break
        subcommand = command.get_command(typer.Context(command), word)
        assert subcommand is not None, f"there is no command {word}: {words}"
        command = subcommand
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    yield from ("-h", "--help")


def expanded(words: list[str], folder: Path) -> Iterator[str]:
    """As a shell does with a star."""
    for word in words:
        paths = sorted(folder.glob(word)) if "*" in word else ()
        yield from (str(path.relative_to(folder)) for path in paths) if paths else (word,)


ALL = {" ".join(words): words for page in PAGES for words in commands(page)}


@for_each("words", ALL.values(), ids=ALL)
def test_every_flag_is_one_that_there_is(words: list[str]) -> None:
    known = set(parameters(words))
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    if "--agent-command" not in flags:
        assert not set(flags) - known


@for_each("words", ALL.values(), ids=ALL)
def test_every_benchmark_is_one_that_there_is(words: list[str]) -> None:
    for flag, value in pairwise(words):
        if flag in {"-b", "--benchmark", "--problems"} and value != "toy:3":
            parse_spec(value)


def test_a_command_without_its_path_is_found_after_what_stands_before_it(tmp_path: Path) -> None:
    """The lines up to the first bare `harness`, typed where there is such an environment."""
    text = "".join(BLOCK.findall(README.read_text()))
    before, separator, _ = text.partition("\nharness ")
    assert separator
    assert "python3 -m venv .venv && .venv/bin/pip install" in before
    if not (Path(sys.prefix) / "bin" / "activate").exists():
        pytest.skip("the tests run in no virtual environment")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    elsewhere = ("python3 -m venv", ".venv/bin/harness experiment")  # needs a model of the reader's
    lines = [line for line in before.splitlines() if not line.startswith(elsewhere)]
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


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two runs that the README's tour makes."""
    folder = tmp_path_factory.mktemp("runs")
    for name, mode in (("agentic", "agentic"), ("single", "single_shot")):
        done = harness(folder, "run", "--mode", mode, "--out", f"runs/{name}", **FEW)
        assert done.returncode == 0, done.stderr
    return folder / "runs"


def run_here(words: list[str]) -> bool:
    """Whether a command needs nothing but the bundled problems."""
    return not any(word in " ".join(words) for word in ELSEWHERE)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "page", carried_out(page for page in PAGES if any(map(run_here, commands(page))))
)
def test_what_needs_nobody_else_runs_from_top_to_bottom(
    page: Path, two_runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    if page != README:  # other pages take the tour's runs for granted; `r` is one of them
        shutil.copytree(two_runs, tmp_path / "runs")
        shutil.copytree(two_runs / "agentic", tmp_path / "r")
    for words in filter(run_here, commands(page)):
        done = harness(tmp_path, *expanded(words, tmp_path), **FEW)
        assert done.returncode in DONE, f"{' '.join(words)}\n{done.stderr}"


def test_most_of_the_readme_runs_here() -> None:
    assert sum(map(run_here, commands(README))) >= 10
