"""A problem gets an impossible test only where a change can be proven."""

import json
from pathlib import Path
from typing import Any

from for_each import for_each
from impossible_made import rows

import harness
from harness.features.impossible.choice import Choice
from harness.features.impossible.fitness import (
    Proof,
    judged_proof,
    only_tests,
    rule_refuses,
    says_several,
    unfit,
)
from harness.grading.jobs import Options
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.problem import Problem, TestCase

ROW = rows(1)[0]
TESTS = Path(__file__).parents[2]
WORDINGS = json.loads(Path(__file__).with_name("wordings.json").read_text())
ADD = {"code": "def check(input, expected, answer): return True"}


def problem(**changes: Any) -> Problem:
    (loaded_problem,) = harness.load_problems([{**ROW, **changes}])
    return loaded_problem


def test_a_problem_with_one_answer_and_a_rule_is_fit() -> None:
    assert unfit(problem(), Options()) is None


@for_each(
    ("changes", "options", "reason"),
    [
        ({"checker": ADD["code"]}, Options(), "its own checker"),
        ({"statement": "Return any valid answer."}, Options(), "several right answers"),
        ({}, Options(rule="apps_legacy"), "rule accepts several answers"),
        ({"tests": [{**ROW["tests"][0], "public": True}]}, Options(), "no hidden test"),
        ({"tests": [{**ROW["tests"][0], "public": False}]}, Options(), "no public test"),
        ({"known_issues": ["wrong test"]}, Options(), "known issues"),
    ],
)
def test_unfit_problems_are_told_with_a_reason(
    changes: dict[str, Any], options: Options, reason: str
) -> None:
    assert unfit(problem(**changes), options) == reason


@for_each(
    "text",
    [
        "You may return the answer in any order.",
        "If there are multiple solutions, print any of them.",
        "Print one such permutation; any valid one will be accepted.",
        "The answer is not necessarily unique.",
        "Choose a pivot at random.",
        "The order of the output does not matter.",
        "",
    ],
)
def test_a_statement_that_allows_several_answers_is_known(text: str) -> None:
    assert says_several(text)


@for_each("text", WORDINGS["statement_allows_several_answers"])
def test_plain_wordings_of_several_answers_are_known(text: str) -> None:
    assert says_several(text)
    assert says_several(f"Given are n numbers. {text} The time limit is one second.")


@for_each("text", WORDINGS["statement_allows_one_answer"])
def test_statements_with_one_answer_are_no_such(text: str) -> None:
    assert not says_several(text)


def test_a_plain_statement_is_not_taken_for_one_with_several_answers() -> None:
    assert not says_several("Return the number of ways to climb the stairs. Print the smallest.")


def test_tests_with_the_same_input_are_not_changed() -> None:
    tests = [TestCase(input=text, output="1", public=True) for text in ("a", "b", "a ")]
    assert only_tests(tuple(tests)) == [1]


def test_the_rule_must_tell_both_outputs_apart() -> None:
    one = problem()
    assert rule_refuses(one, Options(), "[1, 2]", "[2, 1]")
    assert not rule_refuses(one, Options(), "1", "1.0")
    assert not rule_refuses(one, Options(), "NaN", "1")


def grade(*verdicts: Verdict) -> Grade:
    tests = [
        TestResult(index=n, public=True, verdict=each, cpu_s=0, wall_s=0)
        for n, each in enumerate(verdicts)
    ]
    return Grade(verdict=verdicts[-1], tests=tuple(tests))


RIGHT, WRONG, LATE = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT


@for_each(
    ("grades", "proof"),
    [
        ([(RIGHT, WRONG)], Proof.HOLDS),
        ([(RIGHT, WRONG), (LATE, LATE)], Proof.HOLDS),
        ([(RIGHT, WRONG), (WRONG, RIGHT)], Proof.PASSED),
        ([(RIGHT, RIGHT)], Proof.PASSED),
        ([(RIGHT, WRONG), (WRONG, WRONG)], Proof.DOUBTFUL),
        ([(LATE, LATE)], Proof.DOUBTFUL),
        ([(Verdict.COMPILE_ERROR,)], Proof.DOUBTFUL),
    ],
)
def test_references_prove_a_change(grades: list[tuple[Verdict, ...]], proof: Proof) -> None:
    assert judged_proof([grade(*each) for each in grades]) is proof


def test_the_seed_and_the_id_decide_the_change() -> None:
    def first(seed: int, **changes: Any) -> Any:
        return next(Choice(Options(), "oneoff", seed).proposals(problem(**changes)))

    assert first(1) == first(1)
    assert len({first(seed) for seed in range(8)}) > 1
    assert len({first(1, id=f"made/{n}") for n in range(8)}) > 1
