"""`harness pack`: what can be done with a run can be done with a packed one."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from program import PROGRAM, harness, results, run_by

from harness.run.store.results import ResultsFile


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of four bundled problems."""
    folder = tmp_path_factory.mktemp("played")
    done = harness(folder, "run", "--agentic-mode", "-n", "4", "--out", "r")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """The same, to change."""
    shutil.copytree(played / "r", tmp_path / "r")
    return tmp_path


def _said(folder: Path, *arguments: str) -> str:
    done = harness(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _refused(folder: Path, *arguments: str, code: int = 2) -> str:
    done = harness(folder, *arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("harness: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def _files(run: Path) -> dict[str, bytes]:
    paths = (path for path in run.rglob("*") if path.is_file())
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


def test_a_packed_run_is_read_as_before_and_unpacked_it_is_what_it_was(folder: Path) -> None:
    before = _files(folder / "r")
    sample = results(folder / "r")[0]["problem_id"]
    listed, shown = _said(folder, "transcript", "r"), _said(folder, "transcript", "r", sample)
    assert "4 transcripts packed" in _said(folder, "pack", "r")
    assert not (folder / "r" / "transcripts").exists()
    assert _said(folder, "transcript", "r") == listed
    assert _said(folder, "transcript", "r", sample) == shown
    assert "nothing more to pack" in _said(folder, "pack", "r")
    assert "4 transcripts unpacked" in _said(folder, "pack", "--undo", "r")
    assert _files(folder / "r") == before


@pytest.mark.thorough
def test_a_packed_run_is_played_again(folder: Path) -> None:
    _said(folder, "pack", "r")
    named = [word for each in results(folder / "r") for word in ("-t", each["problem_id"])]
    again = ("--agentic-mode", "-b", "fixture", *named, "--out", "again")
    _said(folder, "run", "-m", "replay:r", *again)
    before, after = results(folder / "r"), results(folder / "again")
    for key in ("verdict", "code", "model_calls"):
        assert {each["sample"]: each[key] for each in before} == {
            each["sample"]: each[key] for each in after
        }


@pytest.mark.thorough
def test_a_packed_run_that_is_not_finished_goes_on(folder: Path) -> None:
    file = folder / "r" / "results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2]))  # as if interrupted after two
    output = _said(folder, "pack", "r")
    assert "2 transcripts packed" in output
    assert "2 transcripts left out" in output
    _said(folder, "run", "--resume", "r")
    assert len(results(folder / "r")) == 4
    assert "2 transcripts packed; 4 together" in _said(folder, "pack", "r")
    assert _said(folder, "transcript", "r").count("\n") == 4


def test_what_cannot_be_packed_is_said_in_a_line(folder: Path) -> None:
    assert "no run.json" in _refused(folder, "pack", "nowhere")
    assert "not packed" in _refused(folder, "pack", "--undo", "r")
    with closing(ResultsFile(folder / "r" / "results.jsonl")):
        assert "another process is at work" in _refused(folder, "pack", "r")


@pytest.mark.parametrize(
    "command",
    [
        ["transcript", "r"],
        ["pack", "--undo", "r"],
        ["run", "--agentic-mode", "-m", "replay:r", "-b", "fixture", "--out", "again"],
    ],
)
def test_a_damaged_pack_is_said_in_a_line(command: list[str], folder: Path) -> None:
    _said(folder, "pack", "r")
    path = folder / "r" / "transcripts.pack"
    path.write_bytes(path.read_bytes()[:-1])
    assert "transcripts.pack is damaged" in _refused(folder, *command)


@pytest.mark.thorough
def test_a_full_disk_is_said_in_a_line_and_nothing_is_lost(folder: Path) -> None:
    before = _files(folder / "r")
    limited = 'ulimit -f 4; exec "$0" "$@"'  # no file may be longer than a few KB
    done = run_by(folder, "sh", "-c", limited, PROGRAM, "pack", "r")
    assert done.returncode == 4, done.stderr
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert _files(folder / "r") == before


class TestFindingASample:
    def test_a_sample_is_found_by_id_by_index_or_without_its_source(self, played: Path) -> None:
        first = results(played / "r")[0]["problem_id"]
        shown = _said(played, "transcript", "r", first)
        assert f"=== {first}#0" in shown
        assert _said(played, "transcript", "r", f"{first}#0") == shown
        assert _said(played, "transcript", "r", first.partition("/")[2]) == shown

    @pytest.mark.thorough
    def test_a_missing_sample_is_refused_with_those_near(self, played: Path) -> None:
        first = results(played / "r")[0]["problem_id"]
        error = _refused(played, "transcript", "r", first[:-1])
        assert "no sample" in error
        assert f"near: {first}#0" in error

    def test_a_name_of_several_is_refused_with_all_of_them(self, folder: Path) -> None:
        source = next((folder / "r" / "transcripts").iterdir())
        text = source.read_text().replace('"sample":"fixture/', '"sample":"other/')
        source.with_name("other%2Fcopy-0.jsonl").write_text(text)
        sample = text.partition('"sample":"other/')[2].partition("#")[0]
        error = _refused(folder, "transcript", "r", sample)
        assert f"fixture/{sample}#0" in error
        assert f"other/{sample}#0" in error

    def test_a_sample_with_no_line_yet_is_pending(self, folder: Path) -> None:
        (folder / "r" / "transcripts" / "fixture%2Fnew-one-2.jsonl").touch()
        listed = [line.split() for line in _said(folder, "transcript", "r").splitlines()]
        assert ["fixture/new-one#2", "pending"] in listed
