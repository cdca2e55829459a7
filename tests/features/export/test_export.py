"""`harness export`: where it writes, and what it says where it cannot."""

import csv
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from program import harness, harness_after
from runs_made import write_experiment


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six bundled problems."""
    made = tmp_path_factory.mktemp("export")
    done = harness(made, "run", "--agentic-mode", "-n", "6", "--out", "r")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def played_run(played: Path, tmp_path: Path) -> Path:
    """The same, to change."""
    shutil.copytree(played / "r", tmp_path / "r")
    return tmp_path


@pytest.mark.parametrize("to", ["csv", "junit", "lcb", "openai-messages"])
def test_a_text_goes_to_a_file_or_to_standard_output(played_run: Path, to: str) -> None:
    out = harness(played_run, "export", "r", "--to", to)
    assert (out.returncode, out.stderr) == (0, "")
    done = harness(played_run, "export", "r", "--to", to, "-o", "file.out")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "6 samples in file.out\n"
    assert (played_run / "file.out").read_bytes().replace(b"\r\n", b"\n") == out.stdout.encode()
    assert {path.name for path in played_run.iterdir()} == {"r", "file.out"}


def test_each_format_is_what_it_says(played_run: Path) -> None:
    texts = {
        to: harness(played_run, "export", "r", "--to", to).stdout
        for to in ("csv", "junit", "lcb", "openai-messages")
    }
    assert len(list(csv.DictReader(texts["csv"].splitlines(keepends=True)))) == 6
    assert ET.fromstring(texts["junit"].encode()).attrib["tests"] == "6"
    assert len(json.loads(texts["lcb"])) == 6
    assert len([json.loads(line) for line in texts["openai-messages"].splitlines()]) == 6


def test_parquet_is_no_text_and_wants_a_file(played_run: Path) -> None:
    refused = harness(played_run, "export", "r", "--to", "parquet")
    assert refused.returncode == 2
    assert refused.stderr == (
        'harness: --to parquet is not a text: name its file with --out="r.parquet"\n'
    )
    done = harness(played_run, "export", "r", "--to", "parquet", "-o", "r.parquet")
    assert done.returncode == 0, done.stderr
    assert (played_run / "r.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize("change", ["without transcripts", "under way"])
def test_other_runs_can_be_exported_or_say_why_not(played_run: Path, change: str) -> None:
    if change == "without transcripts":
        shutil.rmtree(played_run / "r" / "transcripts")
    else:
        lines = (played_run / "r" / "results.jsonl").read_bytes().splitlines(keepends=True)
        (played_run / "r" / "results.jsonl").write_bytes(b"".join(lines[:4]) + b'{"torn')
    for to in ("csv", "junit", "lcb", "openai-messages"):
        done = harness(played_run, "export", "r", "--to", to)
        if change == "without transcripts" and to == "openai-messages":
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == ("harness: r holds no transcripts: there is nothing to export\n")
            continue
        assert done.returncode == 0, done.stderr
        left_out = "2 samples pending: not in it\n"
        assert done.stderr == (left_out if change == "under way" and to != "junit" else "")
        if change == "under way" and to == "junit":
            assert ET.fromstring(done.stdout.encode()).attrib["errors"] == "2"


def test_problems_that_have_moved_are_named_with_b(played_run: Path) -> None:
    manifest = json.loads((played_run / "r" / "run.json").read_text())
    manifest["spec"]["benchmark"] = "jsonl:gone.jsonl"
    (played_run / "r" / "run.json").write_text(json.dumps(manifest))
    refused = harness(played_run, "export", "r", "--to", "lcb")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "gone.jsonl" in refused.stderr
    assert harness(played_run, "export", "r", "--to", "csv").returncode == 0
    done = harness(played_run, "export", "r", "--to", "lcb", "-b", "fixture")
    assert (done.returncode, len(json.loads(done.stdout))) == (0, 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("r", "--to", "xml"), "known are csv, parquet, junit"),
        (("r", "--to", "csv", "-b", "fixture"), "--benchmark goes with --to lcb"),
        (("r", "--to", "csv", "-o", "r"), "r is a folder; name a file"),
        (("r", "--to", "csv", "-o", "no/where.csv"), "there is no folder no"),
        (("r", "--to", "inspect", "-o", "r.json"), "name it r.eval"),
        (("nowhere", "--to", "csv"), "nowhere: no such run"),
        (("grid", "--to", "csv"), "see them with: harness experiment show grid"),
    ],
)
def test_what_cannot_be_is_one_line(
    played_run: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_experiment(played_run / "grid")
    done = harness(played_run, "export", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_a_file_is_written_whole_or_not_at_all(played_run: Path) -> None:
    (played_run / "old.jsonl").write_text("before")
    shutil.rmtree(played_run / "r" / "transcripts")
    done = harness(played_run, "export", "r", "--to", "openai-messages", "-o", "old.jsonl")
    assert done.returncode == 2
    assert (played_run / "old.jsonl").read_text() == "before"
    assert {path.name for path in played_run.iterdir()} == {"r", "old.jsonl"}


# Bytecode would be cut off, too.
SMALL_DISK = """
import resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
"""


@pytest.mark.parametrize("to", ["csv", "parquet", "junit", "lcb", "openai-messages"])
def test_a_disk_that_takes_no_more_is_told_with_the_file(played_run: Path, to: str) -> None:
    done = harness_after(SMALL_DISK, played_run, "export", "r", "--to", to, "-o", "made.out")
    assert (done.returncode, done.stderr) == (4, "harness: made.out: File too large\n")
    assert {path.name for path in played_run.iterdir()} == {"r"}
