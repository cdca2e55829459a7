"""A run in shards, merged, is the run that it would have been."""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from other_user import skip_unless_readable_by_all
from program import harness, harness_after, results
from written import link_written

from harness.sandbox.launch import can_change_user

MEASURED = {"seconds", "tests", "peak_bytes", "steps", "judged_again"}
SHARDS = 3


def _run(folder: Path, out: str, *more: str) -> None:
    done = harness(folder, "run", *link_written(folder), "--agentic-mode", "--out", out, *more)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def both_modes(written_runs: Callable[..., Path]) -> Path:
    """The bundled job as `whole`, and in shards `s1`, `s2`, `s3`."""
    folder = written_runs("agentic")
    (folder / "agentic").rename(folder / "whole")
    for index in range(1, SHARDS + 1):
        _run(folder, f"s{index}", "--set", f"shard={index}/{SHARDS}")
    return folder


@pytest.fixture
def copies(both_modes: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    shutil.copytree(both_modes, tmp_path / "runs", symlinks=True)
    return tmp_path / "runs"


def shards(*numbers: int) -> list[str]:
    return [f"s{number}" for number in numbers or range(1, SHARDS + 1)]


def told(run: Path) -> list[dict[str, Any]]:
    """Results but for what was measured, in their order."""
    return [
        {
            **{key: value for key, value in each.items() if key not in MEASURED},
            "tests": [test["verdict"] for test in each["tests"]],
        }
        for each in results(run)
    ]


def _name(result: dict[str, Any]) -> str:
    return result["sample"]


def manifest(run: Path) -> dict[str, Any]:
    return json.loads((run / "run.json").read_text())


def changed(run: Path, **changes: Any) -> None:
    now = manifest(run)
    now["spec"] |= changes
    (run / "run.json").write_text(json.dumps(now))


def summary(run: Path) -> dict[str, Any]:
    """Without what seconds of CPU and confirmations came to."""
    data = json.loads((run / "summary.json").read_text())
    return {key: value for key, value in data.items() if key not in {"judged_again", "curve"}}


def test_shards_share_the_problems_out_equally(both_modes: Path) -> None:
    parts = [list(manifest(both_modes / name)["problems"]) for name in shards()]
    assert [len(part) for part in parts] == [7, 7, 6]
    whole = list(manifest(both_modes / "whole")["problems"])
    assert sorted(each for part in parts for each in part) == sorted(whole)
    assert parts[1] == whole[1::3]
    assert [manifest(both_modes / name)["shard"]["index"] for name in shards()] == [1, 2, 3]


def test_a_merged_run_is_the_whole_run(copies: Path) -> None:
    done = harness(copies, "merge", *reversed(shards()), "--out", "m", "--json")
    assert done.returncode == 0, done.stderr
    merged, whole = copies / "m", copies / "whole"
    assert summary(merged) == summary(whole)
    printed = json.loads(done.stdout)
    assert printed == {**json.loads((merged / "summary.json").read_text()), "run": "m"}
    order = {name: place for place, name in enumerate(manifest(whole)["problems"])}
    assert told(merged) == sorted(told(whole), key=lambda each: order[each["problem_id"]])
    for key in ("problems", "spec", "prompt", "data", "test_limits", "sandbox"):
        assert manifest(merged)[key] == manifest(whole)[key]
    for name in shards():
        for path in (copies / name / "transcripts").iterdir():
            assert (merged / "transcripts" / path.name).read_bytes() == path.read_bytes()
    assert len(list((merged / "transcripts").iterdir())) == 20
    again = harness(copies, "run", "--resume", "m")
    assert (again.returncode, "all of them done" in again.stderr) == (0, True)
    compared = harness(copies, "compare", "whole", "m")
    assert compared.returncode == 0, compared.stderr


def test_shards_that_may_only_be_read_are_merged(copies: Path) -> None:
    if os.geteuid() == 0 and not can_change_user():
        pytest.skip("root, which may write everything, cannot become another user here")
    if os.geteuid() == 0:
        skip_unless_readable_by_all()
    nobody = "import os\nif os.getuid() == 0: os.setegid(65534), os.seteuid(65534)\n"
    with tempfile.TemporaryDirectory() as made:  # pytest's folder is closed to others
        folder = Path(made)
        folder.chmod(0o777)
        for shard in shards():
            shutil.copytree(copies / shard, folder / shard)
            for each in (folder / shard, *(folder / shard).rglob("*")):
                each.chmod(0o555 if each.is_dir() else 0o444)
        try:
            done = harness_after(nobody, folder, "merge", *shards(), "--out", "merged")
            assert done.returncode == 0, done.stderr
            merged, whole = told(folder / "merged"), told(copies / "whole")
            assert sorted(merged, key=_name) == sorted(whole, key=_name)
        finally:
            for each in folder.rglob("*"):
                each.chmod(0o777)


def test_a_shard_that_goes_on_is_refused(copies: Path) -> None:
    with (copies / "s2" / "results.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = harness(copies, "merge", *shards(), "--out", "merged")
    assert done.returncode == 2
    assert done.stderr.strip().endswith(
        "s2: another process is at work on this run; wait for it to end"
    )
    assert not (copies / "merged").exists()


@pytest.mark.thorough
def test_a_missing_shard_is_named_and_may_be_left_out_and_made_up_for(copies: Path) -> None:
    done = harness(copies, "merge", *shards(1, 3), "--out", "m")
    assert (done.returncode, "shard 2/3 is missing" in done.stderr) == (2, True)
    assert not (copies / "m").exists()
    done = harness(copies, "merge", *shards(1, 3), "--out", "m", "--partial", "--json")
    assert (done.returncode, "1 shard missing" in done.stderr) == (0, True)
    data = json.loads(done.stdout)
    assert (data["planned"], data["graded"], data["pending"]) == (20, 13, {"not_run": 7})
    report = harness(copies, "compare", "whole", "m", "--json")
    assert report.returncode == 0, report.stderr
    done = harness(copies, "run", "--resume", "m")
    assert done.returncode == 0, done.stderr
    assert "20 samples, 7 pending" in done.stderr
    assert summary(copies / "m") == summary(copies / "whole")


@pytest.mark.thorough
def test_what_a_shard_has_pending_is_pending_in_the_run(copies: Path) -> None:
    path = copies / "s1" / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[2:]))
    data = json.loads((copies / "s1" / "summary.json").read_text())
    data["pending"] = {"model_error": 1, "not_run": 1}
    (copies / "s1" / "summary.json").write_text(json.dumps(data))
    done = harness(copies, "merge", *shards(), "--out", "m", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pending"] == {"model_error": 1, "not_run": 1}
    assert len(list((copies / "m" / "transcripts").iterdir())) == 20


def test_what_may_be_at_the_provider_is_not_left_behind(copies: Path) -> None:
    (copies / "s1" / "batches.jsonl").write_text('{"event": "begun", "run": "0"}\n')
    path = copies / "s1" / "results.jsonl"
    lines = path.read_text()
    path.write_text("".join(lines.splitlines(keepends=True)[1:]))
    done = harness(copies, "merge", *shards(), "--out", "m")
    assert (done.returncode, "finish it first: harness run --resume s1" in done.stderr) == (2, True)
    path.write_text(lines)
    assert harness(copies, "merge", *shards(), "--out", "m").returncode == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"mode": "single_shot"}, "they differ in mode ('agentic', 'single_shot')"),
        ({"temperature": 0.5}, "they differ in temperature (None, 0.5)"),
        ({"samples_per_problem": 2}, "they differ in samples_per_problem (1, 2)"),
    ],
)
def test_shards_of_other_specs_are_refused(
    change: dict[str, Any], complaint: str, copies: Path
) -> None:
    changed(copies / "s2", **change)
    done = harness(copies, "merge", *shards(), "--out", "m")
    assert (done.returncode, complaint in done.stderr) == (2, True), done.stderr
    assert not (copies / "m").exists()


