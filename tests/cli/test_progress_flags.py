"""`--quiet` and `--no-progress`: what is said beside the answer, and where the flags are."""

import re
from pathlib import Path

import pytest
import typer
from program import harness
from typer.main import get_command
from written import link_written

from harness.cli.app import app
from harness.registry import COMMANDS

GROUP = get_command(app)
FOLDER = Path(__file__).parents[2] / "harness" / "features"
SHOWS = re.compile(r"^from harness\.terminal\.(run_)?progress import", re.MULTILINE)


@pytest.fixture
def played(tmp_path: Path) -> list[str]:
    return ["run", *link_written(tmp_path), "-n", "2", "--out", "r"]


def test_a_run_shows_progress_and_notices_without_the_flags(
    played: list[str], tmp_path: Path
) -> None:
    done = harness(tmp_path, *played)
    assert (done.returncode, "[2/2]" in done.stderr) == (0, True)


def test_quiet_leaves_the_answer(played: list[str], tmp_path: Path) -> None:
    done = harness(tmp_path, *played, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert "solved  50.0 %" in done.stdout


def test_quiet_leaves_errors(played: list[str], tmp_path: Path) -> None:
    done = harness(tmp_path, *played, "--quiet", "--fail-under", "1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "--fail-under 100.0 %: missed" in line


def test_no_progress_leaves_notices(played: list[str], tmp_path: Path) -> None:
    loud = harness(tmp_path, *played[:-1], "loud").stderr.splitlines()
    still = harness(tmp_path, *played, "--no-progress").stderr.splitlines()
    assert still == [line for line in loud if not line.startswith("[")]
    assert still


def test_a_judge_says_what_was_asked_for(tmp_path: Path) -> None:
    judged = ("verify", "fixture", "-n", "1", "--fresh")
    loud, still, quiet = (
        harness(tmp_path, *judged, *flags).stderr for flags in ((), ["--no-progress"], ["-q"])
    )
    notice = [line for line in loud.splitlines() if not line.startswith("[")]
    assert (len(notice), "[2/2]" in loud) == (1, True)
    assert (still.splitlines(), quiet) == (notice, "")


def test_each_command_that_shows_progress_has_the_flags() -> None:
    for command in COMMANDS:
        module = command.target.partition(":")[0]
        path = FOLDER.parents[1].joinpath(*module.split(".")).with_suffix(".py")
        if not SHOWS.search(path.read_text()):
            continue
        given = GROUP.get_command(typer.Context(GROUP), command.name)  # type: ignore[attr-defined]
        inner = [*getattr(given, "commands", {}).values()]
        flags = [{name for each in one.params for name in each.opts} for one in (given, *inner)]
        assert any({"-q", "--quiet", "--no-progress"} <= each for each in flags), command.name
