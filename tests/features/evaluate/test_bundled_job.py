import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from program import harness, results
from written import FIRST


@pytest.fixture(scope="module")
def both_modes(written_runs: Callable[..., Path]) -> Path:
    return written_runs("agentic", "single")


def test_the_recordings_are_played_whatever_keys_and_model_are_set(tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": "sk-planted", "MODEL_ID": "gpt-4o"}
    done = harness(tmp_path, "run", "-n", "2", "--agentic-mode", "--out", "r", **env)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "r" / "run.json").read_text())
    assert manifest["spec"]["model"] == "replay:bundled"


def test_every_bundled_problem_is_graded_once_in_both_modes(both_modes: Path) -> None:
    for name in ("agentic", "single"):
        samples = [result["sample"] for result in results(both_modes / name)]
        assert len(samples) == len(set(samples)) >= 16


def test_iterating_is_ahead_for_honest_reasons(both_modes: Path) -> None:
    agentic, single = (
        {result["problem_id"]: result for result in results(both_modes / name)}
        for name in ("agentic", "single")
    )
    won = [
        problem
        for problem in agentic
        if agentic[problem]["verdict"] == "accepted" != single[problem]["verdict"]
    ]
    lost = [
        problem
        for problem in agentic
        if single[problem]["verdict"] == "accepted" != agentic[problem]["verdict"]
    ]
    assert len(won) > len(lost)
    assert all(agentic[problem]["model_calls"] > 1 for problem in won)


def test_the_recordings_show_every_behaviour(both_modes: Path) -> None:
    agentic = results(both_modes / "agentic")
    assert Counter(result["stop_reason"] for result in agentic).keys() == {
        "public_tests_passed",
        "model_stopped",
        "turn_limit",
    }
    assert any(r["verdict"] == "accepted" and r["written"] == 1 for r in agentic)
    assert any(r["verdict"] == "accepted" and r["written"] > 1 for r in agentic)
    overfit = [r for r in agentic if r["public_passed"] == r["public_total"]]
    assert any(r["verdict"] != "accepted" for r in overfit)
    assert any(r["malformed_tool_calls"] for r in agentic)
    assert any(r["nudges"] and r["chosen_by"] != "prose" for r in agentic)
    assert any(r["extraction"] and r["verdict"] == "accepted" for r in agentic)


@pytest.mark.thorough
def test_a_run_can_be_played_again_with_the_same_outcome(both_modes: Path) -> None:
    done = harness(
        both_modes, "run", *FIRST, "--agentic-mode", "-m", "replay:agentic", "--out", "again"
    )
    assert done.returncode == 0, done.stderr

    def outcome(name: str) -> list[tuple[str, str, str, str]]:
        return sorted(
            (r["sample"], r["verdict"], r["stop_reason"], r["code"])
            for r in results(both_modes / name)
        )

    assert outcome("again") == outcome("agentic")


def test_compare_pairs_the_two_runs(both_modes: Path) -> None:
    done = harness(both_modes, "compare", "single", "agentic", "--json")
    (versus,) = json.loads(done.stdout)["versus"]
    paired = versus["paired"]
    assert paired["problems"] == len(results(both_modes / "single"))
    assert paired["difference"] > 0
    shown = harness(both_modes, "compare", "single", "agentic", "--details")
    assert "95 % interval" in shown.stdout
    assert all(problem in shown.stdout for problem in paired["better_b"])


def test_a_transcript_can_be_read(both_modes: Path) -> None:
    listed = harness(both_modes, "transcript", "agentic")
    assert len(listed.stdout.splitlines()) == len(results(both_modes / "agentic"))
    sample = next(r for r in results(both_modes / "agentic") if r["written"] > 1)
    shown = harness(both_modes, "transcript", "agentic", sample["problem_id"])
    assert shown.returncode == 0
    assert "> write_solution" in shown.stdout
    assert "public tests passed." in shown.stdout
    assert "=== verdict: " + sample["verdict"] in shown.stdout


def test_files_of_the_users_own_shadow_nothing(tmp_path: Path) -> None:
    for name in ("tools.py", "prompts.py", "fixtures.py", "harness.py", "problem.py"):
        (tmp_path / name).write_text("raise SystemExit('shadowed')")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("raise SystemExit('shadowed')")
    done = harness(tmp_path, "run", "-n", "2", "--agentic-mode")
    assert done.returncode == 0, done.stderr
    assert "shadowed" not in done.stdout + done.stderr


def test_the_help_names_every_command(tmp_path: Path) -> None:
    done = harness(tmp_path, "--help")
    for command in ("run", "problems", "transcript", "compare"):
        assert command in done.stdout
    assert harness(tmp_path, "--version").stdout.strip()
