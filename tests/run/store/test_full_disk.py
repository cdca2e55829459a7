"""A disk that is full, a place that cannot be written."""

import subprocess
from pathlib import Path

import pytest
from program import PROGRAM, environment, harness, harness_after, results
from written import link_written

READ_ONLY = """
import ctypes, os, subprocess, sys
user, group = os.getuid(), os.getgid()
if ctypes.CDLL(None).unshare(0x10020000): sys.exit(77)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file: file.write(text)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", "disk"]).returncode: sys.exit(77)
"""
"""Gives the program a file system at `disk` that cannot be written."""


def _mounted(folder: Path, options: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command with a small file system of its own mounted at `disk`.

    Its `$0` is the program.
    """
    (folder / "disk").mkdir(exist_ok=True)
    script = f"mount -t tmpfs -o {options} none disk && {command}"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, PROGRAM],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    return done


@pytest.mark.thorough
def test_a_full_disk_ends_the_run_with_one_line_and_resume_goes_on(tmp_path: Path) -> None:
    save = "cp -r disk/r saved"
    flags = " ".join(link_written(tmp_path))
    run = f'"$0" run {flags} --agentic-mode --out disk/r; code=$?; {save}; exit $code'
    done = _mounted(tmp_path, "size=96k", run)
    assert done.returncode == 4, done.stderr
    assert "No space left on device" in done.stderr or "the disk is full" in done.stderr
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr
    before = results(tmp_path / "saved")
    assert len(before) < 20
    again = harness(tmp_path, "run", "--resume", "saved")
    assert again.returncode == 0, again.stderr
    after = results(tmp_path / "saved")
    assert after[: len(before)] == before
    assert len({result["sample"] for result in after}) == len(after) == 20


@pytest.mark.thorough
def test_a_read_only_place_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    done = _mounted(tmp_path, "ro", '"$0" run --out disk/r')
    assert done.returncode == 2, done.stderr
    assert "Read-only file system" in done.stderr
    assert "[1/" not in done.stderr


def test_a_file_on_a_read_only_disk_is_named_as_it_was_given(tmp_path: Path) -> None:
    assert harness(tmp_path, "run", "-n", "1", "--out", "r").returncode == 0
    (tmp_path / "disk").mkdir()
    for command in ("report r -o disk/r.html", "export r --to csv -o disk/r.csv"):
        done = harness_after(READ_ONLY, tmp_path, *command.split())
        if done.returncode == 77:
            pytest.skip("no mount namespace here")
        assert f"harness: {command.split()[-1]}" in done.stderr
        assert "Read-only file system" in done.stderr


def test_an_existing_folder_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "precious").write_text("x")
    done = harness(tmp_path, "run", "--out", "r")
    assert (done.returncode, "--out" in done.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["precious"]
