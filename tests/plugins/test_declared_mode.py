"""A mode that a plug-in declares is treated like a built-in one, by what its `Mode` says."""

import json
from pathlib import Path

import pytest
from for_each import for_each
from packages_made import made_package
from program import Done, harness

from harness.agent.strategies.modes import LOOP, mode_named, remember_stored

CODE = """
from harness.agent.strategies.modes import Mode
from harness.agent.strategies.shots import best_of_k_public, single_shot

solve = best_of_k_public
bare = single_shot
DRAFTS = Mode(
    title="the two drafts",
    strategy="mine_drafts:solve",
    options=("best_of",),
    requests=lambda options: (2, 3 * options.best_of),
    own_parts=("draft",),
    hands_in="most_passed",
)
WRONG = Mode(title="wrong", strategy="mine_drafts:solve", options=("no_such_thing",))
EMPTY = Mode(title="empty")


def answer(problem):
    return "print(input())"
"""
TITLE = "the two drafts"
FLAGS = ("-b", "fixture", "-t", "dry-beds", "-m", "python:mine_drafts:answer")
NAMES = {"drafts": "DRAFTS", "bare": "bare", "wrong": "WRONG", "empty": "EMPTY"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the path with a package whose modes are `NAMES`."""
    folder = tmp_path_factory.mktemp("site")
    made_package(folder, "mine-drafts", {"harness.strategies": NAMES}, CODE)
    return folder


@pytest.fixture(scope="module")
def two_modes(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """A folder with a run of single shots and one of the declared mode."""
    folder = tmp_path_factory.mktemp("runs")
    for name, mode in (("shots", "single_shot"), ("drafts", "drafts")):
        done = _with(site, folder, "run", *FLAGS, "--mode", mode, "--out", name)
        assert done.returncode == 0, done.stderr
        assert (TITLE in done.stderr) is (mode == "drafts")
    return folder


def _with(site: Path, folder: Path, *arguments: str | Path) -> Done:
    return harness(folder, *arguments, PYTHONPATH=str(site), COLUMNS="200")


def _estimate(site: Path, folder: Path, mode: str, *flags: str) -> tuple[int, int]:
    asked = ("-b", "fixture", "-t", "dry-beds", "-m", "x", "--base-url", "http://127.0.0.1:9/v1")
    done = _with(site, folder, "run", *asked, "--mode", mode, *flags, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert (TITLE in done.stderr) is (mode != "bare")
    least, most = json.loads(done.stdout)["requests"]
    return least, most


def test_a_dry_run_names_the_mode_and_estimates_its_requests(tmp_path: Path, site: Path) -> None:
    assert _estimate(site, tmp_path, "drafts", "--best-of", "4") == (2, 12)
    assert _estimate(site, tmp_path, "mine_drafts:DRAFTS", "--best-of", "4") == (2, 12)
    assert _estimate(site, tmp_path, "bare", "--max-turns", "7") == (1, 7)


@for_each(
    "setting", [("--max-turns", "3"), ("--set max_tool_calls", "3"), ("--set report_tests", "2")]
)
def test_a_setting_that_the_mode_does_not_heed_is_refused(
    tmp_path: Path, site: Path, setting: tuple[str, str]
) -> None:
    words = "=".join(setting).split()
    done = _with(site, tmp_path, "run", *FLAGS, "--mode", "drafts", *words)
    assert done.returncode == 2
    assert f"{setting[0]} goes with --mode agentic" in done.stderr
    assert _with(site, tmp_path, "run", *FLAGS, "--mode", "bare", *words).returncode == 0


def test_the_limit_of_turns_is_what_the_mode_declares(two_modes: Path) -> None:
    manifest = json.loads((two_modes / "drafts" / "run.json").read_text())
    assert manifest["transcripts"]["sample"]["limits"]["turns"] == 15


@for_each("with_package", [True, False], ids=["installed", "gone"])
def test_a_comparison_and_a_report_name_the_mode_also_without_its_package(
    two_modes: Path, tmp_path: Path, site: Path, *, with_package: bool
) -> None:
    there = site if with_package else tmp_path
    compared = _with(there, tmp_path, "compare", two_modes / "shots", two_modes / "drafts")
    assert compared.returncode == 0, compared.stderr
    assert TITLE in compared.stdout
    page = tmp_path / "page.html"
    made = _with(
        there, tmp_path, "report", two_modes / "shots", two_modes / "drafts", "--out", page
    )
    assert made.returncode == 0, made.stderr
    assert TITLE in page.read_text()


def test_prompts_list_names_the_mode_and_its_templates(tmp_path: Path, site: Path) -> None:
    done = _with(site, tmp_path, "prompts", "list")
    assert done.returncode == 0, done.stderr
    assert f"{TITLE} (--mode drafts) also sends drafts/draft.j2" in done.stdout
    assert "bare" not in done.stdout


@for_each(
    ("mode", "words"), [("wrong", "'no_such_thing', which is no setting"), ("empty", "strategy=")]
)
def test_a_declaration_with_a_fault_is_refused_in_one_line(
    tmp_path: Path, site: Path, mode: str, words: str
) -> None:
    done = _with(site, tmp_path, "run", *FLAGS, "--mode", mode)
    assert done.returncode == 2
    assert words in done.stderr.splitlines()[-1]


def test_a_grid_drops_what_the_mode_does_not_heed(tmp_path: Path, site: Path) -> None:
    flags = ("--mode", "agentic", "--mode", "drafts", "--vary", "max_turns=3,4", "--out", "e")
    asked = ("-b", "fixture", "-t", "dry-beds", "-m", "x", "--base-url", "http://127.0.0.1:9/v1")
    done = _with(site, tmp_path, "experiment", *asked, *flags, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "3 variants" in done.stdout + done.stderr


def test_a_stored_declaration_changes_no_built_in_mode_and_no_odd_value_is_taken() -> None:
    remember_stored("agentic", {"title": "not this"})
    assert mode_named("agentic") is LOOP
    remember_stored("odd:one", {"title": 7, "single": "yes", "options": "x", "agent": "os:system"})
    odd = mode_named("odd:one")
    assert (odd.title, odd.single, odd.options, odd.agent) == ("odd:one", False, (), "")
