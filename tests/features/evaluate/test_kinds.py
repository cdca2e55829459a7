"""Problems that ask for a call's value: listed, shown and run, and refused where code is judged."""

import json
from pathlib import Path

import pytest
from chat_server import ChatServer, completion, in_turn, tool_call
from json_lines import json_lines
from own_models import answering
from program import harness, results, run

SECRET = "271828182845904523"
CODE = {
    "question_title": "Echo",
    "question_content": "Print the line.",
    "platform": "atcoder",
    "question_id": "abc1",
    "contest_id": "abc",
    "contest_date": "2024-01-01T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps([{"input": "a", "output": "a", "testtype": "stdin"}]),
    "private_test_cases": "[]",
    "metadata": "{}",
}
PREDICTION = {
    "question_title": "add-them-up",
    "question_content": "Add all numbers.",
    "question_id": "9001",
    "contest_id": "weekly-contest-900",
    "contest_date": "2023-09-02T00:00:00",
    "difficulty": "medium",
    "test": json.dumps([{"input": "[1, 2]\ntrue", "output": SECRET, "testtype": "functional"}]),
    "starter_code": "class Solution:\n    def addUp(self, nums, more):\n        ",
    "function_name": "addUp",
    "test_id": 3,
}
EXECUTION = {
    "question_id": "9002",
    "contest_id": "biweekly-contest-90",
    "contest_date": "2023-07-08T00:00:00",
    "difficulty": "hard",
    "function_name": "twice",
    "code": "def twice(x):\n    return x + x\n",
    "input": "twice(x = 3)",
    "output": SECRET,
    "id": "sample_7",
    "problem_id": 12,
    "numsteps": 4,
}
ROWS = "livecodebench:rows.jsonl"
ASKED = "def solve(problem):\n    open('asked', 'w').close()\n    return 'print(input())'\n"


@pytest.fixture
def all_kinds(tmp_path: Path) -> Path:
    rows = json_lines((CODE, PREDICTION, EXECUTION))
    (tmp_path / "rows.jsonl").write_text(rows)
    (tmp_path / "mine.py").write_text(ASKED)
    (tmp_path / "solutions.jsonl").write_text('{"problem_id": "abc1", "code": "print(input())"}\n')
    return tmp_path


def test_the_list_says_what_kind_each_is(all_kinds: Path) -> None:
    lines = harness(all_kinds, "problems", ROWS, COLUMNS="160").stdout.splitlines()
    kinds = {
        word.removeprefix("livecodebench/"): line
        for line in lines
        if (word := line.strip().partition(" ")[0]).startswith("livecodebench/")
    }
    assert "program" in kinds["abc1"]
    assert "test output" in kinds["test_generation/9001_3"]
    assert "execution" in kinds["execution/sample_7"].split()


def test_a_value_question_is_shown_without_its_answer(all_kinds: Path) -> None:
    shown = harness(all_kinds, "problems", "9001_3", "-b", ROWS).stdout
    assert "kind:         test output prediction, function addUp" in shown
    assert "tests:        0 public, 1 hidden" in shown
    assert "Asked is the value of:\naddUp([1, 2], True)" in shown
    assert SECRET not in shown
    shown = harness(all_kinds, "problems", "sample_7", "-b", ROWS).stdout
    assert "kind:         code execution, function twice" in shown
    assert "Program:\ndef twice(x):\n    return x + x\n" in shown
    assert "Asked is the value of:\ntwice(x = 3)" in shown
    assert SECRET not in shown


RUN = ["run", "-b", ROWS, "--out", "r"]
MINE = [*RUN, "-m", "python:mine:solve"]


def test_several_kinds_are_no_run(all_kinds: Path) -> None:
    done = harness(all_kinds, *MINE)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert "take one kind at a time" in line
    assert "code generation problem and livecodebench/test_generation/9001_3" in line
    assert not (all_kinds / "r").exists()
    assert not (all_kinds / "asked").exists()


