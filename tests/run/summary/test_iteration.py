"""What iterating brought: who counts as solved by when, and what nobody knows."""

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.attempt import ChosenBy, StopReason
from harness.grading.verdict import Verdict
from harness.models.protocol import Usage
from harness.run.store.results import Columns, SampleResult
from harness.run.summary.iteration import Curve, curve_of
from harness.tools.revision import Revision


def step(
    turn: int,
    public: int | None = None,
    *,
    solved: bool | None = False,
    tokens: int | None = 100,
    cost: float | None = 0.1,
) -> Revision:
    """A revision of a sample whose problem has two public tests; `public` of them passed."""
    return Revision(
        turn=turn, tokens=tokens, cost=cost, seconds=1, public_passed=public, solved=solved
    )


def right(turn: int, *, tokens: int | None = 100, cost: float | None = 0.1) -> Revision:
    return step(turn, 2, solved=True, tokens=tokens, cost=cost)


def sample(
    problem: str, *steps: Revision, solved: bool | None = None, **changes: object
) -> SampleResult:
    """A graded sample with these steps, solved if its last one is."""
    done = bool(steps and steps[-1].solved) if solved is None else solved
    plain = SampleResult(
        sample=f"{problem}#0",
        problem_id=problem,
        index=0,
        title=problem,
        problem_hash="h",
        platform="made",
        difficulty=None,
        tags=(),
        release_date=None,
        known_issues=(),
        verdict=Verdict.ACCEPTED if done else Verdict.WRONG_ANSWER,
        public_passed=2 * done,
        public_total=2,
        hidden_passed=done,
        hidden_total=1,
        tests=(),
        code="pass" if steps else "",
        chosen_by=ChosenBy.NEWEST,
        extraction="",
        stop_reason=StopReason.MODEL_STOPPED,
        model_calls=max((each.turn for each in steps), default=1),
        tool_calls=0,
        malformed_tool_calls=0,
        nudges=0,
        written=len(steps),
        steps=steps,
        usage=Usage(input_tokens=900, output_tokens=100),
        cost=1.0,
        seconds=1,
    )
    return plain.model_copy(update=changes)


OLD: dict[str, object] = {"written": 1, "code": "pass"}  # a version without steps


def curve(*graded: SampleResult) -> Curve:
    curve = curve_of(Columns(graded).samples)
    assert curve is not None
    return curve


class TestFirstWrite:
    def test_the_first_attempt_rate_is_the_share_whose_first_revision_passes_all_tests(
        self,
    ) -> None:
        iteration = curve(
            sample("a", right(1)),
            sample("b", step(1, 1), right(2)),
            sample("c", step(1, 2, solved=False)),
            sample("d"),
        )
        assert iteration.first_write is not None
        assert (iteration.first_write.value, iteration.first_write.problems) == (0.25, 4)
        assert iteration.first_write_unknown == 0

    def test_an_unknown_first_revision_is_counted_and_not_in_the_rate(self) -> None:
        iteration = curve(sample("a", right(1)), sample("b", step(1, solved=None), right(2)))
        assert iteration.first_write is not None
        assert (iteration.first_write.value, iteration.first_write.problems) == (1.0, 1)
        assert (iteration.first_write_unknown, iteration.samples) == (1, 2)

    def test_no_first_attempt_rate_if_all_first_revisions_are_unknown(self) -> None:
        iteration = curve(sample("a", step(1, solved=None)))
        assert (iteration.first_write, iteration.first_write_unknown) == (None, 1)

    def test_several_samples_of_a_problem_are_one_problem(self) -> None:
        samples = [sample("a", right(1)), *[sample("a", step(1, 0))] * 3, sample("b", right(1))]
        rate = curve(*samples).first_write
        assert rate is not None
        assert (rate.value, rate.problems) == (0.625, 2)


class TestTestRuns:
    def points(self, *graded: SampleResult) -> list[tuple[float, float]]:
        curve_points = curve(*graded).by_test_run
        assert [point.test_run for point in curve_points] == list(range(1, len(curve_points) + 1))
        return [(point.passed_public, point.solved) for point in curve_points]

    def test_the_test_runs_of_a_sample_are_counted_one_by_one(self) -> None:
        assert self.points(
            sample("a", right(2)),
            sample("b", step(2, 1), step(3, 0), right(4)),
            sample("c", step(2, 0), step(3, 2)),
            sample("d", step(2, 1)),
        ) == [(0.25, 0.25), (0.5, 0.25), (0.75, 0.5)]

    def test_revisions_that_were_not_tested_are_no_test_runs(self) -> None:
        assert self.points(sample("a", step(1), step(1), right(2)), sample("b", step(1, 0))) == [
            (0.5, 0.5)
        ]

    def test_a_right_revision_counts_from_the_next_run_on(self) -> None:
        """It was written, not run, and replaced by another before the tests were run."""
        samples = [sample("a", step(1, 0), step(2, solved=True), step(3, 0), step(4, 0))]
        assert self.points(*samples) == [(0, 0), (0, 1), (0, 1)]

    def test_a_solution_that_no_test_run_followed_counts_for_no_test_run(self) -> None:
        graded = [sample("a", step(1, 0), step(2, solved=True)), sample("b", right(1))]
        assert self.points(*graded) == [(0.5, 0.5)]
        assert curve(*graded).solved_unrun == 1
        assert curve(*graded).by_turn[-1].solved == 1

    def test_no_public_tests_are_passed_where_there_are_none(self) -> None:
        assert self.points(sample("a", step(1, 0), public_total=0, public_passed=0)) == [(0, 0)]

    def test_a_sample_without_test_runs_has_no_points(self) -> None:
        assert self.points(sample("a", step(1, solved=True))) == []


