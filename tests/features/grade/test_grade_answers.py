"""`harness grade` on answers: LiveCodeBench's files of predictions, and our own form."""

import json
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from program import Done, harness

OUTPUT: dict[str, Any] = {
    "question_title": "add-them-up",
    "question_content": "Add all numbers.",
    "question_id": "9001",
    "contest_id": "weekly-contest-900",
    "contest_date": "2023-09-02T00:00:00",
    "difficulty": "medium",
    "starter_code": "class Solution:\n    def addUp(self, nums):\n        ",
    "function_name": "addUp",
}
EXECUTION: dict[str, Any] = {
    "question_id": "9002",
    "contest_id": "biweekly-contest-90",
    "contest_date": "2023-07-08T00:00:00",
    "difficulty": "hard",
    "function_name": "twice",
    "code": "def twice(x):\n    return x + x\n",
    "problem_id": 12,
    "numsteps": 4,
}


def output(question_id: str, test_id: int, given: str, expected: str) -> dict[str, Any]:
    test = json.dumps([{"input": given, "output": expected, "testtype": "functional"}])
    return OUTPUT | {"question_id": question_id, "test_id": test_id, "test": test}


def execution(name: str, given: str, expected: str) -> dict[str, Any]:
    return EXECUTION | {"id": name, "input": given, "output": expected}


OUTPUTS = (  # not in upstream's order, in which 2 comes before 10
    output("9001", 10, "[1, 2]", "3"),
    output("9001", 2, "[]", "[true, null]"),
    output("30", 0, "[7]", '"seven"'),
)
EXECUTIONS = (
    execution("sample_10", "twice(x = 3)", "6"),
    execution("sample_2", "twice(x = (1,))", "(1, 1)"),
)


@pytest.fixture
def two_kinds(tmp_path: Path) -> Path:
    write(tmp_path, "outputs.jsonl", OUTPUTS)
    write(tmp_path, "executions.jsonl", EXECUTIONS)
    return tmp_path


def write(folder: Path, name: str, rows: Any) -> None:
    (folder / name).write_text(json_lines(rows))


def run(folder: Path, problems: str, solutions: Any, *flags: str) -> Done:
    """`solutions`: one JSON value, or text as it is."""
    text = solutions if isinstance(solutions, str) else json.dumps(solutions, indent=1)
    (folder / "solutions.json").write_text(text)
    where = f"livecodebench:{problems}"
    return harness(folder, "grade", "--problems", where, "--solutions", "solutions.json", *flags)


