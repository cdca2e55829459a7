"""Reasons that are kept of judged references."""

from for_each import for_each
from judged_tests_made import judged_test

from harness.features.verify.library import finding
from harness.grading.jobs import Judged
from harness.grading.verdict import Difference, Grade, Verdict


@for_each(("got", "reason"), [("4", "'3' expected, '4' given"), ("3\n", "the parts do not add up")])
def test_a_checker_s_own_words_stand_where_the_outputs_are_equal(got: str, reason: str) -> None:
    failed = judged_test(
        difference=Difference(where="the parts do not add up", expected="3", got=got)
    )
    grade = Grade(verdict=Verdict.WRONG_ANSWER, tests=(failed,), public_total=1)
    assert finding(Judged(0, grade)).reason == reason
