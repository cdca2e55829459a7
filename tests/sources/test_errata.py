from pathlib import Path

import pytest
from for_each import for_each

from harness.sources.apps.apps import load as load_apps
from harness.sources.livecodebench.livecodebench import load
from harness.sources.problem_names import LIVECODEBENCH, issues_of_statement, known_issues


@for_each(
    ("name", "reason"),
    [
        ("abc311_c", "many_answers"),
        ("generate-binary-strings-without-adjacent-zeros", "many_answers"),
        ("abc355_e", "interactive"),
        ("arc189_a", "wrong_tests"),
        ("3291", "wrong_tests"),
    ],
)
def test_listed_problems_have_a_reason(name: str, reason: str) -> None:
    assert known_issues("unlisted", name) == (reason,)


def test_all_of_upstreams_list_is_there_and_nothing_else_but_tests_beyond_constraints() -> None:
    own = {"2837", "3025", "3291", "3329"}
    assert all(LIVECODEBENCH[name] == ("wrong_tests",) for name in own)
    reasons = [r for name, issues in LIVECODEBENCH.items() if name not in own for r in issues]
    counts = {reason: reasons.count(reason) for reason in reasons}
    assert counts == {"many_answers": 11, "interactive": 2, "wrong_tests": 4}
    assert known_issues("abc311_d", "") == ()


@for_each(
    ("statement", "many"),
    [
        ("You may return the answer in any order.", True),
        ("Note that the returned array may be in any order.", True),
        ("Return the two numbers (in any order), so that all is well.", True),
        ("If there are multiple answers, return any of them.", True),
        ("Return any valid arrangement.", True),
        ("You may do these steps in any order. Return the least cost.", False),
        ("Return the greatest number. Words can be put in any order.", False),
        ("Return whether any of them is odd.", False),
        ("If there are multiple solutions, you may print any of them.", True),
        ("If multiple solutions exist, any of them will be accepted.", True),
        ("If it is possible, print one way to do so.", True),
        ("Print any integer that is not the sum.", True),
        ("The judge is case-insensitive.", True),
        ("Find a set of villagers that is not contradictory.", True),
        ("If several satisfy this, you are allowed to find any of them.", True),
        ("You can print solutions in any order.", True),
        ("You can print each letter in any case (upper or lower).", True),
        ("For each test case print one integer: the least sum.", False),
        ("If it cannot be done, print one number 0 on a line.", False),
        ("You can perform the steps any number of times in any order.", False),
        ("If there are multiple answers, return the one that occurs last.", False),
        ("Print one line containing the probability.", False),
        ("In each room you may find a set of keys.", False),
    ],
)
def test_a_statement_that_takes_several_answers(statement: str, many: bool) -> None:
    assert issues_of_statement(statement) == (("many_answers",) if many else ())


def test_several_answers_are_nothing_against_a_problem_that_a_checker_judges() -> None:
    assert known_issues("abc311_c", checked=True) == ()
    assert known_issues("abc355_e", checked=True) == ("interactive",)


@for_each(
    ("statement", "near"),
    [
        ("Your output is correct if the absolute or relative error is at most 10^{-6}.", True),
        ("It is correct when the absolute error from the true value is at most 10 ^ {-8}.", True),
        ("Answers within 10^-5 of the actual answer will be accepted.", True),
        ("Answers within 10-5 of the actual value will be accepted.", True),
        ("Any answer with a calculation error less than 10-5 will be accepted.", True),
        ("It is considered correct if $|a + b - d| \\le 10^{-6}$.", True),
        ("Return the least absolute difference.", False),
        ("-10^5 <= nums[i] <= 10^5, and the answer is within 10^9.", False),
    ],
)
def test_a_statement_that_takes_a_tolerance(statement: str, near: bool) -> None:
    assert issues_of_statement(statement) == (("tolerance",) if near else ())
    assert known_issues("new", statement=statement) == (("tolerance",) if near else ())
    assert known_issues("new", statement=statement, checked=True) == ()


@pytest.mark.thorough
def test_statements_of_release_6_are_found_with_few_false_alarms(test_data: Path) -> None:
    rows = load(str(test_data / "lcb_codegen_public1055/test_public_only.jsonl.gz")).problems
    suspects = {row.native_id for row in rows if issues_of_statement(row.statement)}
    checked = {row.native_id for row in rows if row.checker is not None}
    assert checked <= suspects
    assert suspects - checked == {"abc327_b", "abc350_c", "abc398_f"}


def test_statements_of_apps_are_flagged_as_they_load(test_data: Path) -> None:
    """All were read: no alarm is false, and one problem (2033) does not say it in such words."""
    folder = test_data / "apps_codechain_minival"
    rows = [
        row
        for level in ("introductory", "interview", "competition")
        for row in load_apps(str(folder / f"{level}.jsonl")).problems
    ]
    flags = [issue for row in rows for issue in row.known_issues]
    assert len(rows) == 150
    assert {issue: flags.count(issue) for issue in flags} == {"many_answers": 31, "tolerance": 5}
    assert {row.id for row in rows if "tolerance" in row.known_issues} == {
        *("apps/18", "apps/24", "apps/2002", "apps/2024", "apps/2040")
    }
