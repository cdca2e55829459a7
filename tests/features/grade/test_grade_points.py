"""`harness grade` on a contest package that gives points."""

import json
from pathlib import Path

import pytest
from contest_packages import write_package
from json_lines import json_lines
from judge_server import JudgeServer
from program import harness

from harness import Episode, Episodes, Grader
from harness.run.plan.problem_loader import load_problems

pytestmark = pytest.mark.usefixtures("kept_sandbox")

GROUPS = {
    "data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\n",
    "data/sample/testdata.yaml": "grader_flags: sum\naccept_score: 0\n",
    "data/secret/testdata.yaml": "grader_flags: accept_if_any_accepted\n",
    "data/secret/group/testdata.yaml": "accept_score: 30\ngrader_flags: min\n",
    "data/secret/other/testdata.yaml": "accept_score: 70\ngrader_flags: min\n",
    "data/secret/other/3.in": "8\n",
    "data/secret/other/3.ans": "4 4\n",
}
HALF = "n = int(input())\nprint(n // 2, n - n // 2)"
PART = HALF.replace("print", "assert n < 8\nprint")


def test_points_stand_beside_the_verdict(tmp_path: Path) -> None:
    write_package(tmp_path / "parts", "type: scoring\n", GROUPS)
    rows = [{"problem_id": "parts", "code": code} for code in (HALF, PART, "print(0)")]
    (tmp_path / "solutions.jsonl").write_text(json_lines(rows))
    command = ("grade", "--problems", "icpc:parts", "--solutions", "solutions.jsonl")
    done = harness(tmp_path, *command, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [(each["verdict"], each["passed"], each["score"]) for each in data["results"]] == [
        ("accepted", True, {"points": 100.0, "maximum": 100.0}),
        ("runtime_error", False, {"points": 30.0, "maximum": 100.0}),
        ("wrong_answer", False, {"points": 0.0, "maximum": 100.0}),
    ]
    assert round(data["summary"]["mean_score"], 6) == round(130 / 300, 6)
    assert data["summary"]["accepted"] == 1
    assert "points" in harness(tmp_path, *command).stdout


def test_a_fraction_is_that_of_the_points(tmp_path: Path) -> None:
    rewards = {HALF: 1.0, PART: 0.3, "print(0)": 0.0}
    write_package(tmp_path / "parts", "type: scoring\n", GROUPS)
    problems = f"icpc:{tmp_path / 'parts'}"
    with Grader(problems, reward="fraction", workers=1) as grader:
        answers = [f"```python\n{code}\n```" for code in rewards]
        assert grader.score(["parts"] * 3, answers) == pytest.approx([*rewards.values()])
    with Episodes(problems, reward="fraction", workers=1) as episodes:
        for code, reward in rewards.items():
            episode = Episode(episodes)
            episode.reset("parts")
            episode.write_solution(code)
            assert episode.reward().value == pytest.approx(reward)
    with JudgeServer(load_problems(problems), workers=1) as judge:
        for code, reward in rewards.items():
            answer = judge.grade(problem="parts", code=code, reward="fraction")
            assert (answer["reward"], answer["score"]["points"]) == (reward, 100 * reward)
