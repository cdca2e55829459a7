"""Where `--out` cannot be used, a command says so in one line, before anything else."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from for_each import for_each
from other_user import skip_unless_readable_by_all
from program import Done, harness, harness_after

BECOME_ANOTHER = "import os\nif os.geteuid() == 0: os.seteuid(65534)\n"
"""Permissions apply to that user."""
COMMANDS = {
    "run": ("run", "-n", "1"),
    "experiment": ("experiment", "-n", "1"),
    "import of solutions": ("import", "solutions.jsonl", "--problems", "fixture"),
    "import of agent runs": ("import", "agent.jsonl", "--problems", "fixture"),
    "regrade": ("grade", "r"),
}


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A folder that other users may read, with a run and files to import."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        done = harness(folder, "run", "-n", "2", "--out", "r")
        assert done.returncode == 0, done.stderr
        (problem, *_) = json.loads((folder / "r" / "run.json").read_text())["problems"]
        names = [problem, "no/such"]  # the second one would be told of
        rows = [{"problem_id": name, "code": "print(1)", "passed": True} for name in names]
        (folder / "solutions.jsonl").write_text("\n".join(map(json.dumps, rows)))
        calls = [{"function": {"name": "write_solution", "arguments": '{"code": "print(1)"}'}}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        rows = [{"problem_id": name, "messages": [message]} for name in names]
        (folder / "agent.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (folder / "file").write_text("x")
        (folder / "full").mkdir()
        (folder / "full" / "own.txt").write_text("x")
        for each in (folder, *folder.rglob("*")):
            each.chmod(0o755 if each.is_dir() else 0o644)
        yield folder


def _only_line(done: Done) -> str:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@for_each("command", COMMANDS.values(), ids=COMMANDS)
@for_each(
    ("out", "why"),
    [
        ("file/below", "file/below: {what} cannot be kept there (Not a directory); choose another"),
        ("full", "full exists and is not an "),
        ("r", "another --out"),
    ],
)
def test_an_out_that_is_taken_is_all_that_is_told(
    made: Path, command: tuple[str, ...], out: str, why: str
) -> None:
    if command[0] == "run" and out == "r":  # it would go on there
        command = (*command, "--mode", "agentic")
    before = sorted(made.rglob("*"))
    line = _only_line(harness(made, *command, "--out", out))
    what = "an experiment" if command[0] == "experiment" else "a run"
    assert why.format(what=what) in line
    assert sorted(made.rglob("*")) == before


@for_each("command", COMMANDS.values(), ids=COMMANDS)
def test_an_out_that_cannot_be_written_is_all_that_is_told(
    made: Path, command: tuple[str, ...]
) -> None:
    skip_unless_readable_by_all()
    made.chmod(0o555)
    try:
        line = _only_line(harness_after(BECOME_ANOTHER, made, *command, "--out", "new"))
    finally:
        made.chmod(0o755)
    assert "cannot be kept there (permission denied for user " in line
    assert line.endswith("choose another --out")


@for_each("command", ["run", "regrade", "import"])
def test_a_run_that_has_begun_and_cannot_be_written_is_all_that_is_told(
    made: Path, command: str
) -> None:
    skip_unless_readable_by_all()
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(made, Path(place) / "there"))
        given = {
            "run": (*COMMANDS["run"], "--out", "r"),
            "regrade": (*COMMANDS["regrade"], "--out", "r-again"),
            "import": (*COMMANDS["import of agent runs"], "--out", "imported"),
        }[command]
        harness(folder, *given)
        for each in (Path(place), folder, *folder.rglob("*")):
            each.chmod(0o555 if each.is_dir() else 0o444)
        line = _only_line(harness_after(BECOME_ANOTHER, folder, *given))
        for each in (folder, *folder.rglob("*")):
            each.chmod(0o755)
    assert f"{given[-1]}: a run cannot be kept there (permission denied for user " in line