def test_what_says_only_how_fast_a_shard_went_may_differ(copies: Path) -> None:
    changed(copies / "s2", concurrency=3, workers=1, executor="ray", ray_address="auto")
    done = harness(copies, "merge", *shards(), "--out", "m")
    assert done.returncode == 0, done.stderr


def test_what_overlaps_or_is_no_shard_is_refused(copies: Path) -> None:
    shutil.copytree(copies / "s1", copies / "twin")
    for given, complaint in (
        (["s1", "twin", "s2", "s3"], "s1 and twin are both shard 1/3"),
        (["s1", "whole"], "whole is not a shard"),
        (["s1", "nowhere"], "nowhere: no such run"),
    ):
        done = harness(copies, "merge", *given, "--out", "m")
        assert (done.returncode, complaint in done.stderr) == (2, True), done.stderr
    stray = (copies / "s2" / "results.jsonl").read_text().splitlines(keepends=True)[0]
    with (copies / "s1" / "results.jsonl").open("a") as file:
        file.write(stray)
    done = harness(copies, "merge", *shards(), "--out", "m")
    assert (done.returncode, "is not a sample of shard 1/3" in done.stderr) == (2, True)
    done = harness(copies, "merge", *shards(), "--out", "whole")
    assert (done.returncode, "is not an empty directory" in done.stderr) == (2, True)
    assert not list(copies.glob(".*draft"))


@pytest.mark.thorough
def test_a_shard_goes_on_as_what_it_is(copies: Path) -> None:
    lines = (copies / "s2" / "results.jsonl").read_text().splitlines(keepends=True)
    (copies / "s2" / "results.jsonl").write_text("".join(lines[:-2]))
    done = harness(copies, "run", "--resume", "s2")
    assert (done.returncode, "7 samples, 2 pending" in done.stderr) == (0, True)
    done = harness(copies, "run", "--resume", "s2", "--set", "shard=1/3")
    refused = "--set shard cannot be changed on --resume" in done.stderr
    assert (done.returncode, refused) == (2, True)


@for_each("given", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/2/3"])
def test_a_folder_that_is_no_shard_gives_one_line(given: str, tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--set", f"shard={given}", "--dry-run")
    assert (done.returncode, "--set shard" in done.stderr) == (2, True)
    assert "give I/N" in done.stderr


def test_a_shard_without_problems_is_nothing_selected(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "-n", "2", "--set", "shard=3/3")
    assert (done.returncode, "--set shard=3/3 is empty" in done.stderr) == (3, True)


@pytest.mark.thorough
def test_empty_shards_need_not_be_given(tmp_path: Path) -> None:
    for index in (1, 2):
        _run(tmp_path, f"s{index}", "-n", "2", "--set", f"shard={index}/3")
    done = harness(tmp_path, "merge", *shards(1, 2), "--out", "m", "--json")
    assert (done.returncode, json.loads(done.stdout)["graded"]) == (0, 2)