def graded(folder: Path, problems: str, solutions: Any, *flags: str) -> Any:
    done = run(folder, problems, solutions, "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def verdicts(graded: Any) -> list[tuple[str, str]]:
    return [(each["problem_id"].rpartition("/")[2], each["verdict"]) for each in graded["results"]]


class TestPredictions:
    def test_predictions_of_test_outputs_are_values_or_assertions(self, two_kinds: Path) -> None:
        rows = [
            {"question_id": "9001", "test_id": 10, "pred_list": ["assert addUp([1, 2]) == 3", "4"]},
            {
                "question_id": "9001",
                "test_id": 2,
                "pred_list": ["assert addUp([]) == [True, None]", "[true, null]"],
            },
            {"question_id": 30, "test_id": "0", "pred_list": ["'seven'", ""]},
        ]
        grades = graded(two_kinds, "outputs.jsonl", rows)
        assert verdicts(grades) == [
            ("9001_10", "accepted"),
            ("9001_10", "wrong_answer"),
            ("9001_2", "accepted"),
            ("9001_2", "accepted"),
            ("30_0", "accepted"),
            ("30_0", "no_solution"),
        ]
        assert grades["summary"]["pass_at_1"]["value"] == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)
        assert grades["summary"]["isolation"] == {}

    def test_predictions_of_executions_are_values(self, two_kinds: Path) -> None:
        rows = [
            {"id": "sample_2", "pred_list": ["(1, 1)", "[1, 1]", "1, 1"]},
            {"id": "sample_10", "pred_list": ["6", "3 or True", "assert twice(x = 3) == 6"]},
        ]
        grades = graded(two_kinds, "executions.jsonl", rows)
        assert verdicts(grades) == [
            ("sample_2", "accepted"),
            ("sample_2", "wrong_answer"),
            ("sample_2", "accepted"),
            ("sample_10", "accepted"),
            ("sample_10", "wrong_answer"),
            ("sample_10", "wrong_answer"),
        ]
        assert grades["results"][4]["tests"][0]["error"] == (
            "the answer is not a literal: has an operation"
        )

    @pytest.mark.parametrize(
        ("problems", "lists", "expected"),
        [
            (
                "outputs.jsonl",
                [["'seven'"], ["[True, None]"], ["3", "5"]],
                [("30_0", True), ("9001_2", True), ("9001_10", True), ("9001_10", False)],
            ),
            (
                "executions.jsonl",
                [["(1, 1)"], ["6"]],
                [("sample_2", True), ("sample_10", True)],
            ),
        ],
    )
    def test_lists_without_names_are_in_upstream_s_order(
        self, problems: str, lists: Any, expected: Any, two_kinds: Path
    ) -> None:
        sample_verdicts = verdicts(graded(two_kinds, problems, lists))
        assert [(name, verdict == "accepted") for name, verdict in sample_verdicts] == expected

    def test_lists_that_are_too_few_are_refused(self, two_kinds: Path) -> None:
        done = run(two_kinds, "outputs.jsonl", [["3"], ["4"]])
        assert done.returncode == 2
        assert done.stderr == (
            "harness: the file is a list of 2 lists without names, and there are 3 problems: it "
            "must have one for each, in the order of their ids\n"
        )

    @pytest.mark.parametrize(
        ("solutions", "message"),
        [
            ([["3"], [], ["4"]], "item 2: an empty list; one solution at least is wanted"),
            ([["3"], [4], ["4"]], "item 2: entry 1 is not a string but 4"),
            ([["3"], "x"], "item 2: not a JSON object, nor a list of solutions"),
            (
                [["3"], {"question_id": "30", "test_id": 0, "pred_list": ["1"]}],
                "some solutions are named and others are in a list without names",
            ),
            ([{"test_id": 0, "pred_list": ["1"]}], "item 1: field 'question_id': missing"),
            ([{"id": "x", "pred_list": "1"}], "item 1: field 'pred_list': not a list"),
            ([{"id": "x", "pred_list": [1]}], "'pred_list': entry 1 is not a string but 1"),
            (
                [{"id": "x", "pred_list": ["1", "2"], "graded_list": [True]}],
                "field 'graded_list': 1 entries where there are 2 samples",
            ),
        ],
    )
    def test_a_file_that_is_otherwise_is_refused_in_a_line(
        self, solutions: Any, message: str, two_kinds: Path
    ) -> None:
        done = run(two_kinds, "outputs.jsonl", solutions)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert message in line


class TestPublished:
    def test_verdicts_of_upstream_stand_beside_ours(self, two_kinds: Path) -> None:
        row = OUTPUTS[1] | {
            "output_list": ["```\nassert addUp([]) == [True, None]\n```", "x", "y"],
            "pred_list": ["assert addUp([]) == [True, None]", "[true, null]", "5"],
            "graded_list": [True, False, False],
            "pass@1": 1 / 3,
        }
        grades = graded(two_kinds, "outputs.jsonl", [row])
        assert [each["agrees"] for each in grades["results"]] == [True, False, True]
        published = grades["summary"]["published"]
        assert (published["compared"], published["agree"]) == (3, 2)
        assert published["passed_here_only"] == 1

    def test_what_upstream_left_out_is_judged_and_has_no_published_verdict(
        self, two_kinds: Path
    ) -> None:
        row = EXECUTIONS[0] | {
            "output_list": ["a", "b", "c"],
            "pred_list": ["5", "assert twice(x = 3) == 6", "6"],
            "graded_list": [False, True],
            "pass@1": 0.5,
        }
        grades = graded(two_kinds, "executions.jsonl", [row])
        assert [each["verdict"] for each in grades["results"]] == [
            "wrong_answer",
            "wrong_answer",
            "accepted",
        ]
        assert [each["agrees"] for each in grades["results"]] == [True, None, True]
        assert grades["summary"]["pass_at_1"]["value"] == pytest.approx(1 / 3)

    def test_predictions_that_upstream_left_out_agree_as_false(self, two_kinds: Path) -> None:
        row = EXECUTIONS[0] | {"pred_list": ["twice(x = 3)"] * 2, "graded_list": [False, False]}
        grades = graded(two_kinds, "executions.jsonl", [row])
        assert [each["agrees"] for each in grades["results"]] == [True, True]


