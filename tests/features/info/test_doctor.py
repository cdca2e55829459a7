"""`harness doctor`: every sandbox is tried from within, and what is found is told."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from other_user import PACKAGES, ROOT, skip_unless_readable_by_all
from program import WITHOUT_NAMESPACES, Done, harness, run_by, started_by

from harness.sandbox.isolation import CANDIDATES, MISSING, PROMISED, UNSAFE, Level
from harness.sandbox.strongest import choose


def sandboxes(done: Done) -> dict[tuple[str, str | None], Any]:
    entries = json.loads(done.stdout)["sandboxes"]
    return {(each["level"], each["means"]): each for each in entries}


@pytest.fixture(scope="module")
def best() -> Level:
    return choose().isolation.level


@pytest.mark.thorough
def test_the_table_tells_what_held_and_what_is_in_use(tmp_path: Path, best: Level) -> None:
    done = harness(tmp_path, "doctor", COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    isolation = choose().isolation
    assert f"in use: {isolation}" in done.stdout
    (head,) = [line for line in done.stdout.splitlines() if "layer attacked" in line]
    assert str(isolation) in head
    assert "none" in head
    assert "FAILED" not in done.stdout
    for layer in PROMISED[best]:
        rows = [line for line in done.stdout.splitlines() if line.strip().startswith(f"{layer}  ")]
        assert any("held" in row for row in rows), layer
    assert ("missing:" in done.stdout) == (best is not Level.NAMESPACES)


@pytest.mark.thorough
def test_the_object_tells_the_same(tmp_path: Path, best: Level) -> None:
    done = harness(tmp_path, "doctor", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["level"] == best
    entries = sandboxes(done)
    assert list(entries) == [(each.level, each.means) for each in (*CANDIDATES, UNSAFE)]
    for (level, _), each in entries.items():
        assert each["holds"] == (each["why_not"] == "")
        assert set(each["escapes"]) == {layer for layer, held in each["layers"].items() if not held}
        if each["holds"]:
            assert {layer for layer, held in each["layers"].items() if held} >= PROMISED[level]
        else:
            assert each["why_not"]
    assert entries["none", None]["escapes"], "without a sandbox nothing is kept in"


@pytest.mark.thorough
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "temporary").mkdir()
    done = harness(tmp_path / "here", "doctor", TMPDIR=str(tmp_path / "temporary"))
    assert done.returncode == 0
    assert list((tmp_path / "here").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.thorough
@pytest.mark.parametrize("level", ["seccomp", "landlock", "namespaces"])
def test_doctor_exits_with_2_below_the_required_level(
    level: str, tmp_path: Path, best: Level
) -> None:
    done = harness(tmp_path, "doctor", "--require-isolation", level)
    enough = best.rank >= Level(level).rank
    assert done.returncode == (0 if enough else 2)
    assert len(done.stderr.splitlines()) == (0 if enough else 1)


def test_an_unknown_level_is_refused_before_anything_is_tried(tmp_path: Path) -> None:
    done = harness(tmp_path, "doctor", "--require-isolation", "absolute")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    for word in ("--require-isolation absolute", *Level):
        assert word in line


class TestWithoutNamespaces:
    def test_doctor_names_what_is_missing(self, tmp_path: Path) -> None:
        done = started_by(WITHOUT_NAMESPACES, tmp_path, "doctor")
        assert (done.returncode, done.stderr) == (0, "")
        text = " ".join(done.stdout.split())
        assert "in use: landlock" in text
        assert f"missing: {MISSING[Level.LANDLOCK]}" in text
        for means in ("bubblewrap", "direct"):
            assert f"sandbox namespaces ({means}) is not available: " in text

    @pytest.mark.thorough
    def test_the_object_names_what_got_through(self, tmp_path: Path) -> None:
        done = started_by(WITHOUT_NAMESPACES, tmp_path, "doctor", "--json")
        assert json.loads(done.stdout)["level"] == "landlock"
        entries = sandboxes(done)
        assert not entries["namespaces", "direct"]["holds"]
        assert not entries["namespaces", "bubblewrap"]["holds"]
        landlock = entries["landlock", None]
        assert landlock["holds"]
        assert landlock["layers"]["seccomp"]
        assert "user namespace" not in PROMISED[Level.LANDLOCK]

    @pytest.mark.thorough
    def test_doctor_prints_its_table_when_the_required_level_is_missing(
        self, tmp_path: Path
    ) -> None:
        for flags in ([], ["--json"]):
            done = started_by(
                WITHOUT_NAMESPACES, tmp_path, "doctor", "--require-isolation", "namespaces", *flags
            )
            assert done.returncode == 2
            (line,) = done.stderr.splitlines()
            assert "no sandbox of level namespaces or above" in line
            assert "landlock" in done.stdout
        assert (
            started_by(
                WITHOUT_NAMESPACES, tmp_path, "doctor", "--require-isolation", "landlock"
            ).returncode
            == 0
        )


@pytest.mark.parametrize("user", [0, 12345], ids=["root", "an ordinary user"])
def test_doctor_works_for_root_and_another_user(user: int, tmp_path: Path) -> None:
    """With an interpreter that both may read."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    setpriv = shutil.which("setpriv")
    if os.getuid() != 0 or setpriv is None:
        pytest.skip("only root, with setpriv, becomes another user")
    if not Path(python).exists():
        pytest.skip(f"no {python} here")
    skip_unless_readable_by_all()
    become = [setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    if subprocess.run([*become, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user namespace has no such user")
    path = f"{ROOT}:{PACKAGES}"
    done = run_by(tmp_path, *become, python, "-m", "harness", "doctor", "--json", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    for (level, means), each in sandboxes(done).items():
        if level == "namespaces" and not each["holds"]:
            assert any(word in each["why_not"] for word in ("not installed", "space", "permi")), (
                means
            )
        else:
            assert each["holds"], each["why_not"]
