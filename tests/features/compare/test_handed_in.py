"""What a sample would have handed in, had it been cut off."""

from for_each import for_each

from harness.features.compare.arms import handed_in
from harness.tools.revision import Revision


def step(public: int | None, solved: bool | None, passes: bool | None = None) -> Revision:
    return Revision(
        turn=1,
        tokens=1,
        cost=1,
        seconds=1,
        public_passed=public,
        passes_public=passes,
        solved=solved,
    )


def verdicts(*steps: Revision, mode: str = "agentic", public: int = 2) -> list[bool | None]:
    last = bool(steps and steps[-1].solved)
    return [known for _, known in handed_in(steps, public, last, mode)]


def test_the_newest_is_handed_in_until_one_passes() -> None:
    assert verdicts(step(0, False), step(1, False), step(2, True)) == [False, False, True]


def test_a_solution_that_passed_stays_until_a_later_one_passes() -> None:
    solved = verdicts(step(2, True), step(1, False), step(2, False))
    assert solved == [True, True, False]


def test_an_untested_solution_is_tested_when_the_sample_is_cut_off() -> None:
    assert verdicts(step(2, False), step(None, True), step(2, True)) == [False, True, True]
    passes = step(None, solved=False, passes=True)
    assert verdicts(step(2, True), passes, step(2, True)) == [True, False, True]
    fails = step(None, solved=False, passes=False)
    assert verdicts(step(2, True), fails, step(2, True)) == [True, True, True]


def test_an_untested_solution_that_was_overwritten_is_not_kept() -> None:
    assert verdicts(step(None, True), step(0, False), step(0, False)) == [True, False, False]


def test_what_an_older_run_does_not_tell_is_unknown() -> None:
    assert verdicts(step(2, None), step(2, True)) == [None, True]
    assert verdicts(step(2, True), step(None, None), step(2, True)) == [True, None, True]


def test_the_shot_that_passes_most_public_tests_is_handed_in() -> None:
    solved = verdicts(step(1, False), step(1, False), step(2, True), mode="best_of_k_public")
    assert solved == [False, False, True]
    assert verdicts(step(1, None), step(0, False), mode="best_of_k_public")[:2] == [None, None]


def test_the_newest_solution_is_handed_in_without_public_tests() -> None:
    assert verdicts(step(None, True), step(None, False), public=0) == [True, False]


@for_each("solved", [True, False])
def test_a_sample_without_steps_hands_in_at_its_end(solved: bool) -> None:
    (only,) = handed_in((), 3, solved, "agentic")
    assert only == (None, solved)


def test_the_end_says_what_the_steps_do_not() -> None:
    changes = handed_in([step(2, False)], 3, True, "my_strategy")
    assert [known for _, known in changes] == [False, True]
