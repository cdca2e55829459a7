"""The samples of a run: listed, and found by what a person calls them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import RunDirectoryError, UsageError
from harness.report.samples import find_transcript, sample_lines
from harness.runs.results import SampleResult
from harness.runs.transcript import file_name

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]


@pytest.fixture
def run(make_result: MakeResult, write_run: WriteRun) -> Path:
    path = write_run("run", [make_result("one/sum", solved=True), make_result("two/sum")])
    for problem, index in (("one/sum", 0), ("one/sum", 1), ("two/sum", 0), ("two/a b\x1b", 0)):
        (path / "transcripts" / file_name(problem, index)).touch()
    return path


@pytest.mark.parametrize(
    ("name", "problem", "index"),
    [
        ("one/sum", "one/sum", 0),
        ("one/sum#0", "one/sum", 0),
        ("one/sum#1", "one/sum", 1),
        ("sum#1", "one/sum", 1),
        ("a b\x1b", "two/a b\x1b", 0),
    ],
)
def test_a_sample_is_found_by_its_name(run: Path, name: str, problem: str, index: int) -> None:
    assert find_transcript(run, name) == run / "transcripts" / file_name(problem, index)


def test_a_name_of_several_is_refused_with_all_of_them(run: Path) -> None:
    with pytest.raises(UsageError, match=r"several samples: one/sum#0, two/sum#0"):
        find_transcript(run, "sum")


def test_a_name_of_none_is_refused_with_those_near(run: Path) -> None:
    with pytest.raises(UsageError, match=r"no sample 'one/sun'; near: .*one/sum#0"):
        find_transcript(run, "one/sun")


def test_a_folder_without_transcripts_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="is not a run"):
        find_transcript(tmp_path, "one/sum")


def test_every_sample_begun_has_a_line(run: Path) -> None:
    assert list(sample_lines(run)) == [
        "one/sum#0  accepted  model stopped  calls 1",
        "one/sum#1  pending",
        r"two/a b\x1b#0  pending",
        "two/sum#0  wrong answer  model stopped  calls 1",
    ]
