"""Beyond, percentiles, and which problems tell: who is in which mean."""

import pytest
from efficiency_made import made_efficiency, made_scale
from hypothesis import given
from hypothesis import strategies as st
from results_made import made_result

from harness.features.efficiency.efficiency_summary import EfficiencySummary, summarize_efficiency
from harness.features.efficiency.scale import Efficiency, Scale
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.summary import summarize
from harness.stats.rates import Rate

ALIKE = made_scale((1.0, 1.0001), doubt=0.01)


def timed(
    problem: str, time: float | None, scale: Scale | None = None, index: int = 0
) -> SampleResult:
    """A sample; one that has no time has failed."""
    efficiency = made_efficiency(time, scale)
    return made_result(problem, solved=time is not None, index=index, efficiency=efficiency)


def summed(*results: SampleResult) -> EfficiencySummary:
    summary = summarize_efficiency(results)
    assert summary is not None
    return summary


def mean(rate: Rate | None) -> tuple[object, int] | None:
    return None if rate is None else (pytest.approx(rate.value, abs=1e-4), rate.problems)


def test_a_run_that_was_not_timed_has_no_efficiency() -> None:
    assert summarize_efficiency([made_result("a", solved=True)]) is None
    assert summarize([made_result("a", solved=True)], 1).efficiency is None


def test_a_failed_solution_is_0_and_is_left_out_where_only_passed_ones_count() -> None:
    total = summed(timed("a", 1.0), timed("b", 3.0), timed("c", None))
    assert mean(total.beyond) == (0.5, 3)
    assert mean(total.beyond_passed) == (0.75, 2)
    assert mean(total.percentile) == ((0.875 + 0.375) / 2, 2)
    assert mean(total.branches) == (0.75, 2)
    assert (total.measured, total.not_measured) == (3, 0)
    assert total.timings == {"paired": 3}


def test_problems_that_do_not_tell_stand_apart_by_why() -> None:
    total = summed(
        timed("a", 1.0),
        *(timed("b", 1.0, ALIKE, index) for index in range(3)),
        timed("c", None, ALIKE),
        timed("d", 1.0, made_scale((1.0,))),
        timed("e", None, made_scale(())),
    )
    assert mean(total.beyond) == mean(total.beyond_passed) == (1.0, 1)
    assert total.untold == {
        "the references differ by less than the noise": 2,
        "no reference passes": 1,
        "one reference passes": 1,
    }


def test_samples_without_a_time_are_counted_and_in_no_mean() -> None:
    untimed = made_result("b", solved=True, efficiency=Efficiency(timing="paired", remark="lost"))
    ungraded = made_result("c", verdict=Verdict.UNGRADED, efficiency=made_efficiency(1.0))
    total = summed(timed("a", 3.0), untimed, ungraded, made_result("d", solved=True))
    assert mean(total.beyond) == (0.5, 1)
    assert (total.measured, total.not_measured) == (1, 2)
    assert total.remarks == {"lost": 1}


def test_several_samples_are_one_problem_and_the_best_of_k_counts() -> None:
    total = summed(
        *(timed("a", time, index=index) for index, time in enumerate((1.0, 3.0, None))),
        timed("b", 1.0),
    )
    assert mean(total.beyond) == (0.75, 2)
    assert [(each.k, mean(each.rate), each.too_few) for each in total.of_several] == [
        (2, ((1.0 + 1.0 + 0.5) / 3, 1), 1),
        (3, (1.0, 1), 1),
    ]


def test_there_is_no_beyond_at_k_for_one_sample_a_problem() -> None:
    assert summed(timed("a", 1.0), timed("b", 1.0)).of_several == ()


def test_branches_count_where_the_time_tells() -> None:
    untold = made_scale((1.0, 2.0), doubt=1.0)
    assert untold.lack
    total = summed(timed("a", 3.0), timed("b", 1.0, untold))
    assert mean(total.branches) == (0.5, 1)
    assert summed(timed("a", 3.0, made_scale(branches=False))).branches is None


def test_an_interval_has_in_it_what_measuring_is_uncertain_by() -> None:
    def width(doubt: float) -> float:
        rough = [
            made_result(each, solved=True, efficiency=made_efficiency(time, doubt=doubt))
            for each, time in zip("abcdefgh", (2.99, 3.01) * 4, strict=True)
        ]
        rate = summed(*rough).beyond
        assert rate is not None
        return rate.high - rate.low

    assert width(0.4) == pytest.approx(2 * 0.3 / 8**0.5, rel=0.1)
    assert width(0.2) < width(0.4)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.floats(0.1, 9)), min_size=1))
def test_means_are_between_0_and_1_within_their_intervals(
    samples: list[tuple[str, float | None]],
) -> None:
    total = summed(*(timed(problem, time, index=at) for at, (problem, time) in enumerate(samples)))
    rates = [total.beyond, total.beyond_passed, total.percentile, total.branches]
    rates += [each.rate for each in total.of_several]
    for rate in filter(None, rates):
        assert 0 <= rate.low <= rate.value + 1e-9
        assert rate.value - 1e-9 <= rate.high <= 1
    best = [each.rate.value for each in total.of_several if each.rate and not each.too_few]
    assert best == pytest.approx(sorted(best))
    if best and total.beyond is not None:
        assert total.beyond.value <= best[0] + 1e-9
