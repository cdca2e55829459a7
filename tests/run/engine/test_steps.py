"""How good each revision was: what its own public tests and the two grades say."""

import pytest
from for_each import for_each

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.languages.program_key import code_hash
from harness.models.prices.price import Price
from harness.models.protocol import Usage
from harness.run.engine.revisions import steps_of, to_judge
from harness.tools.revision import Report, Revision, Spent

RIGHT, WRONG = Grade(verdict=Verdict.ACCEPTED), Grade(verdict=Verdict.WRONG_ANSWER)
USAGE = Usage(input_tokens=1_000, output_tokens=500)


def written(code: str, passed: int | None = None, verdict: Verdict | None = None) -> Revision:
    """A revision; `passed` of its two public tests, None where they were not run."""
    report = None
    if passed is not None:
        verdict = verdict or (Verdict.ACCEPTED if passed == 2 else Verdict.WRONG_ANSWER)
        report = Report(verdict, passed, 2)
    return Revision.of(code, Spent(1, USAGE, 2.0), report=report)


def attempt(*revisions: Revision, code: str | None = None) -> Attempt:
    return Attempt(
        code=revisions[-1].code if code is None else code,
        chosen_by=ChosenBy.NEWEST,
        stop_reason=StopReason.MODEL_STOPPED,
        usage=USAGE + USAGE,
        model_calls=4,
        revisions=revisions,
    )


def solved(of: Attempt, grade: Grade, **others: Grade) -> list[bool | None]:
    return [step.solved for step in steps_of(of, grade, others, None)]


@for_each("grade", [RIGHT, WRONG])
def test_the_final_revision_is_what_its_grade_says(grade: Grade) -> None:
    assert solved(attempt(written("a", 2)), grade) == [grade.solved]


def test_the_grade_of_the_final_one_is_believed_before_a_test_that_failed_on_the_way() -> None:
    assert solved(attempt(written("a", 1, Verdict.TIME_LIMIT)), RIGHT) == [True]


def test_a_revision_that_failed_a_public_test_is_wrong() -> None:
    of = attempt(written("a", 1), written("b", 2))
    assert to_judge(of) == ()
    assert solved(of, RIGHT) == [False, True]


@for_each("grade", [RIGHT, WRONG])
@for_each("passed", [None, 2])
def test_a_first_one_of_which_they_say_nothing_is_judged(passed: int | None, grade: Grade) -> None:
    of = attempt(written("a", passed), written("b", 1))
    assert to_judge(of) == ("a",)
    assert solved(of, WRONG, a=grade) == [grade.solved, False]


def test_every_solution_that_could_be_handed_in_is_judged_once() -> None:
    of = attempt(
        *(written("a", 0), written("b", 2), written("c"), written("b", 2), written("d", 2)),
    )
    assert to_judge(of) == ("b", "c")  # "a" failed a public test, "d" is the final one
    assert solved(of, RIGHT, b=WRONG, c=RIGHT) == [False, False, True, False, True]


def test_whether_one_that_was_never_run_passes_the_public_tests_is_known_from_its_grade() -> None:
    def graded(passed: int, verdict: Verdict) -> Grade:
        right = TestResult(index=0, public=True, verdict=Verdict.ACCEPTED, cpu_s=0, wall_s=0)
        return Grade(verdict=verdict, tests=(right,) * passed, public_total=2)

    of = attempt(written("a"), written("b"), written("c", 0), written("d", 2))
    others = {"a": graded(2, Verdict.WRONG_ANSWER), "b": graded(1, Verdict.TIME_LIMIT)}
    steps = steps_of(of, graded(2, Verdict.ACCEPTED), others, None)
    assert [step.passes_public for step in steps] == [True, False, False, True]
    assert [step.public_passed for step in steps] == [None, None, 0, 2]


def test_a_problem_with_points_may_be_solved_by_one_that_failed_a_public_test() -> None:
    of = attempt(written("a", 1), written("b", 2))
    assert to_judge(of) == ()
    assert to_judge(of, points=True) == ("a",)
    assert solved(of, WRONG, a=RIGHT) == [True, False]


def test_one_that_passed_all_public_tests_it_ran_passed_the_hidden_ones_that_repeat_them() -> None:
    of = attempt(written("a", 1), written("b", 2))
    steps = steps_of(of, Grade(verdict=Verdict.ACCEPTED, public_total=5), {}, None)
    assert [step.public_passed for step in steps] == [1, 5]


@for_each("verdict", [Verdict.UNGRADED, Verdict.CHECKER_ERROR])
def test_a_grade_that_says_nothing_leaves_it_unknown(verdict: Verdict) -> None:
    of = attempt(written("a"), written("b", 1))
    assert solved(of, WRONG, a=Grade(verdict=verdict)) == [None, False]


def test_a_judge_that_failed_on_the_public_tests_blames_nobody() -> None:
    of = attempt(written("a", 0, Verdict.CHECKER_ERROR), written("b", 2))
    assert to_judge(of) == ("a",)
    assert solved(of, RIGHT, a=WRONG) == [False, True]
    assert solved(of, RIGHT) == [None, True]


def test_code_in_the_last_words_is_the_last_step() -> None:
    of = attempt(written("a", 0), code="said")
    steps = steps_of(of, RIGHT, {}, Price(input=1, output=2))
    assert [(step.turn, step.tokens, step.solved) for step in steps] == [
        (1, 1_500, False),
        (4, 3_000, True),
    ]
    assert [step.cost for step in steps] == pytest.approx([0.002, 0.004])
    assert [step.code_hash for step in steps] == [code_hash("a"), code_hash("said")]


def test_nothing_written_is_no_step() -> None:
    of = attempt(code="")
    assert to_judge(of) == ()
    assert solved(of, Grade(verdict=Verdict.NO_SOLUTION)) == []
