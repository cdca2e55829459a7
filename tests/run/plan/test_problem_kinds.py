"""What depends on the kind of a problem: one kind at a time, its tools, extraction and judge."""

import json
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import DataError, UsageError
from harness.grading.verdict import Verdict
from harness.kinds.questions.judge import check_answerable, judge_answer
from harness.problem import Kind, Problem, TestCase, TestSuite
from harness.registry import PROBLEM_KINDS
from harness.run.plan.problem_kinds import require_code_generation, rules_for, rules_of
from harness.sources.livecodebench.livecodebench import load

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
ANSWERS = (OUTPUT, EXECUTION)
PREDICTION: dict[str, Any] = {
    "question_title": "add-them-up",
    "question_content": "Add all numbers.",
    "question_id": "9001",
    "contest_id": "weekly-contest-900",
    "contest_date": "2023-09-02T00:00:00",
    "difficulty": "medium",
    "test": json.dumps([{"input": "[1, 2]", "output": "[3, true]", "testtype": "functional"}]),
    "starter_code": "class Solution:\n    def addUp(self, nums):\n        ",
    "function_name": "addUp",
    "test_id": 3,
}
RUN: dict[str, Any] = {
    "question_id": 9002,
    "contest_id": "biweekly-contest-90",
    "contest_date": "2023-07-08T00:00:00",
    "difficulty": "hard",
    "function_name": "twice",
    "code": "def twice(x):\n    return x + x\n",
    "input": "twice(x = (1,))",
    "output": "(1, 1)",
    "id": "sample_7",
    "problem_id": 12,
    "numsteps": 4,
}


@pytest.fixture
def problems(tmp_path: Path) -> dict[Kind, Problem]:
    (tmp_path / "rows.jsonl").write_text(json.dumps(PREDICTION) + "\n" + json.dumps(RUN) + "\n")
    read = load(str(tmp_path / "rows.jsonl")).problems
    return {problem.kind: problem for problem in read}


def code_problem() -> Problem:
    return Problem(
        id="made/sum",
        source="made",
        title="Sum",
        statement="",
        platform="",
        difficulty=None,
        difficulty_word="",
        tests=TestSuite(()),
        content_hash="0",
    )


def test_every_kind_has_rules() -> None:
    assert set(PROBLEM_KINDS) == set(Kind)
    for kind in Kind:
        rules = rules_for(kind)
        assert rules.kind is kind
        assert rules.runs_code is (kind is Kind.CODE_GENERATION)


def test_problems_of_one_kind_have_its_rules(problems: dict[Kind, Problem]) -> None:
    for kind in ANSWERS:
        assert rules_of([problems[kind]] * 2).kind is kind
    assert rules_of([code_problem()]).kind is Kind.CODE_GENERATION
    assert rules_of([]).kind is Kind.CODE_GENERATION


def test_several_kinds_are_refused_in_one_line(problems: dict[Kind, Problem]) -> None:
    with pytest.raises(UsageError) as refused:
        rules_of([code_problem(), problems[OUTPUT]])
    assert str(refused.value) == (
        "made/sum is a code generation problem and livecodebench/test_generation/9001_3 a test "
        "output prediction problem: take one kind at a time, by naming other files or the problems"
    )
    with pytest.raises(UsageError, match=r"test output prediction problem and .* a code execution"):
        rules_of([problems[OUTPUT], problems[EXECUTION]])


@for_each(
    ("kind", "names"),
    [
        (Kind.CODE_GENERATION, ["harness", "lcb"]),
        (OUTPUT, ["harness", "lcb"]),
        (EXECUTION, ["harness", "lcb", "lcb-cot"]),
    ],
)
def test_extractions_go_by_name(kind: Kind, names: list[str]) -> None:
    rules = rules_for(kind)
    assert list(rules.extractors) == names
    for name in names:
        assert callable(rules.extractor(name))
    with pytest.raises(UsageError, match=f"--extract mine: known are {', '.join(names)} for"):
        rules.extractor("mine")


def test_each_extraction_of_an_execution_is_another() -> None:
    reply = "If y == 2:\n[ANSWER]\nassert twice(x = (1,)) == (1, 1)\n[/ANSWER]"
    rules = rules_for(EXECUTION)
    answers = {name: rules.extractor(name)(reply, "twice").code for name in rules.extractors}
    assert answers == {
        "harness": "(1, 1)",
        "lcb": "2:",
        "lcb-cot": "(1, 1)",
    }


def test_an_answer_is_judged_by_its_kind(problems: dict[Kind, Problem]) -> None:
    assert judge_answer(problems[OUTPUT], "[3, true]").solved
    assert judge_answer(problems[OUTPUT], "[3, True]").solved
    assert judge_answer(problems[OUTPUT], "(3, True)").verdict is Verdict.WRONG_ANSWER
    assert judge_answer(problems[EXECUTION], "(1, 1)").solved
    assert judge_answer(problems[EXECUTION], "[1, 1]").verdict is Verdict.WRONG_ANSWER
    assert judge_answer(problems[EXECUTION], "").verdict is Verdict.NO_SOLUTION


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_can_be_judged_passes_the_check(kind: Kind, problems: dict[Kind, Problem]) -> None:
    check_answerable(problems[kind])


def with_output(problem: Problem, *outputs: str) -> Problem:
    tests = tuple(TestCase(input="", output=output, public=False) for output in outputs)
    return problem.model_copy(update={"tests": TestSuite((), lambda: tests)})


def test_an_expected_value_that_is_none_is_found_beforehand(problems: dict[Kind, Problem]) -> None:
    broken = with_output(problems[EXECUTION], "Counter('aab')")
    with pytest.raises(DataError) as refused:
        check_answerable(broken)
    assert str(refused.value) == (
        "livecodebench/execution/sample_7: field 'output': the expected value is not a literal: "
        "has a call of 'Counter'"
    )
    assert judge_answer(broken, "2").verdict is Verdict.CHECKER_ERROR


@pytest.mark.parametrize("outputs", [(), ("1", "2")])
def test_a_value_question_has_exactly_one_test(
    outputs: tuple[str, ...], problems: dict[Kind, Problem]
) -> None:
    broken = with_output(problems[OUTPUT], *outputs)
    for judge in (check_answerable, lambda problem: judge_answer(problem, "1")):
        with pytest.raises(DataError, match=f"one test is wanted, not {len(outputs)}"):
            judge(broken)


def test_commands_about_programs_refuse_the_others(problems: dict[Kind, Problem]) -> None:
    require_code_generation([code_problem()])
    with pytest.raises(UsageError, match="sample_7 is a code execution problem, which no program"):
        require_code_generation([code_problem(), problems[EXECUTION]])
