"""What stands beside a run's rate: pass@k and pass^k, and what pending samples leave open."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_made import made_result

from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, bracket_of
from harness.run.summary.summary import Summary, rate_of, summarize
from harness.stats.rates import Rate


def result(
    problem: str, index: int = 0, *, solved: bool = False, verdict: Verdict | None = None
) -> SampleResult:
    changes = {} if verdict is None else {"verdict": verdict}
    return made_result(problem, index=index, solved=solved, difficulty=None, **changes)


def summary(*results: SampleResult) -> Summary:
    return summarize(results, len(results))


def value(rate: Rate | None) -> tuple[float, int] | None:
    """A rate and how many problems it is the mean of."""
    return None if rate is None else (pytest.approx(rate.value), rate.problems)


def run(problems: str, samples: int, *results: SampleResult) -> Run:
    manifest: dict[str, Any] = {
        "problems": dict.fromkeys(problems, "hash"),
        "spec": {"samples_per_problem": samples},
    }
    return Run(Path("r"), manifest, results)


def test_pending_samples_may_fail_or_be_solved() -> None:
    bracket = bracket_of(run("abcd", 1, result("a", solved=True), result("b")))
    assert (bracket.graded, bracket.pending) == (2, 2)
    assert (bracket.if_failed, bracket.if_solved) == (0.25, 0.75)


def test_samples_of_a_problem_count_within_it() -> None:
    done = result("a", 0, solved=True), result("a", 1), result("b", 0, solved=True)
    bracket = bracket_of(run("ab", 4, *done))
    assert (bracket.graded, bracket.pending) == (3, 5)
    assert bracket.if_failed == pytest.approx((1 / 4 + 1 / 4) / 2)
    assert bracket.if_solved == pytest.approx((3 / 4 + 4 / 4) / 2)


def test_an_ungraded_sample_is_not_pending() -> None:
    bracket = bracket_of(
        run("ab", 1, result("a", solved=True), result("b", verdict=Verdict.UNGRADED))
    )
    assert (bracket.graded, bracket.pending, bracket.if_failed, bracket.if_solved) == (1, 0, 1, 1)


def test_the_bracket_of_no_graded_sample_has_no_rate() -> None:
    ungraded = result("a", verdict=Verdict.UNGRADED)
    assert bracket_of(run("a", 1, ungraded)).if_failed is None
    begun = bracket_of(run("a", 2))
    assert (begun.pending, begun.if_failed, begun.if_solved) == (2, 0, 1)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12))
def test_the_rate_lies_within_the_bracket(
    drawn: list[tuple[str, bool]],
) -> None:
    results = [result(name, place, solved=solved) for place, (name, solved) in enumerate(drawn)]
    most = max((sum(r.problem_id == p for r in results) for p in "abc"), default=1) or 1
    bracket = bracket_of(run("abc", most, *results))
    assert bracket.graded + bracket.pending == 3 * most
    assert bracket.if_failed is not None
    assert bracket.if_solved is not None
    assert bracket.if_failed <= bracket.if_solved
    if not bracket.pending:
        rate = rate_of(results)
        assert rate is not None
        assert bracket.if_failed == bracket.if_solved == pytest.approx(rate.value)


class TestSeveralSamples:
    def test_pass_at_k_and_pass_hat_k_stand_where_there_are_several(self) -> None:
        a = [result("a", index, solved=index == 0) for index in range(3)]
        b = [result("b", index, solved=True) for index in range(2)]
        two, three = summary(*a, *b).of_several
        assert (two.k, value(two.any_right)) == (2, (5 / 6, 2))
        assert value(two.all_right) == (0.5, 2)
        assert (three.k, three.too_few, value(three.any_right)) == (3, 1, (1, 1))

    def test_pass_at_k_is_not_given_for_one_sample_a_problem(self) -> None:
        assert summary(result("a"), result("b", solved=True)).of_several == ()

    def test_an_ungraded_sample_is_not_counted_in_pass_at_k(self) -> None:
        assert summary(result("a"), result("a", 1, verdict=Verdict.UNGRADED)).of_several == ()

    def test_samples_that_agree_do_not_narrow_the_interval(self) -> None:
        alike = [result(p, index, solved=p < "c") for p in "abcdef" for index in range(5)]
        once = [result(p, solved=p < "c") for p in "abcdef"]
        assert summary(*alike).pass_at_1 == summary(*once).pass_at_1

    def test_samples_that_disagree_narrow_the_interval(self) -> None:
        mixed = [result(p, index, solved=index < 2) for p in "abcdef" for index in range(5)]
        one, many = summary(*(r for r in mixed if r.index < 1)), summary(*mixed)
        assert one.pass_at_1 is not None
        assert many.pass_at_1 is not None
        assert many.pass_at_1.high - many.pass_at_1.low < one.pass_at_1.high - one.pass_at_1.low