def test_their_references_are_not_verified(all_kinds: Path) -> None:
    done = harness(all_kinds, "verify", ROWS)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "is a test output prediction problem, which no program solves" in line


@pytest.mark.parametrize("mode", ["self_repair", "best_of_k_public"])
def test_what_lives_by_public_tests_is_refused_by_name(mode: str, all_kinds: Path) -> None:
    (all_kinds / "mine.py").write_text(answering(solve=SECRET))
    done = harness(all_kinds, *MINE, "-t", "9001_3", "--mode", mode)
    assert done.returncode == 2
    assert f"--mode {mode} runs solutions on tests" in done.stderr
    assert "prediction problems have none; give single_shot or agentic" in done.stderr


@pytest.mark.parametrize(
    ("task", "prompt", "value", "verdict"),
    [
        ("9001_3", "default", SECRET, "accepted"),
        ("9001_3", "cot", SECRET, "accepted"),
        ("9001_3", "default", "3", "wrong_answer"),
        ("9001_3", "default", f"{SECRET} or True", "wrong_answer"),
        ("sample_7", "default", SECRET, "accepted"),
        ("sample_7", "cot", SECRET, "accepted"),
        ("sample_7", "default", f"{SECRET} or True", "wrong_answer"),
    ],
)
def test_an_answer_is_judged_by_its_value(
    task: str, prompt: str, value: str, verdict: str, all_kinds: Path
) -> None:
    answer = f"[ANSWER]\n{value}\n[/ANSWER]"
    (all_kinds / "mine.py").write_text(answering(solve=answer))
    done = harness(all_kinds, *MINE, "-t", task, "--prompt", prompt)
    assert done.returncode == 0, done.stderr
    (result,) = results(all_kinds / "r")
    assert (result["verdict"], result["chosen_by"]) == (verdict, "answer")
    assert result["hidden_total"] == 1


@pytest.mark.parametrize("task", ["9001_3", "sample_7"])
async def test_the_agent_loop_has_the_tools_that_make_sense(task: str, all_kinds: Path) -> None:
    replies = in_turn(
        completion(tool_calls=[tool_call("read_problem")]),
        completion(tool_calls=[tool_call("write_answer", {"answer": "no literal, this"})]),
        completion(tool_calls=[tool_call("write_answer", {"answer": SECRET})]),
        completion("That is my answer."),
    )
    async with ChatServer(replies) as server:
        flags = ["--agentic-mode", "-m", "served", "-t", task, "--base-url", server.base_url]
        code, _, err = await run(all_kinds, *RUN, *flags)
    assert code == 0, err
    offered = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert offered == ["read_problem", "write_answer"]
    assert all(SECRET not in json.dumps(asked.body) for asked in server.requests[:3])
    (result,) = results(all_kinds / "r")
    assert (result["verdict"], result["written"]) == ("accepted", 1)
    assert result["stop_reason"] == "model_stopped"


def test_an_answer_that_cannot_be_judged_is_not_asked_for(all_kinds: Path) -> None:
    (all_kinds / "rows.jsonl").write_text(json.dumps({**EXECUTION, "output": "twice(3)"}))
    done = harness(all_kinds, *MINE)
    assert done.returncode == 4, done.stderr
    assert "the expected value is not a literal" in done.stderr
    assert not (all_kinds / "asked").exists()


def test_solutions_of_the_others_are_graded_all_the_same(all_kinds: Path) -> None:
    done = harness(
        all_kinds, "grade", "--problems", ROWS, "--solutions", "solutions.jsonl", "--json"
    )
    assert done.returncode == 0, done.stderr
    (only,) = json.loads(done.stdout)["results"]
    assert (only["problem_id"], only["verdict"]) == ("livecodebench/abc1", "accepted")


def test_a_code_problem_of_a_mixed_file_can_be_run_by_itself(all_kinds: Path) -> None:
    done = harness(all_kinds, *MINE, "-t", "abc1")
    assert done.returncode == 0, done.stderr
    assert (all_kinds / "asked").exists()
