"""`harness transcript`: which sample it shows."""

import shutil
from pathlib import Path

import pytest
from program import harness, results


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of four bundled problems."""
    folder = tmp_path_factory.mktemp("played")
    done = harness(folder, "run", "--agentic-mode", "-n", "4", "--out", "r")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def played_run(played: Path, tmp_path: Path) -> Path:
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

    def test_a_name_of_several_is_refused_with_all_of_them(self, played_run: Path) -> None:
        source = next((played_run / "r" / "transcripts").iterdir())
        text = source.read_text().replace('"sample":"fixture/', '"sample":"other/')
        source.with_name("other%2Fcopy-0.jsonl").write_text(text)
        sample = text.partition('"sample":"other/')[2].partition("#")[0]
        error = _refused(played_run, "transcript", "r", sample)
        assert f"fixture/{sample}#0" in error
        assert f"other/{sample}#0" in error

    def test_a_sample_with_no_line_yet_is_pending(self, played_run: Path) -> None:
        (played_run / "r" / "transcripts" / "fixture%2Fnew-one-2.jsonl").touch()
        listed = [line.split() for line in _said(played_run, "transcript", "r").splitlines()]
        assert ["fixture/new-one#2", "pending"] in listed
