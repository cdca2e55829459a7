"""The ranking of variants, and its table."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.features.experiment.experiment_file import Experiment
from harness.features.experiment.ranking import RankedVariant, Ranking, pareto_front, rank
from harness.features.experiment.variants import Variant
from harness.features.experiment.view import RankingView
from harness.models.protocol import Usage
from harness.run.settings.spec import RunSpec
from harness.run.store.results import SampleResult
from harness.stats.paired import score_interval

Variants = dict[str, list[SampleResult] | None]
Rank = Callable[..., Ranking]


@pytest.fixture
def ranked(tmp_path: Path, write_run: Callable[..., Path]) -> Rank:
    """The ranking of variants with these results; None is a variant that has not begun."""

    def make(variants: Variants, models: Sequence[str] = ("m",), **manifest: Any) -> Ranking:
        specs = {
            name: RunSpec(model=models[number % len(models)], prompt=name)
            for number, name in enumerate(variants)
        }
        grid = tuple(Variant(name, True, spec) for name, spec in specs.items())
        Experiment(tmp_path / "e", grid, next(iter(variants))).write()
        for name, results in variants.items():
            if results is not None:
                write_run(f"e/{name}", results, manifest)
        return rank(tmp_path / "e")

    return make


@pytest.fixture
def solved(make_result: Callable[..., SampleResult]) -> Callable[..., list[SampleResult]]:
    """Samples of so many problems, the first of which are solved."""

    def make(number: int, of: int = 20, **changes: Any) -> list[SampleResult]:
        return [make_result(f"p{i}", solved=i < number, **changes) for i in range(of)]

    return make


Solved = Callable[..., list[SampleResult]]


def by_name(ranking: Ranking) -> dict[str, RankedVariant]:
    return {variant.name: variant for variant in ranking.variants}


def test_the_best_is_first_and_of_equals_the_cheaper_one(ranked: Rank, solved: Solved) -> None:
    ranks = ranked(
        {
            "base": solved(10),
            "dear": solved(15, cost=2.0),
            "none": None,
            "cheap": solved(15, cost=1.0),
        }
    )
    assert [variant.name for variant in ranks.variants] == ["cheap", "dear", "base", "none"]


def test_a_variant_is_paired_with_the_baseline_by_problem(ranked: Rank, solved: Solved) -> None:
    variants = by_name(ranked({"base": solved(10), "better": solved(18), "few": solved(4, of=5)}))
    better = variants["better"].against
    assert better is not None
    assert (better.problems, better.difference) == (20, pytest.approx(0.4))
    assert better.low_holm < better.low < 0.4 < better.high < better.high_holm
    pairs = [(0.0, 1.0)] * 8 + [(1.0, 1.0)] * 12
    assert better.p_value == score_interval(pairs).p_value
    assert better.low_holm > 0
    assert better.p_holm < 0.05
    few = variants["few"].against
    assert few is not None
    assert (few.problems, few.difference) == (5, pytest.approx(-0.2)), "of the five both have"
    assert (better.p_holm, few.p_holm) == (2 * better.p_value, few.p_value)
    assert variants["base"].against is None


def test_the_front_weighs_what_a_sample_costs_and_not_how_many_there_are(
    ranked: Rank, solved: Solved
) -> None:
    twice = [
        result.model_copy(update={"index": index, "sample": f"{result.problem_id}#{index}"})
        for index in range(2)
        for result in solved(15, cost=1.0)
    ]
    variants = by_name(
        ranked({"base": solved(10, cost=1.5), "twice": twice, "low": solved(2, cost=0.1)})
    )
    assert {name for name, variant in variants.items() if variant.on_front} == {"twice", "low"}
    assert variants["twice"].cost == pytest.approx(40)
    assert variants["twice"].cost_per_sample == pytest.approx(1)
    assert variants["twice"].cost_per_solved == pytest.approx(40 / 30)


def test_a_variant_that_solves_nothing_has_no_cost_per_solved(ranked: Rank, solved: Solved) -> None:
    variants = by_name(ranked({"base": solved(0), "free": solved(1, cost=0.0)}))
    assert variants["base"].cost_per_solved is None
    assert variants["free"].cost_per_solved == 0


def test_where_some_costs_are_unknown_those_variants_are_not_weighed(
    ranked: Rank, solved: Solved, shown: Callable[..., str]
) -> None:
    ranks = ranked({"base": solved(10), "unknown": solved(20, cost=None)})
    assert (ranks.front_by, by_name(ranks)["unknown"].on_front) == ("cost", False)
    assert "a variant whose cost is unknown gets no *" in shown(RankingView(ranks))


def test_tokens_stand_for_unknown_costs_of_one_model_alone(ranked: Rank, solved: Solved) -> None:
    many = Usage(input_tokens=9_000, output_tokens=9)
    variants: Variants = {"base": solved(10, cost=None), "more": solved(10, cost=None, usage=many)}
    ranks = ranked(variants)
    assert ranks.front_by == "tokens"
    assert [variant.name for variant in ranks.variants if variant.on_front] == ["base"]


def test_tokens_of_different_models_are_not_compared(
    ranked: Rank, solved: Solved, shown: Callable[..., str]
) -> None:
    ranks = ranked({"a": solved(10, cost=None), "b": solved(9, cost=None)}, models=["m", "n"])
    assert ranks.front_by is None
    assert not any(variant.on_front for variant in ranks.variants)
    assert "Pareto" not in shown(RankingView(ranks))
    assert ranks.variants[0].settings["model"] in {"m", "n"}


def test_what_no_provider_told_is_unknown(ranked: Rank, solved: Solved) -> None:
    ranks = ranked({"base": solved(3, usage=None, cost=None)})
    assert (ranks.variants[0].tokens, ranks.variants[0].cost, ranks.front_by) == (None, None, None)


@pytest.mark.parametrize("width", [50, 60, 80, 100, 120, 160])
def test_the_table_fits_and_keeps_rate_difference_and_p(
    width: int, ranked: Rank, solved: Solved, shown: Callable[..., str]
) -> None:
    ranks = ranked({"base": solved(10), "better": solved(18), "none": None})
    text = shown(RankingView(ranks), width)
    assert max(map(len, text.splitlines())) <= width
    row = next(line for line in text.splitlines() if "1. better" in line)
    assert all(figure in row for figure in ("90.0 %", "+40.0", " 0.0048"))
    assert ("95 % interval" in text) == (width >= 100)
    head = next(line for line in text.splitlines() if "pass@1" in line)
    assert ("cost" in head) == (width >= 60)
    best = " ".join(text.split())
    assert best.startswith("better solves most: 90.0 %, +40.0 points against base (p = 0.0048 by")
    assert ("tokens" in head) == (width >= 160)
    assert "none has not begun" in " ".join(text.split())


def test_the_date_of_a_list_of_prices_stands_beside_what_follows_from_it(
    ranked: Rank, solved: Solved, shown: Callable[..., str]
) -> None:
    price = {"input": 1, "output": 1, "as_of": "2026-11-01"}
    ranks = ranked({"base": solved(3)}, price=price)
    assert ranks.prices_as_of == ("2026-11-01",)
    assert "prices of 2026-11-01" in shown(RankingView(ranks))


Point = tuple[float, float]
NUMBER = st.one_of(st.integers(0, 4).map(float), st.floats(0, 10))


def dominates(a: Point, b: Point) -> bool:
    return a[0] <= b[0] and a[1] >= b[1] and a != b


@pytest.mark.thorough
@given(st.lists(st.tuples(NUMBER, NUMBER), max_size=12))
def test_the_front_is_what_nothing_dominates(points: list[Point]) -> None:
    expected = [
        index
        for index, point in enumerate(points)
        if not any(dominates(other, point) for other in points)
    ]
    assert pareto_front(points) == expected


def test_all_equal_variants_are_on_the_front() -> None:
    assert pareto_front([(1, 0.5), (2, 0.5), (1, 0.5), (3, 0.9)]) == [0, 2, 3]
