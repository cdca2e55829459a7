import pytest

from harness.sources.errata import LIVECODEBENCH, issues_of_statement, known_issues


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("abc311_c", "many_answers"),
        ("generate-binary-strings-without-adjacent-zeros", "many_answers"),
        ("abc355_e", "interactive"),
        ("arc189_a", "wrong_tests"),
    ],
)
def test_listed_problems_have_a_reason(name: str, reason: str) -> None:
    assert known_issues("unlisted", name) == (reason,)


def test_all_of_upstreams_list_is_there_and_nothing_else() -> None:
    reasons = [reason for found in LIVECODEBENCH.values() for reason in found]
    counts = {reason: reasons.count(reason) for reason in reasons}
    assert counts == {"many_answers": 11, "interactive": 2, "wrong_tests": 4}
    assert known_issues("abc311_d", "") == ()


@pytest.mark.parametrize(
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
    ],
)
def test_a_statement_that_takes_several_answers(statement: str, many: bool) -> None:
    assert issues_of_statement(statement) == (("many_answers",) if many else ())


def test_several_answers_are_nothing_against_a_problem_that_a_checker_judges() -> None:
    assert known_issues("abc311_c", checked=True) == ()
    assert known_issues("abc355_e", checked=True) == ("interactive",)
