"""`harness rm`: what is deleted, what is asked first, and what is refused."""

import os
from pathlib import Path

import pytest
from imported import Command
from program import Done, environment, harness, the_one_imported
from runs_made import result, write_run

from harness.run.store.results import ResultsFile


@pytest.fixture
def two_runs(tmp_path: Path) -> Path:
    """Two runs, one of them with a link to a file outside of it."""
    for name in ("one", "two"):
        write_run(tmp_path / name, [result("p/0")])
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "one" / "link").symlink_to(tmp_path / "kept.txt")
    return tmp_path


def line(done: Done) -> str:
    assert done.returncode == 2, done.stderr
    (only,) = done.stderr.strip().splitlines()
    return only


def asked(folder: Path, answer: str) -> Done:
    """Delete both runs on a terminal, where the question gets this answer."""
    master, slave = os.openpty()
    os.write(master, answer.encode())
    command = Command(str(folder), ["rm", "one", "two"], environment())
    try:
        return Done(command.arguments, *the_one_imported().begin(command, slave).finish(60))
    finally:
        os.close(master)
        os.close(slave)


def test_runs_are_deleted_without_a_question_and_links_are_not_followed(two_runs: Path) -> None:
    done = harness(two_runs, "rm", "one", "two", "--yes")
    assert (done.returncode, done.stdout) == (0, "deleted one\ndeleted two\n")
    assert [path.name for path in two_runs.iterdir()] == ["kept.txt"]


def test_without_a_terminal_nothing_is_deleted_unless_that_is_said(two_runs: Path) -> None:
    done = harness(two_runs, "rm", "one")
    assert "rm asks first, and there is no terminal; give --yes" in line(done)
    assert (two_runs / "one" / "run.json").exists()


@pytest.mark.parametrize(("answer", "left"), [("y\n", False), ("\n", True), ("no\n", True)])
def test_a_terminal_is_asked(two_runs: Path, answer: str, left: bool) -> None:
    done = asked(two_runs, answer)
    assert done.returncode == 0, done.stderr
    assert "Delete 2 runs? [y/N]" in done.stdout
    assert "nothing is deleted" in done.stdout if left else "deleted two" in done.stdout
    assert [(two_runs / name).exists() for name in ("one", "two")] == [left, left]


def test_a_run_in_use_is_refused_with_all_others(two_runs: Path) -> None:
    at_work = ResultsFile(two_runs / "two" / "results.jsonl")
    try:
        done = harness(two_runs, "rm", "one", "two", "--yes")
    finally:
        at_work.close()
    assert "two: A process is at work on it: stop that first." in line(done)
    assert (two_runs / "one").exists()
    assert harness(two_runs, "rm", "one", "two", "--yes").returncode == 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "nothing: no such run"),
        ("linked", "linked: It is a link."),
        (".", "is not a run: it has no run.json; it holds runs, such as"),
        ("one/run.json", "is a file of a run; give its directory, one"),
    ],
)
def test_what_is_no_run_is_refused(two_runs: Path, name: str, why: str) -> None:
    (two_runs / "linked").symlink_to(two_runs / "one")
    assert why in line(harness(two_runs, "rm", name, "--yes"))
    assert (two_runs / "one" / "run.json").exists()


def test_a_run_whose_manifest_cannot_be_read_is_deleted(two_runs: Path) -> None:
    (two_runs / "one" / "run.json").write_text("{")
    assert harness(two_runs, "rm", "one", "--yes").returncode == 0
    assert not (two_runs / "one").exists()
