"""Reading a run directory is bounded, and one that is broken hides no other."""

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each
from json_lines import json_lines
from results_made import made_result
from runs_made import result, start, write_run, write_transcript
from visitor import Visitor

from harness.errors import RunDirectoryError
from harness.features.show.run_list import list_runs, trends
from harness.run.store.directory import RunDirectory, find_runs, read_manifest
from harness.run.store.files import DEEPEST, open_file, read_file, read_json
from harness.run.store.results import ResultsFile, load_results
from harness.run.store.transcript import read_events
from harness.run.summary.loaded_run import read_run


def nest(path: Path) -> None:
    manifest = (path / "run.json").read_text().rstrip()
    (path / "run.json").write_text(f'{manifest[:-1]}, "x": {"[" * 50_000}{"]" * 50_000}}}')


def nest_a_little(path: Path) -> None:
    """As deep as the parser can go, and deeper than what walks it afterwards."""
    manifest = json.loads((path / "run.json").read_text())
    manifest["spec"]["model"] = json.loads("[" * 500 + "]" * 500)
    (path / "run.json").write_text(json.dumps(manifest))


def many_samples(path: Path) -> None:
    manifest = json.loads((path / "run.json").read_text())
    manifest["spec"]["samples_per_problem"] = 10**12
    (path / "run.json").write_text(json.dumps(manifest))


def many_shards(path: Path) -> None:
    manifest = json.loads((path / "run.json").read_text())
    manifest["merged"] = {"problems": 10**12}
    (path / "run.json").write_text(json.dumps(manifest))


def huge_manifest(path: Path) -> None:
    os.truncate(path / "run.json", 1 << 40)


def fifo_manifest(path: Path) -> None:
    (path / "run.json").unlink()
    os.mkfifo(path / "run.json")


def fifo_results(path: Path) -> None:
    (path / "results.jsonl").unlink()
    os.mkfifo(path / "results.jsonl")


def garbage_results(path: Path) -> None:
    (path / "results.jsonl").write_text("{}\n")


def fifo_summary(path: Path) -> None:
    os.mkfifo(path / "summary.json")


def huge_summary(path: Path) -> None:
    (path / "summary.json").touch()
    os.truncate(path / "summary.json", 1 << 40)


def fifo_transcript(path: Path) -> None:
    os.mkfifo(path / "transcripts" / "p%2Fb-0.jsonl")


BROKEN = [nest, nest_a_little, many_samples, many_shards, huge_manifest, fifo_results]
SOUND = [fifo_summary, huge_summary, fifo_transcript]
"""What is wrong with these is of no matter: another file says the same, or nothing."""


@pytest.fixture
def run_files(tmp_path: Path) -> Path:
    """Two runs of two problems each, one of them solved and one pending."""
    for name in ("good", "bad"):
        write_run(tmp_path / "runs" / name, [result("p/a")], problems=["p/a", "p/b"])
    return tmp_path / "runs"


@pytest.mark.parametrize("harm", [*BROKEN, garbage_results], ids=lambda harm: harm.__name__)
def test_a_broken_run_is_told_of_and_hides_no_other(
    run_files: Path, harm: Callable[[Path], None]
) -> None:
    harm(run_files / "bad")
    listing = list_runs(find_runs(run_files).paths)
    assert [Path(run.path).name for run in listing.runs] == ["good"]
    (complaint,) = listing.unreadable
    assert str(run_files / "bad") in complaint
    with pytest.raises(RunDirectoryError):
        read_run(run_files / "bad")
    visitor = Visitor(run_files)
    page = visitor.page("/")
    assert ">good<" in page
    assert ">bad<" in page
    visitor.client.close()


@pytest.mark.parametrize("harm", SOUND, ids=lambda harm: harm.__name__)
def test_harmless_damage_of_a_run_is_ignored(run_files: Path, harm: Callable[[Path], None]) -> None:
    harm(run_files / "bad")
    listing = list_runs(find_runs(run_files).paths)
    assert [(Path(run.path).name, run.pending) for run in listing.runs] == [
        ("good", 1),
        ("bad", 1),
    ]
    assert read_run(run_files / "bad").summary.graded == 1
    visitor = Visitor(run_files)
    assert visitor.page("/").count("1 of 2") == 2
    visitor.client.close()


def test_a_pipe_for_a_manifest_is_no_run(run_files: Path) -> None:
    fifo_manifest(run_files / "bad")
    assert [path.name for path in find_runs(run_files).paths] == ["good"]
    with pytest.raises(RunDirectoryError, match="not a regular file"):
        read_manifest(run_files / "bad")


def test_scores_over_time_leave_out_what_cannot_be_read(run_files: Path) -> None:
    listing = list_runs(find_runs(run_files).paths)
    garbage_results(run_files / "bad")
    (trend,) = trends(listing.runs)
    assert [each.change for each in trend.runs] == [None, None]


def test_a_huge_file_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    path.touch()
    os.truncate(path, 1 << 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(OSError, match="longer than 1 MB"):
        read_file(path, 1 << 20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB


def test_a_run_is_not_made_larger_than_it_can_be_read(tmp_path: Path) -> None:
    manifest = {"spec": {"samples_per_problem": 600_000}, "problems": {"p/a": "0"}}
    with pytest.raises(RunDirectoryError, match="a run has at most 500,000"):
        RunDirectory.create(tmp_path / "r", manifest)
    assert not (tmp_path / "r").exists()


@for_each(("depth", "fits"), [(DEEPEST, True), (DEEPEST + 2, False)])
def test_json_nested_too_deeply_is_refused(tmp_path: Path, depth: int, fits: bool) -> None:
    (tmp_path / "x").write_text("[" * depth + "]" * depth)
    if fits:
        assert read_json(tmp_path / "x")
    else:
        with pytest.raises(ValueError, match="levels deep"):
            read_json(tmp_path / "x")


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(OSError, match="not a regular file"):
            open_file(path)
    with pytest.raises(RunDirectoryError, match="not a regular file"):
        ResultsFile(tmp_path / "pipe")


class TestRepeatedResults:
    def test_a_sample_counts_once_and_its_last_line_stands(self, tmp_path: Path) -> None:
        path = tmp_path / "results.jsonl"
        file = ResultsFile(path)
        for solved, index in ((False, 0), (True, 1), (True, 0)):
            file.append(made_result("made/a", index=index, solved=solved))
        file.close()
        results = load_results(path)
        assert [(each.index, each.solved) for each in results.results] == [(1, True), (0, True)]
        assert results.repeated == 1

    def test_a_repeated_result_is_counted_once(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [result("p/a"), result("p/b", verdict="wrong_answer")])
        whole = (run / "results.jsonl").read_text()
        (run / "results.jsonl").write_text(whole + json_lines([result("p/a")]))
        read = read_run(run)
        assert (read.summary.graded, read.summary.planned, read.repeated) == (2, 2, 1)
        assert read.summary.pass_at_1 is not None
        assert read.summary.pass_at_1.value == 0.5


class TestDamagedLines:
    def test_damaged_lines_hide_no_event(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [result("p/a")])
        path = write_transcript(run, "p/a", [start("p/a")])
        with path.open("ab") as file:
            file.write(b"\xff garbage\n" + json.dumps(start("p/a", 1)).encode() + b"\n{torn")
        assert [event.event for event in read_events(path)] == [
            "sample_start",
            "damaged",
            "sample_start",
        ]
