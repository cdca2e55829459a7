"""How many shots an agent's spend buys, what a problem's shots count for, and when to stop."""

from typing import Any

import pytest
from for_each import for_each
from results_made import made_result as made

from harness.errors import UsageError
from harness.features.experiment.decision import Decision, look, scores
from harness.features.experiment.equal_shots import (
    Spend,
    affordable,
    agents_of,
    mean_spend,
    shots_wanted,
)
from harness.features.experiment.grid_run import batches, random_order
from harness.features.experiment.request import as_flag
from harness.features.experiment.stopping_goal import Goal, goal_of, reason_to_stop
from harness.grading.verdict import Verdict
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult


class TestSpend:
    def test_spend_is_the_mean_of_graded_samples(self) -> None:
        some = [made("a", cost=1.0, model_calls=3), made("b", cost=2.0, model_calls=1)]
        ungraded = made("c", cost=9.0, verdict=Verdict.UNGRADED)
        assert mean_spend([*some, ungraded]) == Spend(cost=1.5, tokens=1_100, calls=2)
        assert mean_spend([ungraded]) is None

    def test_spend_is_unknown_where_that_of_one_sample_is(self) -> None:
        spend = mean_spend([made("a"), made("b", cost=None, usage=None)])
        assert spend == Spend(cost=None, tokens=None, calls=1)

    @for_each(
        ("agent", "shot", "wanted"),
        [
            (Spend(0.9, 5_000, 4), Spend(0.3, 500, 1), (3, "cost")),
            (Spend(None, 5_000, 4), Spend(0.3, 500, 1), (10, "tokens")),
            (Spend(0.0, 5_000, 4), Spend(0.0, 500, 1), (10, "tokens")),
            (Spend(None, None, 4), Spend(None, None, 1), (4, "calls")),
        ],
    )
    def test_spend_is_compared_in_the_first_unit_that_both_tell(
        self, agent: Spend, shot: Spend, wanted: tuple[float, str]
    ) -> None:
        ratio, unit = affordable(agent, shot)
        assert (pytest.approx(ratio), unit) == wanted

    def test_follows_variants_that_differ_by_the_mode_and_what_single_shot_does_not_use(
        self,
    ) -> None:
        shot = {"mode": "single_shot", "model": "m", "temperature": None, "max_turns": 10}
        variants = {
            "shot": shot,
            "agentic": {**shot, "mode": "agentic", "max_turns": 3},
            "other": {**shot, "mode": "agentic", "model": "n"},
            "hot": {**shot, "mode": "agentic", "temperature": 1.0},
        }
        assert agents_of(shot, variants) == ["agentic"]


class TestShotsWanted:
    """An agent's sample costs 3.25 dollars here, a shot one dollar."""

    agent = (*(made(p, cost=cost) for p, cost in zip("abcd", (1.0, 2.0, 4.0, 6.0), strict=True)),)

    def shots(self, **numbers: int) -> list[SampleResult]:
        return [made(p, index=i, cost=1.0) for p, n in numbers.items() for i in range(n)]

    def test_cost_what_the_agent_spends_and_less_than_one_shot_more(self) -> None:
        shots = shots_wanted(self.shots(a=1, b=1, c=1, d=1), [self.agent], "abcd")
        assert shots.shots == {"a": 4, "b": 3, "c": 3, "d": 3}
        assert shots.ratio == pytest.approx(3.25)

    def test_price_is_a_mean_of_problems_not_of_shots(self) -> None:
        """The first problem has many cheap shots; those of the second cost twice as much."""
        shots = [made("a", index=i, cost=1.0) for i in range(9)] + [made("b", cost=2.0)]
        agent = [made("a", cost=9.0), made("b", cost=6.0)]
        plan = shots_wanted(shots, [agent], "ab")
        assert plan.ratio == pytest.approx(5)
        assert plan.shots == {"a": 9, "b": 4}, "a's nine and b's four exceed 15 by a shot a problem"

    def test_begin_with_one_each_while_the_spend_is_unknown(self) -> None:
        assert shots_wanted([], [self.agent], "abcd").shots == dict.fromkeys("abcd", 1)
        assert shots_wanted(self.shots(a=1), [[]], "ab").shots == {"a": 1, "b": 1}

    def test_follow_the_dearest_agent(self) -> None:
        dear = [made(p, cost=5.0) for p in "abcd"]
        shots = shots_wanted(self.shots(a=1), [self.agent, dear], "abcd")
        assert shots.shots == dict.fromkeys("abcd", 5)

    def test_become_fewer_for_later_problems_when_the_ratio_falls(self) -> None:
        """The first problem got eight; the others get the whole number below the ratio."""
        shots = shots_wanted(self.shots(a=8), [self.agent], "abcd")
        assert shots.shots == {"a": 8, "b": 3, "c": 3, "d": 3}

    @for_each(("first", "others"), [(9, 2), (12, 1), (40, 1)])
    def test_a_dear_first_problem_buys_no_shot_a_problem_more(
        self, first: int, others: int
    ) -> None:
        shots = shots_wanted(self.shots(a=first), [self.agent], "abcd")
        assert shots.shots == {"a": first, **dict.fromkeys("bcd", others)}

    def test_taken_at_once_are_no_more_than_the_shots_that_tell_the_price(self) -> None:
        done = self.shots(a=1, b=1, c=1, d=1)
        shots = shots_wanted(done, [self.agent], "abcd")
        assert shots.at_once(done).shots == {"a": 4, "b": 2, "c": 1, "d": 1}
        assert shots.at_once([]).shots == {"a": 4, "b": 0, "c": 0, "d": 0}
        enough = self.shots(a=4, b=3, c=3, d=2)
        assert shots_wanted(enough, [self.agent], "abcd").at_once(enough).shots["d"] == 3

    def test_shots_are_no_more_than_are_recorded(self) -> None:
        shots = shots_wanted(self.shots(a=1), [self.agent], "abcd", most=2)
        assert shots.shots == dict.fromkeys("abcd", 2)


