"""`POST /grade`: verdicts, rewards, batches, and nothing of a hidden test."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from judge_server import JudgeServer
from own_problems import DOUBLE, ECHO
from program import harness as program

import harness
from harness.grading.verdict import Verdict
from harness.problem import TestSuite
from harness.run.plan.problem_loader import load_problems

pytestmark = pytest.mark.usefixtures("kept_sandbox")

RIGHT = "print(input())"
SECRET = "9f1c77aa"
SOLUTIONS = (
    ("own/echo", RIGHT),
    ("own/echo", "print(1)"),
    ("own/echo", "1 +"),
    ("own/echo", ""),
    ("own/echo", "import sys; sys.exit(1)"),
    ("own/echo", "while True: pass"),
    ("double", "def double(n): return n + n"),
    ("double", "def double(n): return n"),
    ("double", "def triple(n): return n"),
)


def items(**more: Any) -> list[dict[str, Any]]:
    return [{"problem": name, "code": code, **more} for name, code in SOLUTIONS]


def batch(judge: JudgeServer, **body: Any) -> list[Any]:
    answer = judge.client.post("/grade", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


class TestOneSolution:
    def test_a_solution_of_a_problem_of_the_server_is_graded(self, judge: JudgeServer) -> None:
        answer = judge.grade(problem="echo", code=RIGHT, id="mine")
        tests = answer["tests"]
        assert [(test["index"], test["public"]) for test in tests] == [
            (0, True),
            (1, False),
            (2, False),
        ]
        assert {test["verdict"] for test in tests} == {"accepted"}
        assert (answer["verdict"], answer["passed"], answer["reward"]) == ("accepted", True, 1.0)
        assert (answer["problem"], answer["id"], answer["index"]) == ("own/echo", "mine", 0)
        counts = [answer[f"tests_{word}"] for word in ("passed", "run", "total")]
        assert (counts, answer["hidden_total"]) == ([3, 3, 3], 2)
        assert answer["isolation"]

    def test_a_solution_is_graded_by_the_tests_given(self, judge: JudgeServer) -> None:
        tests = [{"input": "1\n2", "output": "3"}, {"input": "2\n2", "output": "5"}]
        answer = judge.grade(
            tests=tests, entry_point="add", code="def add(a, b): return a + b", all_tests=True
        )
        assert (answer["verdict"], answer["reward"]) == ("wrong_answer", 0.0)
        assert [test["verdict"] for test in answer["tests"]] == ["accepted", "wrong_answer"]
        difference = answer["tests"][1]["difference"]
        assert (difference["expected"], difference["got"]) == ("5", "4")

    def test_a_solution_is_graded_by_a_training_row_s_column(self, judge: JudgeServer) -> None:
        column = {"inputs": [[1, 2], [3, 4]], "outputs": [3, 7], "fn_name": "add"}
        text = "So:\n```python\nclass Solution:\n    def add(self, a, b): return a + b\n```"
        answer = judge.grade(input_output=column, text=text)
        assert (answer["verdict"], answer["extraction"]) == (
            "accepted",
            "python block with entry point",
        )
        lines = {"inputs": ["1\n2", "3\n4"], "outputs": ["3", 7], "fn_name": "add"}
        assert judge.grade(input_output=lines, text=text)["reward"] == 1.0
        stdin = {"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]}
        assert judge.grade(input_output=stdin, code=RIGHT)["reward"] == 1.0
        for each, answer in ((column, {"text": text}), (stdin, {"code": RIGHT})):  # as APPS has it
            assert judge.grade(input_output=json.dumps(each), **answer)["reward"] == 1.0

    def test_a_solution_may_take_imports_for_granted(self, judge: JudgeServer) -> None:
        code = "print(sum(Counter(input()).values()), inf)"
        tests = [{"input": "aab", "output": "3 inf"}]
        assert judge.grade(tests=tests, code=code)["reward"] == 1.0

    def test_without_a_test_has_no_reward(self, judge: JudgeServer) -> None:
        answer = judge.grade(problem="untested", code=RIGHT)
        assert (answer["verdict"], answer["reward"]) == ("ungraded", None)


class TestSettings:
    def test_grade_uses_the_requested_rule(self, judge: JudgeServer) -> None:
        tests = [{"input": "", "output": "1 2\n3"}]
        for rule, reward in (("tokens", 1.0), ("lcb", 0.0)):
            answer = judge.grade(tests=tests, code="print('1  2 3')", rule=rule)
            assert answer["reward"] == reward

    def test_grade_uses_the_requested_reward(self, judge: JudgeServer) -> None:
        code = "x = input()\nprint(x if x != '2' else 0)"
        assert judge.grade(problem="echo", code=code)["reward"] == 0.0
        fraction = judge.grade(problem="echo", code=code, reward="fraction")
        assert (fraction["reward"], fraction["tests_run"]) == (2 / 3, 3)

    def test_grade_uses_the_requested_extraction(self, judge: JudgeServer) -> None:
        text = "```python\nprint(input())\n```\n```\nprint(2)\n```"
        assert judge.grade(problem="echo", text=text)["reward"] == 1.0
        assert judge.grade(problem="echo", text=text, extract="lcb")["reward"] == 0.0
        assert judge.grade(problem="echo", text=RIGHT, extract="code")["reward"] == 1.0

    @pytest.mark.thorough
    def test_grade_uses_the_requested_limits(self, judge: JudgeServer) -> None:
        loop = judge.grade(problem="echo", code="while True: pass", test_timeout=0.3)
        assert (loop["verdict"], loop["tests_run"]) == ("time_limit", 1)
        assert 0.3 <= loop["tests"][0]["cpu_s"] < 3
        sleep = "import time; time.sleep(20)"
        assert judge.grade(problem="echo", code=sleep, wall_timeout=0.3)["verdict"] == "time_limit"
        large = "x = bytearray(1 << 28); print(input())"
        assert judge.grade(problem="echo", code=large)["verdict"] == "accepted"
        assert judge.grade(problem="echo", code=large, memory=64)["verdict"] == "memory_limit"

    def test_grade_runs_all_tests_on_request(self, judge: JudgeServer) -> None:
        for all_tests, number in ((True, 3), (False, 2)):
            answer = judge.grade(problem="echo", code="print(1)", all_tests=all_tests)
            assert answer["tests_run"] == number

    def test_a_batch_s_are_its_items_unless_they_say_otherwise(self, judge: JudgeServer) -> None:
        both = [{"problem": "echo", "code": "print(1)"}] * 2
        both[1] = {**both[1], "reward": "passed"}
        grades = batch(judge, items=both, reward="fraction")
        assert {each["index"]: each["reward"] for each in grades} == {0: 1 / 3, 1: 0.0}


class TestHiddenTests:
    def test_nothing_of_one_leaves_the_server(self, tmp_path: Path) -> None:
        tests = [
            {"input": "1", "output": "1", "public": True},
            {"input": SECRET, "output": f"{SECRET}0", "public": False},
        ]
        path = tmp_path / "own.jsonl"
        path.write_text(json.dumps(ECHO | {"tests": tests}))
        tells = (
            "print(input())",
            "raise ValueError(input())",
            "import sys; x = input(); print(x, file=sys.stderr); print(x); sys.exit(x)",
            "x = input()\nprint(x)\nif len(x) > 1: assert 0, x",
            "x = input(); print(x); exec(x + '(')",
        )
        with JudgeServer(load_problems(f"jsonl:{path}")) as judge:
            for code in tells:
                body = {"problem": "echo", "code": code, "all_tests": True}
                answer = judge.client.post("/grade", json=body)
                assert len(answer.json()["tests"]) == 2
                assert SECRET not in answer.text
            assert SECRET not in judge.client.get("/metrics").text
            assert SECRET not in judge.client.get("/health").text

    def test_the_cause_of_a_checker_failure_does_not_leave_the_server(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken() -> Any:
            raise harness.DataError("row 1", None, f"not readable: {SECRET}")

        (problem, *_) = load_problems("fixture")
        torn = problem.model_copy(update={"tests": TestSuite((), broken)})
        with JudgeServer([torn], workers=1) as judge:
            answer = judge.grade(problem=torn.id, code=RIGHT)
        assert (answer["verdict"], answer["reward"]) == ("checker_error", None)
        assert SECRET not in json.dumps(answer)
        assert SECRET in caplog.text


class TestBatches:
    @pytest.mark.thorough
    def test_each_item_has_one_line(self, judge: JudgeServer) -> None:
        grades = batch(judge, items=items(test_timeout=0.5))
        assert sorted(each["index"] for each in grades) == [*range(len(SOLUTIONS))]

    def test_lines_come_as_items_are_judged(self, judge: JudgeServer) -> None:
        slow: dict[str, Any] = {"problem": "echo", "code": "import time; time.sleep(600)", "id": 0}
        slow["wall_timeout"] = 600
        quick = [{"problem": "echo", "code": RIGHT, "id": n} for n in range(1, 6)]
        with judge.client.stream("POST", "/grade", json={"items": [slow, *quick]}) as answer:
            ids = [json.loads(line)["id"] for line in islice(answer.iter_lines(), len(quick))]
        assert sorted(ids) == [each["id"] for each in quick]

    def test_verdicts_are_those_of_harness_grade(self, judge: JudgeServer, tmp_path: Path) -> None:
        (tmp_path / "own.jsonl").write_text(f"{json.dumps(ECHO)}\n{json.dumps(DOUBLE)}\n")
        rows = [{"problem_id": name, "code": code} for name, code in SOLUTIONS]
        (tmp_path / "s.jsonl").write_text(json_lines(rows))
        done = program(
            tmp_path,
            *("grade", "--problems", "jsonl:own.jsonl", "--solutions", "s.jsonl", "--json"),
            *("--test-timeout", "0.2"),
        )
        there = [
            (each["verdict"], [test["verdict"] for test in each["tests"]])
            for each in json.loads(done.stdout)["results"]
        ]
        grades = sorted(
            batch(judge, items=items(test_timeout=0.2)), key=lambda each: int(each["index"])
        )
        here = [(each["verdict"], [t["verdict"] for t in each["tests"]]) for each in grades]
        assert here == there
        assert len({verdict for verdict, _ in here}) == 6


class TestBadRequests:
    @for_each(
        ("body", "message"),
        [
            ({"problem": "echo"}, "code and text"),
            ({"problem": "echo", "code": "", "text": ""}, "code and text"),
            ({"code": ""}, "problem, tests and input_output"),
            ({"problem": "echo", "tests": [], "code": ""}, "problem, tests and input_output"),
            ({"problem": "ecko", "code": ""}, "did you mean own/echo?"),
            ({"problem": "echo", "code": "", "rule": "nearly"}, "rule"),
            (
                {"problem": "echo", "text": "", "extract": "best"},
                "known are harness, lcb, code for",
            ),
            ({"problem": "echo", "code": "", "reward": "half"}, "reward"),
            ({"problem": "echo", "code": "", "memory": 1 << 20}, "at most 2048 MiB"),
            ({"problem": "echo", "code": "", "test_timeout": 1e9}, "test_timeout"),
            ({"problem": "echo", "code": "", "tset_timeout": 1}, "tset_timeout"),
            ({"problem": "echo", "code": "", "entry_point": "f"}, "entry_point goes with tests"),
            ({"input_output": {"inputs": ["1"], "outputs": []}, "code": ""}, "1 inputs but 0"),
            (
                {"input_output": '{"inputs": ["1"', "code": ""},
                "input_output: its text",
            ),
            ({"input_output": "[]", "code": ""}, "input_output: must be"),
            (
                {"input_output": {"inputs": ["1"], "outputs": [], "fn_name": "f"}, "code": ""},
                "as many outputs",
            ),
            (
                {"input_output": {"inputs": ["1"], "outputs": ["1"], "fn_name": "f("}, "code": ""},
                "not a Python name",
            ),
            (
                {"tests": [{"input": "[1,2\n3", "output": "4"}], "entry_point": "f", "code": ""},
                "tests: test 1: line 1 of the input is not a JSON value",
            ),
            (
                {"input_output": {"inputs": ["1"], "outputs": ["[4"], "fn_name": "f"}, "code": ""},
                "the output is not a JSON value",
            ),
            ({"items": []}, "items"),
            ({"items": [{"problem": "echo", "code": ""}, {"problem": "x", "code": ""}]}, "items.1"),
            ({"items": [{"problem": "echo"}]}, "items.0"),
        ],
    )
    def test_bad_grade_requests_say_what_is_wrong(
        self, judge: JudgeServer, body: Any, message: str
    ) -> None:
        status, detail = judge.refused("/grade", body)
        assert (status, message in detail) == (422, True), detail

    def test_nothing_is_judged_of_a_batch_that_is_wrong(self, judge: JudgeServer) -> None:
        with JudgeServer(judge._problems, workers=1) as alone:  # the other may still be judging
            alone.refused("/grade", {"items": [*items(), {"problem": "x", "code": ""}]})
            assert alone.service.workers.metrics.worked.total_s == 0


def test_an_infrastructure_failure_has_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox fails twice, as it does where the machine has no memory left."""
    from harness.sandbox.execution import SandboxError
    from harness.sandbox.pool import SandboxPool

    (problem, *_) = load_problems("fixture")
    with JudgeServer([problem], workers=1) as judge:

        async def failing(*_: Any, **__: Any) -> Any:
            raise SandboxError("it was killed")

        monkeypatch.setattr(SandboxPool, "call", failing)
        answer = judge.grade(problem=problem.id, code=RIGHT)
        assert (answer["verdict"], answer["reward"]) == (Verdict.SANDBOX_ERROR, None)
        assert answer["cause"] == "it was killed"
        run = judge.run_code(RIGHT)
        assert (run["status"], run["message"], run["run_result"]) == (
            ("SandboxError", "it was killed", None)
        )
        for _ in range(3):
            judge.run_code(RIGHT)
        health = judge.client.get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "failing")


def test_answers_are_judged_where_problems_ask_for_a_value(tmp_path: Path) -> None:
    row = {
        "id": "sample_1",
        "question_id": "9002",
        "contest_id": "biweekly-contest-90",
        "contest_date": "2023-07-08T00:00:00",
        "difficulty": "hard",
        "function_name": "twice",
        "code": "def twice(x):\n    return x + x\n",
        "problem_id": 12,
        "numsteps": 4,
        "input": "twice(x = 3)",
        "output": "6",
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    problems = load_problems(f"livecodebench:{tmp_path / 'rows.jsonl'}")
    with JudgeServer(problems, workers=1) as judge:
        assert judge.grade(problem=problems[0].id, code="6")["reward"] == 1.0
        assert judge.grade(problem=problems[0].id, text="[ANSWER]7[/ANSWER]")["reward"] == 0.0
