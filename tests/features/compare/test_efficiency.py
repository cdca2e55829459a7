"""Whose solutions are faster, paired by problem; and when nobody can say."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from efficiency_made import made_efficiency, made_scale
from hypothesis import given
from hypothesis import strategies as st

from harness.features.compare.comparison import compare_runs
from harness.features.compare.markdown import comparison_markdown
from harness.features.compare.view import comparison_view
from harness.features.efficiency.faster import compare_beyond
from harness.features.efficiency.mean_share import MeasuredShare
from harness.features.efficiency.scale import Scale
from harness.run.store.results import SampleResult

MakeResult = Callable[..., SampleResult]
Shown = Callable[..., str]
Timed = Callable[..., Path]
MERCURY = made_scale(timing="mercury")
ALIKE = made_scale((1.0, 1.0001), doubt=0.01)
HERE = {"machine": {"cores": 2, "python": "3.11.2"}}
THERE = {"machine": {"cores": 8, "python": "3.11.2", "processor": "another"}}


@pytest.fixture
def timed(make_result: MakeResult, write_run: Callable[..., Path]) -> Timed:
    """A run of problems p0, p1, … of these times; None of one that failed."""

    def made(
        name: str,
        times: Sequence[float | None],
        scale: Scale | None = None,
        manifest: dict[str, object] | None = None,
    ) -> Path:
        results = [
            make_result(f"p{at}", solved=time is not None, efficiency=made_efficiency(time, scale))
            for at, time in enumerate(times)
        ]
        return write_run(name, results, manifest)

    return made


def words(text: str) -> str:
    return " ".join(text.split())


def test_beyond_is_paired_by_problem(timed: Timed, shown: Shown) -> None:
    a, b = timed("a", (1.0, 3.0, None, 5.0)), timed("b", (1.0, 1.0, 3.0, None))
    comparison = compare_runs([a, b])
    speeds = comparison.versus[0].faster
    assert speeds is not None
    assert speeds.every.problems == 4
    assert (speeds.every.rate_a.value, speeds.every.rate_b.value) == (0.375, 0.625)
    assert speeds.every.difference == pytest.approx(0.25)
    assert speeds.passed is not None
    assert speeds.passed.problems == 2
    assert speeds.passed.difference == pytest.approx(0.25)
    text = words(shown(comparison_view(comparison), 300))
    assert "Beyond@1 0.375 (" in text
    assert (
        "Beyond@1 over 4 problems whose references tell fast from slow in both: a 0.375, b 0.625; "
        "difference b - a: +0.250 (95 % bootstrap interval " in text
    )
    assert "passed samples only, over 2 such problems that both solved: a 0.750, b 1.000;" in text
    assert comparison.versus[0].unlike == ()


def test_markdown_and_json_have_it(timed: Timed) -> None:
    comparison = compare_runs([timed("a", (3.0,) * 6), timed("b", (2.0,) * 6)])
    text = comparison_markdown(comparison)
    assert "| Beyond@1 | 0.500 (" in text
    assert "difference `b` - `a`: +0.250 (95 % bootstrap interval +0." in text
    assert "unlikely to be chance" in text
    pairing = json.loads(comparison.model_dump_json())["versus"][0]["faster"]["every"]
    assert (pairing["problems"], pairing["difference"]) == (6, pytest.approx(0.25))


def test_only_problems_that_tell_in_both_count(
    timed: Timed, make_result: MakeResult, write_run: Callable[..., Path], shown: Shown
) -> None:
    scales = (ALIKE, None, None)
    mixed = [
        make_result(f"p{at}", solved=True, efficiency=made_efficiency(1.0, scale))
        for at, scale in enumerate(scales)
    ]
    comparison = compare_runs([timed("a", (1.0, None, None)), write_run("b", mixed)])
    speeds = comparison.versus[0].faster
    assert speeds is not None
    assert speeds.every.problems == 2
    assert speeds.passed is None
    text = words(shown(comparison_view(comparison), 300))
    assert "no such problem has a passed sample in both: of speed alone nothing is known" in text
    assert "problems without Beyond 0 1" in text


def test_one_problem_has_no_interval(timed: Timed, shown: Shown) -> None:
    comparison = compare_runs([timed("a", (3.0,)), timed("b", (1.0,))])
    text = words(shown(comparison_view(comparison), 300))
    assert "difference b - a: +0.500 (one problem: no interval)" in text


def test_runs_timed_in_different_ways_are_not_compared(timed: Timed, shown: Shown) -> None:
    comparison = compare_runs([timed("a", (1.0, 2.0)), timed("b", (1.0, 2.0), MERCURY)])
    (versus,) = comparison.versus
    assert versus.faster is None
    assert versus.unlike == (
        "how solutions are timed differs: A paired (version 2), B mercury (version 2); "
        "Beyond is not compared",
    )
    assert "difference b minus a: +0.0 points" in words(shown(comparison_view(comparison), 200))


def test_runs_timed_by_an_earlier_version_are_not_compared(timed: Timed) -> None:
    before = made_scale().model_copy(update={"protocol": 1})
    (versus,) = compare_runs([timed("a", (1.0,), before), timed("b", (1.0,))]).versus
    assert versus.faster is None
    (difference,) = versus.unlike
    assert "A paired (version 1), B paired (version 2)" in difference


def test_machines_that_differ_are_told(timed: Timed) -> None:
    times = (1.0, 2.0)
    a, b = timed("a", times, manifest=HERE), timed("b", times, manifest=THERE)
    (versus,) = compare_runs([a, b]).versus
    (difference,) = versus.unlike
    assert difference.startswith("the machines that solutions are timed on differ: cores 2 and 8; ")
    assert versus.faster is not None
    (versus,) = compare_runs([a, timed("c", times, manifest=HERE)]).versus
    assert versus.unlike == ()


def test_nothing_is_said_where_one_was_not_timed(
    timed: Timed,
    run_of: Callable[..., Path],
    make_result: MakeResult,
    write_run: Callable[..., Path],
) -> None:
    untimed = write_run("b", [make_result(f"p{at}", solved=True) for at in range(2)], THERE)
    comparison = compare_runs([timed("a", (1.0, 2.0), manifest=HERE), untimed])
    (versus,) = comparison.versus
    assert (versus.faster, versus.unlike) == (None, ())
    assert "| Beyond@1 | 0.875 (" in comparison_markdown(comparison)
    plain = compare_runs([run_of("c", "AbC"), run_of("d", "abC")])
    assert "eyond" not in comparison_markdown(plain)


KNOWN = st.lists(
    st.builds(MeasuredShare, st.sampled_from("abcdefgh"), st.floats(0, 1), st.floats(0, 0.2)),
    min_size=1,
)


@pytest.mark.thorough
@given(KNOWN, KNOWN)
def test_swapping_two_runs_changes_the_sign_of_a_difference_alone(
    a: list[MeasuredShare], b: list[MeasuredShare]
) -> None:
    there, back = compare_beyond(a, b), compare_beyond(b, a)
    if there is None or back is None:
        assert there is back is None
        assert not {each.problem for each in a} & {each.problem for each in b}
        return
    assert back.difference == pytest.approx(-there.difference)
    if there.low is not None and there.high is not None and back.low is not None:
        assert there.low - 1e-9 <= there.difference <= there.high + 1e-9
        assert back.low == pytest.approx(-there.high)
        assert back.high == pytest.approx(-there.low)


def test_a_run_against_itself_differs_by_what_measuring_is_uncertain_by() -> None:
    own = [MeasuredShare(problem, 0.5, 0.1) for problem in "abcd"]
    comparison = compare_beyond(own, own)
    assert comparison is not None
    assert (comparison.low, comparison.high) == pytest.approx((-0.05 * 2**0.5, 0.05 * 2**0.5))