class TestOwnForm:
    def test_words_are_searched_for_the_answer(self, two_kinds: Path) -> None:
        model_output = "I think x == 3.\n[ANSWER]\nassert twice(x = 3) == 6\n[/ANSWER]"
        rows = json.dumps({"problem_id": "sample_10", "output": model_output}) + "\n"
        (ours,) = graded(two_kinds, "executions.jsonl", rows)["results"]
        assert (ours["verdict"], ours["extraction"]) == ("accepted", "answer tags")
        (direct,) = graded(two_kinds, "executions.jsonl", rows, "--extract", "lcb")["results"]
        assert direct["verdict"] == "wrong_answer"
        (cot,) = graded(two_kinds, "executions.jsonl", rows, "--extract", "lcb-cot")["results"]
        assert (cot["verdict"], cot["extraction"]) == ("accepted", "after ==")

    def test_an_answer_may_be_called_so(self, two_kinds: Path) -> None:
        rows = json.dumps({"problem_id": "sample_10", "answer": "6", "passed": True}) + "\n"
        (only,) = graded(two_kinds, "executions.jsonl", rows)["results"]
        assert (only["verdict"], only["agrees"], only["extraction"]) == ("accepted", True, "")

    def test_an_extraction_of_another_kind_is_refused(self, two_kinds: Path) -> None:
        rows = json.dumps({"problem_id": "9001_2", "output": "5"}) + "\n"
        done = run(two_kinds, "outputs.jsonl", rows, "--extract", "lcb-cot")
        assert done.returncode == 2
        assert done.stderr == (
            "harness: --extract lcb-cot: known are harness, lcb for test output prediction\n"
        )

    def test_answers_of_two_kinds_are_refused(self, two_kinds: Path) -> None:
        write(two_kinds, "both.jsonl", [OUTPUTS[0], EXECUTIONS[0]])
        rows = [{"problem_id": name, "answer": "6"} for name in ("9001_10", "sample_10")]
        done = run(two_kinds, "both.jsonl", json_lines(rows))
        assert done.returncode == 2
        assert "take one kind at a time" in done.stderr
        (only,) = graded(two_kinds, "both.jsonl", json.dumps(rows[1]) + "\n")["results"]
        assert only["verdict"] == "accepted"

    @pytest.mark.parametrize(
        "flags",
        [
            ["--rule", "tokens"],
            ["--test-timeout", "3"],
            ["--test-timeout", "reference*2"],
            ["--memory", "512"],
            ["--workers", "1"],
            ["--all-tests"],
            ["--set isolate_tests", "true"],
        ],
    )
    def test_flags_for_programs_are_refused(self, flags: list[str], two_kinds: Path) -> None:
        rows = json.dumps({"problem_id": "sample_10", "answer": "6"}) + "\n"
        words = "=".join(flags).split()
        done = run(two_kinds, "executions.jsonl", rows, *words)
        assert done.returncode == 2
        assert f"{flags[0]}: code execution problems ask for an answer" in done.stderr


def test_data_that_cannot_be_read_are_nobody_s_wrong_answer(two_kinds: Path) -> None:
    write(two_kinds, "odd.jsonl", [execution("sample_1", "twice(x = 1)", "Counter('aa')")])
    done = run(two_kinds, "odd.jsonl", [{"id": "sample_1", "pred_list": ["2"]}])
    assert done.returncode == 4
    assert "1 could not be judged; in no rate" in done.stdout
    assert "the expected value cannot be read" in " ".join(done.stdout.split())


def test_the_table_shows_where_published_verdicts_differ(two_kinds: Path) -> None:
    row = {"id": "sample_10", "pred_list": ["3 or True"], "graded_list": [True]}
    done = run(two_kinds, "executions.jsonl", [row])
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "0 accepted of 1 graded" in shown
    assert "the answer is not a literal" in shown
