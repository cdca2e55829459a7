"""Rates and their intervals, against scipy's."""

from random import Random

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.rates import (
    clustered,
    effective_trials,
    rate,
    rate_by_problem,
    student_quantile,
    wilson,
)

binomtest = pytest.importorskip("scipy.stats").binomtest

COUNTS = st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_interval_is_scipy_s(counts: tuple[int, int], confidence: float) -> None:
    solved, n = counts
    theirs = binomtest(solved, n).proportion_ci(confidence, method="wilson")
    assert wilson(solved / n, n, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(COUNTS)
def test_an_interval_lies_around_its_rate_within_bounds(counts: tuple[int, int]) -> None:
    solved, n = counts
    low, high = wilson(solved / n, n)
    assert 0 <= low <= solved / n + 1e-12
    assert solved / n - 1e-12 <= high <= 1
    assert high - low > 0


def test_wilson_interval_of_ten_in_twenty() -> None:
    # 10 of 20 at 95 %: centre 0.5, half-width z·√(0.25/20 + z²/1600)/(1 + z²/20), z = 1.959964
    assert wilson(0.5, 20) == pytest.approx((0.29929, 0.70071), abs=1e-5)


def test_there_is_no_rate_without_problems() -> None:
    assert rate([]) is None


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_the_rate_of_one_sample_a_problem_is_a_proportion(solved: list[bool]) -> None:
    estimate = rate([float(value) for value in solved])
    assert estimate is not None
    assert estimate.value == pytest.approx(sum(solved) / len(solved))
    assert estimate.problems == len(solved)
    assert (estimate.low, estimate.high) == pytest.approx(wilson(estimate.value, len(solved)))


def test_problems_count_alike_whatever_their_samples() -> None:
    estimate = rate([1.0, 0.0, 0.25, 0.75])
    assert estimate is not None
    assert (estimate.value, estimate.problems) == (0.5, 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_the_order_of_problems_does_not_matter(fractions: list[float], random: Random) -> None:
    shuffled = list(fractions)
    random.shuffle(shuffled)
    assert rate(fractions) == rate(shuffled)


class TestSeveralSamples:
    """Wilson's interval with the effective number of trials."""

    @given(COUNTS)
    def test_the_clustered_interval_of_one_sample_a_problem_is_wilson_s(
        self, counts: tuple[int, int]
    ) -> None:
        solved, n = counts
        fractions = [1.0] * solved + [0.0] * (n - solved)
        assert effective_trials(fractions, n) == n
        assert clustered(fractions, n) == wilson(solved / n, n)

    @given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
    def test_the_trials_lie_between_problems_and_samples(self, solved: list[int]) -> None:
        trials = effective_trials([number / 5 for number in solved], 5 * len(solved))
        assert len(solved) <= trials <= 5 * len(solved)

    def test_samples_that_are_all_alike_say_no_more_than_one(self) -> None:
        fractions = [1.0] * 7 + [0.0] * 13
        assert effective_trials(fractions, 200) == 20

    def test_samples_that_have_nothing_in_common_count_each(self) -> None:
        random = Random(5)
        fractions = [sum(random.random() < 0.4 for _ in range(10)) / 10 for _ in range(400)]
        assert effective_trials(fractions, 4_000) == pytest.approx(4_000, rel=0.2)

    def test_effective_trials_follow_the_variance_of_problem_means(self) -> None:
        scipy_stats = pytest.importorskip("scipy.stats")
        random = Random(2)
        fractions = [random.choice((0.0, 0.2, 0.5, 0.9, 1.0)) for _ in range(50)]
        error = scipy_stats.sem(fractions)
        mean = sum(fractions) / 50
        doubt = (scipy_stats.norm.ppf(0.975) / scipy_stats.t(49).ppf(0.975)) ** 2
        expected = mean * (1 - mean) / error**2 * doubt
        assert effective_trials(fractions, 500) == pytest.approx(expected, rel=1e-4)

    @for_each("fractions", [[0.0] * 9, [1.0] * 9, [0.5]])
    def test_effective_trials_are_problems_if_all_means_are_alike(
        self, fractions: list[float]
    ) -> None:
        assert effective_trials(fractions, 90) == len(fractions)

    @for_each(("problems", "samples"), [(20, 3), (60, 5)])
    def test_the_clustered_interval_holds_the_rate_nineteen_times_of_twenty(
        self, problems: int, samples: int
    ) -> None:
        random = Random(problems)
        held = 0
        for _ in range(600):
            chances = [random.betavariate(0.8, 0.8) for _ in range(problems)]
            rates = rate_by_problem(
                (str(problem), float(random.random() < chance))
                for problem, chance in enumerate(chances)
                for _ in range(samples)
            )
            assert rates is not None
            held += rates.low <= 0.5 <= rates.high
        assert 0.92 < held / 600 < 0.98

    def test_samples_are_counted_by_problem(self) -> None:
        rates = rate_by_problem([("a", 1.0), ("a", 0.0), ("b", 1.0)])
        assert rates == rate([0.5, 1.0], 3)
        assert rate_by_problem([]) is None


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 6, 10, 100])
@pytest.mark.parametrize("share", [0.75, 0.9, 0.975, 0.995])
def test_students_quantile_is_scipys(freedom: int, share: float) -> None:
    expected = pytest.importorskip("scipy.stats").t(freedom).ppf(share)
    close = 0.001 if freedom >= 6 else 0.02
    assert student_quantile(share, freedom) == pytest.approx(expected, rel=close)
