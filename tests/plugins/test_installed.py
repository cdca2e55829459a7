"""A package with a plug-in of each kind, really built and installed."""

import json
from pathlib import Path

import pytest
from program import Done, harness, results


def _run(folder: Path, site: Path, *flags: str, **env: str) -> Done:
    return harness(folder, "run", *flags, PYTHONPATH=str(site), **env)


def test_a_plug_in_of_each_kind_takes_part_in_a_run(tmp_path: Path, site: Path) -> None:
    log = tmp_path / "log"
    flags = ["-b", "toy:3", "-m", "toy:quiet", "--mode", "toy", "--observer", "toy", "--json"]
    done = _run(tmp_path, site, *flags, "--out", "r", TOY_LOG=str(log))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["graded"], summary["verdicts"]) == (3, {"accepted": 3})
    assert {(r["problem_id"], r["nudges"]) for r in results(tmp_path / "r")} == {
        (f"toy/shout-{number}", 2) for number in range(3)
    }, "the source's problems, by the strategy; the rule lets small letters pass"
    lines = log.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("run_started", "run_ended")
    assert sorted(lines[1:-1]) == ["sample_ended accepted"] * 3 + ["sample_started"] * 3
    kept = json.loads((tmp_path / "r" / "run.json").read_text())["plugins"]
    assert [(each["group"], each["package"], each["version"]) for each in kept] == [
        (f"harness.{group}", "harness-toy", "0.1.0")
        for group in ("sources", "models", "strategies", "rules")
    ]
    assert "source 'toy' of plug-in harness-toy 0.1.0" in done.stderr


def test_answers_are_wrong_without_the_plug_in_s_rule(tmp_path: Path, site: Path) -> None:
    done = _run(tmp_path, site, "-b", "toy", "-m", "toy", "--rule", "lcb", "--json")
    assert json.loads(done.stdout)["verdicts"] == {"wrong_answer": 2}
    assert "rule 'toy'" not in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["-b", "toy:x", "-m", "toy"], "(entry point 'harness_toy:load' of harness.sources)"),
        (["-b", "toy", "-m", "toy:mute"], "package harness-toy (entry point 'harness_toy:open_mod"),
    ],
)
def test_what_a_plug_in_raises_is_one_line_that_names_it(
    tmp_path: Path, site: Path, flags: list[str], words: str
) -> None:
    done = _run(tmp_path, site, *flags)
    assert done.returncode == 2
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("harness: ")]
    assert words in line
    assert "raised" in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.thorough
def test_a_run_that_goes_on_with_another_version_says_so(tmp_path: Path, site: Path) -> None:
    flags = ["-b", "toy", "-m", "toy", "--out", "r"]
    assert _run(tmp_path, site, *flags).returncode == 0
    path = tmp_path / "r" / "run.json"
    path.write_text(path.read_text().replace('"version": "0.1.0"', '"version": "0.0.9"'))
    done = _run(tmp_path, site, *flags, "-k", "2")
    assert done.returncode == 0, done.stderr
    message = "source 'toy' of plug-in harness-toy 0.1.0: the run began with harness-toy 0.0.9"
    assert message in done.stderr.splitlines()
    assert len(results(tmp_path / "r")) == 4