class TestScores:
    def test_a_problem_that_lacks_a_sample_does_not_count(self) -> None:
        results = [made("a"), made("a", index=1), made("b"), made("c", index=1)]
        assert scores(results, 2).keys() == {"a"}
        assert scores(results, 1).keys() == {"a", "b"}
        assert scores(results, 2, whole=False).keys() == {"a", "b", "c"}
        assert not scores([made("a", verdict=Verdict.UNGRADED)], 1)


class TestStopping:
    def test_an_experiment_stops_once_zero_is_outside_of_the_interval(self) -> None:
        goal = Goal(decided=True)
        assert reason_to_stop(look([], 0.05), goal) is None
        for sign in (1.0, -1.0):
            evidence = look([sign] * 10, 0.05)
            assert evidence.pairs == 10
            assert reason_to_stop(evidence, goal) == "decided"
            assert reason_to_stop(evidence, Goal(precision=10)) is None

    def test_an_experiment_stops_once_the_interval_is_narrow(self) -> None:
        evidence = look([0.0] * 150, 0.05)
        width = 100 * (evidence.high - evidence.low)
        assert reason_to_stop(evidence, Goal(precision=width + 0.1)) == "precise"
        assert reason_to_stop(evidence, Goal(precision=width - 0.1)) is None
        assert reason_to_stop(evidence, Goal(decided=True)) is None

    @for_each(
        ("reason", "precision", "words"),
        [
            ("decided", None, "decided (evidence 31.4, needs 20)."),
            ("all_done", None, "undecided after all problems (evidence 31.4, needs 20)."),
            ("incomplete", None, "undecided (evidence 31.4, needs 20)."),
            ("precise", 50.0, "precise enough (interval of 42 points, wanted under 50; evidence"),
            ("all_done", 12.0, "not precise enough after all problems (interval of 42 points, "),
            ("incomplete", 12.0, "not precise enough (interval of 42 points, wanted under 12; ev"),
        ],
    )
    def test_the_end_of_an_experiment_is_told_in_one_line(
        self, reason: str, precision: float | None, words: str
    ) -> None:
        decision = Decision.model_validate(
            {"reason": reason, "variant": "agentic", "baseline": "single_shot", "pairs": 32}
            | {"problems": 40, "planned": 500, "difference": 0.25, "low": 0.02, "high": 0.44}
            | {"e_value": 31.44, "level": 0.05, "precision": precision}
        )
        assert decision.line.startswith(f"Stopping rule: {words}")
        assert (
            "agentic minus single_shot: +25.0 points (+2.0 to +44.0 at any look)" in decision.line
        )
        assert decision.line.endswith("from 32 of 500 problems")


def test_tokens_are_of_input_and_output() -> None:
    assert mean_spend([made("a", usage=Usage(input_tokens=7, output_tokens=5))]) == Spend(
        cost=0.5, tokens=12, calls=1
    )


@for_each(
    ("given", "message"),
    [
        ({"decided": False, "level": 0.1, "precision": None}, "--level goes with"),
        ({"decided": True, "level": 1.0, "precision": None}, "--level 1: give a chance"),
        ({"decided": False, "level": None, "precision": 0.0}, "--precision 0: give points"),
        ({"decided": False, "level": None, "precision": 200.0}, "--precision 200: give points"),
    ],
)
def test_goals_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        goal_of(**given, say=as_flag)


class TestOrder:
    def test_the_order_follows_the_seed_and_stays_when_problems_are_added(self) -> None:
        few = random_order([f"p{number}" for number in range(40)], seed=1)
        more = random_order([f"p{number}" for number in range(90)], seed=1)
        assert [each for each in more if each in set(few)] == few
        assert few != sorted(few)
        assert random_order(few, seed=2) != few

    def test_first_and_last_places_are_as_likely_for_every_problem(self) -> None:
        names = [f"p{number}" for number in range(10)]
        first = [random_order(names, seed)[0] for seed in range(2_000)]
        assert all(140 < first.count(name) < 260 for name in names)

    def test_batches_grow_and_end_with_all(self) -> None:
        order = [str(number) for number in range(500)]
        sizes = [len(asked) for asked in batches(order, concurrency=4)]
        assert sizes[:4] == [1, 5, 13, 21], "the first is one problem, so that it is soon whole"
        assert sizes[-1] == 500
        assert len(sizes) < 36
        assert [len(asked) for asked in batches(order[:20], concurrency=1)] == [1, 5, 13, 20]
        few = batches(order, concurrency=1, room=lambda following: min(2, len(following)))
        assert [len(asked) for asked in few][:4] == [1, 3, 5, 7], "as many as there is room for"
        assert [*batches(order, concurrency=1, room=lambda _: 0)] == [], "no room ends them"
        wide = [len(asked) for asked in batches(order, concurrency=50)]
        assert wide[:5] == [1, 5, 21, 71, 121], "later ones keep the requests busy"
