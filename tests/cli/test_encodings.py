"""Terminals that cannot show every character."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each
from program import Done, bytes_of, harness

LATIN = "iso-8859-1"
TITLE = "Ein längerer Titel, mit „Zeichen“, die nicht jeder Zeichensatz hat: 漢字 😀"


@pytest.fixture(scope="module")
def titled_runs(written_runs: Callable[..., Path]) -> Path:
    """Two runs that differ at a problem whose title is long and not ASCII, and an experiment."""
    folder = written_runs("agentic", "single")
    for name in ("agentic", "single"):
        path = folder / name / "results.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        lines = [json.dumps(row | {"title": TITLE}, ensure_ascii=False) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines))
    return folder


def shown(folder: Path, encoding: str, *arguments: str) -> Done:
    """Run a command on outputs of an encoding."""
    return harness(folder, *arguments, PYTHONIOENCODING=encoding, COLUMNS="80")


@for_each("encoding", ["ascii", LATIN])
@for_each(
    "command",
    [
        ("compare", "single", "agentic"),
        ("compare", "single", "agentic", "--details"),
        ("ls", "."),
        ("show", "agentic"),
        ("transcript", "agentic", "fixture/beacon-schedules#0"),
        ("nonsense…",),
    ],
)
def test_a_screen_fits_a_terminal_that_is_not_utf_8(
    titled_runs: Path, encoding: str, command: tuple[str, ...]
) -> None:
    done = shown(titled_runs, encoding, *command)
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if command[0].startswith("nonsense") else 0), done.stderr
    assert bytes_of(done.stdout).decode(encoding) or command[0].startswith("nonsense")
    assert bytes_of(done.stderr).decode(encoding) is not None


def test_lines_and_cut_texts_have_characters_that_look_alike(titled_runs: Path) -> None:
    plain = shown(titled_runs, "utf-8", "compare", "single", "agentic").stdout
    alike = shown(titled_runs, "ascii", "compare", "single", "agentic").stdout
    assert "…" in plain
    assert "~" in alike
    assert "\\u2026" not in alike


def test_what_other_programs_read_is_utf_8_in_every_terminal(titled_runs: Path) -> None:
    for command in (
        ("compare", "single", "agentic", "--json"),
        ("compare", "single", "agentic", "--markdown"),
        ("export", "agentic", "--to", "csv"),
    ):
        asked, usual = (shown(titled_runs, each, *command) for each in ("ascii", "utf-8"))
        assert asked.returncode == 0, asked.stderr
        assert "längerer" in asked.stdout or "--markdown" in command
        assert asked.stdout == usual.stdout
