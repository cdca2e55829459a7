from pathlib import Path

import pytest
from packages_made import made_package
from program import harness

from harness.plugins import GROUPS, MODELS, OBSERVERS, RULES, SOURCES


@pytest.mark.thorough
def test_installed_plug_ins_are_listed_and_tried(tmp_path: Path, site: Path) -> None:
    done = harness(tmp_path, "doctor", PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "toy" in line]
    assert rows == [
        [kind, "toy", "harness-toy", "0.1.0", "ready"]
        for kind in ("source", "model", "strategy", "rule", "observer")
    ]
    assert len(GROUPS) == len(rows)


def test_doctor_says_that_none_is_installed(tmp_path: Path) -> None:
    assert harness(tmp_path, "doctor").stdout.endswith("plug-ins: none\n")


def test_what_cannot_be_used_is_told_with_its_reason(tmp_path: Path) -> None:
    site = tmp_path / "site"
    taken = {SOURCES: {"apps": "thing"}, MODELS: {"claude-x": "thing"}, RULES: {"lcb": "thing"}}
    made_package(site, "mine-taken", taken, "thing = print")
    made_package(site, "mine-broken", {OBSERVERS: {"mine": "thing", "../up": "thing"}}, "import no")
    done = harness(tmp_path, "doctor", PYTHONPATH=str(site))
    assert done.returncode == 2
    lines = [line for line in done.stdout.splitlines() if "1.0" in line]
    assert sum("not used: this name is built in" in line for line in lines) == 3
    assert sum("not used: not a valid name" in line for line in lines) == 1
    assert "ModuleNotFoundError: No module named 'no'" in " ".join(done.stdout.split())
