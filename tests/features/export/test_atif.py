"""ATIF: what is written of a run, and that importing it gives the same run."""

import json
from pathlib import Path
from typing import Any

import pytest
from own_models import answering
from own_problems import ECHO
from program import harness, results

from harness.run.summary.loaded_run import Run

SAME = (
    *("verdict", "code", "chosen_by", "extraction", "stop_reason", "model_calls", "tool_calls"),
    *("usage", "cost", "public_passed", "hidden_passed", "public_total", "hidden_total"),
)
"""What a result of the import has in common with the run's own."""

FIXING = answering(
    answer=[
        f"Try this:\n```python\nimport sys\nprint({each})\n```" for each in ("1", "'x'", "input()")
    ]
)


def exported(folder: Path, run: str) -> list[dict[str, Any]]:
    done = harness(folder, "export", run, "--to", "atif", "-o", f"{run}.jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / f"{run}.jsonl").read_text().splitlines()]


def told(run: Path) -> dict[str, Any]:
    """Of each sample what an import must bring back; who judged the first revision is no part."""
    return {
        r["sample"]: (
            {key: r[key] for key in SAME},
            [(s["turn"], s["tokens"], s["cost"], s["public_passed"]) for s in r["steps"]],
        )
        for r in results(run)
    }


def check_round_trip(folder: Path, run: str, problems: str) -> None:
    exported(folder, run)
    back = f"{run}-back"
    done = harness(folder, "import", f"{run}.jsonl", "--problems", problems, "--out", back)
    assert done.returncode == 0, done.stderr
    number = len(results(folder / run))
    assert f"{number} of {number} published verdicts agree" in done.stderr
    assert told(folder / run) == told(folder / back)
    for before, after in zip(
        *(sorted(results(folder / name), key=lambda r: r["sample"]) for name in (run, back)),
        strict=True,
    ):
        for then, now in zip(before["steps"], after["steps"], strict=True):
            assert then["solved"] in (None, now["solved"])  # each one is judged by now
            assert now["solved"] is not None
    specs = [json.loads((folder / name / "run.json").read_text())["spec"] for name in (run, back)]
    assert specs[0]["mode"] == specs[1]["mode"]
    assert exported(folder, back)[0]["steps"][0]["message"]


def test_a_run_of_the_agent_loop_comes_back(folder: Path) -> None:
    check_round_trip(folder, "agentic", "fixture")


@pytest.mark.parametrize("mode", ["self_repair", "best_of_k_public"])
def test_a_run_of_another_strategy_comes_back(tmp_path: Path, mode: str) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps(ECHO) + "\n")
    (tmp_path / "fixing.py").write_text(FIXING)
    given = ("-b", "jsonl:own.jsonl", "-m", "python:fixing:answer", "--mode", mode, "--out", "r")
    more = ("--samples-per-problem", "2", "--concurrency", "1")
    done = harness(tmp_path, "run", *given, *more)
    assert done.returncode == 0, done.stderr
    assert any(len(r["steps"]) > 1 for r in results(tmp_path / "r"))
    check_round_trip(tmp_path, "r", "jsonl:own.jsonl")


def test_the_steps_of_a_sample(folder: Path, agentic: Run) -> None:
    found = {each["trajectory_id"]: each for each in exported(folder, "agentic")}
    assert list(found) == [result.sample for result in agentic.results]
    for result in agentic.results:
        one = found[result.sample]
        assert [step["step_id"] for step in one["steps"]] == [*range(1, len(one["steps"]) + 1)]
        asked = [step for step in one["steps"] if step["source"] == "agent"]
        assert sum(step["llm_call_count"] for step in asked) == result.model_calls
        assert result.usage is not None
        tokens = [step["metrics"]["completion_tokens"] for step in asked]
        assert sum(tokens) == one["final_metrics"]["total_completion_tokens"]
        for step in one["steps"]:
            calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
            for answer in step.get("observation", {"results": ()})["results"]:
                assert answer.get("source_call_id") in {None, *calls}
        tested = [
            answer["extra"]["tests"]["passed"]
            for step in asked
            for answer in step.get("observation", {"results": ()})["results"]
            if "tests" in answer.get("extra", {})
        ]
        assert tested == [s.public_passed for s in result.steps if s.public_passed is not None]


def test_harbor_takes_it(folder: Path) -> None:
    """Skipped where Harbor is not installed, which needs Python 3.12."""
    reason = "harbor is not installed: pip install harbor"
    models = pytest.importorskip("harbor.models.trajectories.trajectory", reason=reason)
    for row in exported(folder, "agentic"):
        assert models.Trajectory.model_validate(row).agent.name == "harness"


def test_a_run_without_transcripts_is_refused(tmp_path: Path, folder: Path) -> None:
    for name in ("run.json", "results.jsonl"):
        (tmp_path / name).write_bytes((folder / "agentic" / name).read_bytes())
    done = harness(tmp_path, "export", ".", "--to", "atif")
    assert done.returncode == 2
    assert "holds no transcripts" in done.stderr