class TestTurns:
    def test_the_share_grows_turn_by_turn_to_the_last_of_any_sample(self) -> None:
        iteration = curve(
            sample("a", right(1)), sample("b", step(1, 0), right(3)), sample("c", step(4))
        )
        assert [(point.turn, point.solved) for point in iteration.by_turn] == [
            (1, pytest.approx(1 / 3)),
            (2, pytest.approx(1 / 3)),
            (3, pytest.approx(2 / 3)),
            (4, pytest.approx(2 / 3)),
        ]

    def test_a_right_solution_that_was_given_up_is_told(self) -> None:
        iteration = curve(sample("a", step(1, solved=True), step(2, 0), solved=False))
        assert (iteration.lost, iteration.by_turn[-1].solved) == (1, 1)

    @for_each(
        ("graded", "iterated"),
        [
            ([sample("a", step(1, solved=True))], False),
            ([sample("a", step(1, solved=True)), sample("b")], False),
            ([sample("a", right(1))], True),
            ([sample("a", step(1, solved=True)), sample("b", step(2))], True),
        ],
        ids=["one answer", "one and none", "tests were run", "two answers"],
    )
    def test_a_single_answer_is_no_iterating(
        self, graded: list[SampleResult], iterated: bool
    ) -> None:
        assert curve(*graded).iterated is iterated


class TestAmounts:
    def test_tokens_are_those_until_the_solution_was_written(self) -> None:
        iteration = curve(
            sample("a", right(1, tokens=150)),
            sample("b", step(1, 0, tokens=100), right(2, tokens=1_000)),
            sample("c", step(1, 0), usage=Usage(input_tokens=3_000)),
        ).by_tokens
        assert iteration is not None
        assert [(point.within, point.solved) for point in iteration] == [
            *((200, pytest.approx(1 / 3)), (500, pytest.approx(1 / 3))),
            *((1_000, pytest.approx(2 / 3)), (2_000, pytest.approx(2 / 3))),
            (5_000, pytest.approx(2 / 3)),
        ]

    def test_the_curve_by_dollars_has_round_thresholds_up_to_the_most_spent(self) -> None:
        curve_points = curve(sample("a", right(1, cost=0.003), cost=0.02)).by_dollars
        assert curve_points is not None
        assert [point.within for point in curve_points] == [0.005, 0.01, 0.02]
        assert {point.solved for point in curve_points} == {1}

    @for_each(
        "unknown",
        [
            sample("b", usage=None, cost=None),
            sample("b", right(1, tokens=None, cost=None)),
        ],
        ids=["of a failure", "of the solution"],
    )
    def test_one_unknown_amount_makes_the_curve_by_amounts_unknown(
        self, unknown: SampleResult
    ) -> None:
        iteration = curve(sample("a", right(1)), unknown)
        assert iteration.by_tokens is None
        assert iteration.by_dollars is None
        assert iteration.by_turn[-1].solved >= 0.5

    def test_a_run_without_costs_has_no_curve_by_dollars(self) -> None:
        assert curve(sample("a", right(1, cost=0), cost=0.0)).by_dollars is None

    def test_an_unsolved_run_s_curve_ends_at_the_most_spent(self) -> None:
        curve_points = curve(sample("a", step(1, 0))).by_tokens
        assert curve_points is not None
        assert [(point.within, point.solved) for point in curve_points] == [(1_000, 0)]


class TestOlderRuns:
    def test_results_without_steps_have_no_curve(self) -> None:
        older = [sample("a", solved=True, **OLD), sample("b", **OLD)]
        assert curve_of(Columns(older).samples) is None

    def test_failures_to_write_anything_do_not_stand_for_all(self) -> None:
        results = [sample("a", solved=True, **OLD), sample("b")]
        assert curve_of(Columns(results).samples) is None

    def test_a_run_that_went_on_tells_how_many_are_missing(self) -> None:
        iteration = curve(sample("a", solved=True, **OLD), sample("b", right(1)))
        assert (iteration.samples, iteration.problems, iteration.without_steps) == (1, 1, 1)
        assert iteration.first_write is not None
        assert iteration.first_write.problems == 1

    def test_a_run_without_results_has_no_curve(self) -> None:
        assert curve_of([]) is None


STEPS = st.lists(
    st.builds(
        step,
        st.just(1),
        st.none() | st.integers(0, 2),
        solved=st.sampled_from([True, False, None]),
    ),
    max_size=5,
).map(lambda made: [each.model_copy(update={"turn": n}) for n, each in enumerate(made, 1)])


@pytest.mark.thorough
@given(st.lists(st.tuples(st.sampled_from("abc"), STEPS), min_size=1, max_size=12))
def test_the_curve_accounts_for_all_samples(made: list[tuple[str, list[Revision]]]) -> None:
    graded = [sample(problem, *steps) for problem, steps in made]
    iteration = curve(*graded)
    assert iteration.samples == len(graded)
    known = [each for each in graded if not each.steps or each.steps[0].solved is not None]
    assert iteration.first_write_unknown == len(graded) - len(known)
    for shares in (
        [point.solved for point in iteration.by_turn],
        [point.solved for point in iteration.by_test_run],
        [point.passed_public for point in iteration.by_test_run],
    ):
        assert shares == sorted(shares)
        assert all(0 <= share <= 1 for share in shares)
    if iteration.by_test_run:
        assert iteration.by_test_run[-1].solved <= iteration.by_turn[-1].solved
    assert Curve.model_validate_json(iteration.model_dump_json()) == iteration
