"""What a run's results come to: who is in which denominator."""

from collections.abc import Sequence

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.attempt import ChosenBy, StopReason
from harness.grading.verdict import JudgedAgain, Verdict
from harness.models.protocol import Usage
from harness.problem import Level
from harness.run.store.results import Columns, SampleResult
from harness.run.summary.summary import Summary, rate_of, summarize
from harness.stats.rates import Rate

USAGE = Usage(input_tokens=100, cached_input_tokens=40, output_tokens=10, reasoning_tokens=4)


def result(
    problem: str = "a",
    index: int = 0,
    *,
    solved: bool = False,
    verdict: Verdict | None = None,
    public: tuple[int, int] | None = None,
    hidden: tuple[int, int] | None = None,
    difficulty: Level | None = None,
    platform: str = "made",
    **changes: object,
) -> SampleResult:
    """A sample of a problem with one public and three hidden tests; `public` is passed, total."""
    verdict = verdict or (Verdict.ACCEPTED if solved else Verdict.WRONG_ANSWER)
    done = verdict is Verdict.ACCEPTED
    public_passed, public_total = public or (int(done), 1)
    hidden_passed, hidden_total = hidden or (3 * done, 3)
    plain = SampleResult(
        sample=f"{problem}#{index}",
        problem_id=problem,
        index=index,
        title=problem,
        problem_hash=f"hash of {problem}",
        platform=platform,
        difficulty=difficulty,
        tags=(),
        release_date=None,
        known_issues=(),
        verdict=verdict,
        public_passed=public_passed,
        public_total=public_total,
        hidden_passed=hidden_passed,
        hidden_total=hidden_total,
        tests=(),
        code="",
        chosen_by=ChosenBy.NEWEST,
        extraction="",
        stop_reason=StopReason.MODEL_STOPPED,
        model_calls=2,
        tool_calls=3,
        malformed_tool_calls=1,
        nudges=0,
        written=1,
        usage=USAGE,
        cost=0.25,
        seconds=1.0,
    )
    return plain.model_copy(update=changes)


def summary(*results: SampleResult, planned: int | None = None) -> Summary:
    return summarize(results, len(results) if planned is None else planned)


def value(rate: Rate | None) -> tuple[float, int] | None:
    """A rate and how many problems it is the mean of."""
    return None if rate is None else (pytest.approx(rate.value), rate.problems)


class TestDenominators:
    def test_every_graded_problem_counts(self) -> None:
        total = summary(result("a", solved=True), result("b"), result("c"), result("d"))
        assert value(total.pass_at_1) == (0.25, 4)
        assert (total.problems, total.graded, total.ungraded) == (4, 4, 0)
        assert total.pending == {}

    @for_each(
        "verdict",
        [
            *(Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT, Verdict.NO_SOLUTION),
            *(Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT, Verdict.COMPILE_ERROR),
        ],
    )
    def test_every_way_to_fail_counts(self, verdict: Verdict) -> None:
        total = summary(result("a", solved=True), result("b", verdict=verdict))
        assert value(total.pass_at_1) == (0.5, 2)
        assert total.verdicts == {"accepted": 1, verdict.value: 1}

    def test_ungraded_is_in_no_rate(self) -> None:
        ungraded = result(
            *("b", 0),
            verdict=Verdict.UNGRADED,
            public=(0, 0),
            hidden=(0, 0),
            difficulty="hard",
            platform="elsewhere",
        )
        total = summary(result("a", solved=True, difficulty="easy"), ungraded)
        assert (total.graded, total.ungraded) == (1, 1)
        assert value(total.pass_at_1) == value(total.with_hidden) == (1.0, 1)
        assert total.mean_fraction == 1.0
        assert list(total.by_difficulty) == ["easy"]
        assert list(total.by_platform) == ["made"]
        assert total.no_hidden == 0

    def test_pending_is_counted_by_cause_and_in_no_rate(self) -> None:
        failures = {"model_error": 2, "sandbox_error": 1}
        summary = summarize([result("a", solved=True)], 10, failures)
        assert summary.pending == {"model_error": 2, "sandbox_error": 1, "not_run": 6}
        assert value(summary.pass_at_1) == (1.0, 1)

    def test_graded_ungraded_and_pending_are_all_that_was_planned(self) -> None:
        done = [result("a"), result("b", verdict=Verdict.UNGRADED)]
        summary = summarize(done, 7, {"model_error": 1})
        assert (
            summary.graded + summary.ungraded + sum(summary.pending.values())
            == summary.planned
            == 7
        )

    def test_a_summary_without_results_has_no_rate(self) -> None:
        total = summary(planned=3)
        assert total.pass_at_1 is None
        assert total.with_hidden is None
        assert total.mean_fraction is None
        assert total.pending == {"not_run": 3}
        assert total.by_difficulty == total.by_platform == total.verdicts == {}


class TestSamples:
    def test_several_samples_of_a_problem_are_one_problem(self) -> None:
        total = summary(
            *(result("a", index, solved=index == 0) for index in range(4)),
            *(result("b", index, solved=True) for index in range(4)),
        )
        assert value(total.pass_at_1) == (0.625, 2)
        assert (total.problems, total.graded) == (2, 8)

    def test_a_problem_with_samples_pending_counts_by_those_it_has(self) -> None:
        done = [result("a", 0, solved=True), result("a", 1), result("b", 0, solved=True)]
        assert value(summary(*done, planned=4).pass_at_1) == (0.75, 2)

    def test_counts_are_by_problem(self) -> None:
        done = [result("a", 0, solved=True), result("a", 1), result("b", 0)]
        ungraded = result("c", verdict=Verdict.UNGRADED)
        assert Columns([*done, ungraded]).counts == {"a": (2, 1), "b": (1, 0)}


class TestHiddenTests:
    def test_problems_without_hidden_tests_stand_apart(self) -> None:
        shown = result("b", solved=True, hidden=(0, 0))
        total = summary(result("a"), shown, shown.model_copy(update={"index": 1}))
        assert value(total.pass_at_1) == (0.5, 2)
        assert value(total.with_hidden) == (0.0, 1)
        assert total.no_hidden == 1

    def test_overfit_is_public_passed_and_hidden_failed(self) -> None:
        total = summary(
            result("a", solved=True),
            result("b", public=(1, 1), hidden=(2, 3)),
            result("c", public=(0, 1), hidden=(2, 3)),
            result("d", public=(1, 1), hidden=(0, 3)),
        )
        assert (total.passed_public, total.overfit) == (3, 2)

    def test_the_rate_of_overfit_is_that_of_its_count(self) -> None:
        overfit = result("a", 1, public=(1, 1), hidden=(2, 3))
        total = summary(
            *(result("a", 0, solved=True), overfit),
            *(result("b", public=(1, 1), hidden=(0, 3)), result("c", public=(0, 1))),
        )
        assert (total.overfit, total.passed_public) == (2, 3)
        assert value(total.overfit_rate) == (pytest.approx(2 / 3), 2)
        assert summary(result("c")).overfit_rate is None

    def test_a_sample_without_public_tests_did_not_pass_them(self) -> None:
        total = summary(result("a", public=(0, 0)), result("b", solved=True, public=(0, 0)))
        assert (total.passed_public, total.overfit) == (0, 0)

    def test_a_sample_without_hidden_tests_did_not_pass_public_tests_only(self) -> None:
        total = summary(result("a", solved=True, hidden=(0, 0)))
        assert (total.passed_public, total.overfit) == (0, 0)

    def test_tests_that_were_not_run_count_as_not_passed(self) -> None:
        stopped = result("a", verdict=Verdict.TIME_LIMIT, public=(1, 1), hidden=(0, 3))
        assert summary(stopped, result("b", solved=True)).mean_fraction == pytest.approx(0.625)


class TestTheSourcesOwnRule:
    def test_the_rate_by_the_source_s_rule_stands_beside_that_of_the_checkers(self) -> None:
        stricter = result("b", solved=True, solved_by_rule=False)
        total = summary(result("a", solved=True), stricter, result("c", solved_by_rule=True))
        assert value(total.pass_at_1) == (pytest.approx(2 / 3), 3)
        assert value(total.by_source_rule) == (pytest.approx(2 / 3), 3)
        assert value(summary(result("a"), stricter).by_source_rule) == (0.0, 2)

    def test_there_is_no_rate_by_the_source_s_rule_without_a_checker(self) -> None:
        assert summary(result("a", solved=True)).by_source_rule is None


class TestKnownIssues:
    def test_a_second_rate_leaves_out_problems_with_known_issues(self) -> None:
        doubtful = result("b", known_issues=("many answers are right",))
        total = summary(result("a", solved=True), doubtful)
        assert value(total.pass_at_1) == (0.5, 2)
        assert value(total.without_known_issues) == (1.0, 1)

    def test_the_rate_without_known_issues_is_left_out_if_there_are_none(self) -> None:
        assert summary(result("a", solved=True), result("b")).without_known_issues is None

    def test_there_is_no_rate_without_known_issues_if_all_problems_have_some(self) -> None:
        assert summary(result("a", known_issues=("wrong tests",))).without_known_issues is None


class TestFallback:
    def test_a_second_rate_leaves_out_samples_with_fallback(self) -> None:
        total = summary(
            result("a", solved=True, tool_protocol="native"),
            result("b", fallback=True, tool_protocol="none"),
            result("c", fallback=True, tool_protocol="none", verdict=Verdict.UNGRADED),
            result("d", tool_protocol="native"),
        )
        assert value(total.pass_at_1) == (pytest.approx(1 / 3), 3)
        assert value(total.without_fallback) == (0.5, 2)
        assert total.fallback == 2
        assert total.tool_protocols == {"native": 2, "none": 2}

    def test_the_rate_without_fallback_leaves_out_single_samples(self) -> None:
        total = summary(result("a", 0, solved=True), result("a", 1, fallback=True))
        assert value(total.pass_at_1) == (0.5, 1)
        assert value(total.without_fallback) == (1.0, 1)

    def test_the_rate_without_fallback_is_left_out_if_there_was_no_fallback(self) -> None:
        total = summary(result("a", solved=True), result("b"))
        assert total.without_fallback is None
        assert (total.fallback, total.refused, total.tool_protocols) == (0, 0, {})

    def test_refusals_of_a_model_are_counted(self) -> None:
        assert summary(result("a", refused=True), result("b")).refused == 1


class TestBreakdowns:
    def test_difficulties_stand_in_order(self) -> None:
        levels: list[Level | None] = ["hard", None, "easy", "medium", "easy"]
        total = summary(
            *(
                result(str(number), difficulty=level, solved=level == "easy")
                for number, level in enumerate(levels)
            )
        )
        assert list(total.by_difficulty) == ["easy", "medium", "hard", "unknown"]
        assert value(total.by_difficulty["easy"]) == (1.0, 2)
        assert value(total.by_difficulty["unknown"]) == (0.0, 1)

    def test_platforms_stand_by_name(self) -> None:
        total = summary(*(result(name, platform=name) for name in ("leetcode", "atcoder", "cf")))
        assert list(total.by_platform) == ["atcoder", "cf", "leetcode"]


class TestCosts:
    def test_tokens_and_calls_add_up(self) -> None:
        total = summary(result("a", solved=True), result("b", chosen_by=ChosenBy.PROSE))
        assert total.usage == USAGE + USAGE
        assert total.usage.total_tokens == 220
        assert (total.model_calls, total.tool_calls, total.malformed_tool_calls) == (4, 6, 2)
        assert (total.usage_unknown, total.salvaged) == (0, 1)
        assert total.cost == pytest.approx(0.5)

    def test_solutions_from_failed_calls_are_counted_apart(self) -> None:
        total = summary(result("a", chosen_by=ChosenBy.FAILED_CALL))
        assert (total.salvaged, total.salvaged_from_calls) == (0, 1)

    def test_malformed_calls_are_a_share_of_all(self) -> None:
        total = summary(result("a"), result("b", tool_calls=5, malformed_tool_calls=0))
        assert total.well_formed_tool_calls == pytest.approx(7 / 8)
        none = result("a", tool_calls=0, malformed_tool_calls=0)
        assert summary(none).well_formed_tool_calls is None

    def test_what_was_spent_on_failures_counts(self) -> None:
        total = summary(*(result(name, solved=name == "a") for name in "abcd"))
        assert total.solved_per_1000_tokens == pytest.approx(1_000 / 440)
        assert total.solved_per_dollar == pytest.approx(1.0)

    def test_samples_that_could_not_be_solved_are_in_no_ratio(self) -> None:
        total = summary(result("a", solved=True), result("b", verdict=Verdict.UNGRADED))
        assert total.solved_per_1000_tokens == pytest.approx(1_000 / 110)
        assert total.solved_per_dollar == pytest.approx(4.0)

    def test_solved_per_token_and_dollar_are_unknown_without_usage(self) -> None:
        total = summary(result("a", solved=True), result("b", usage=None, cost=None))
        assert total.solved_per_1000_tokens is None
        assert total.solved_per_dollar is None
        assert summary(result("a", cost=0.0)).solved_per_dollar is None

    def test_one_unknown_cost_makes_the_run_s_cost_unknown(self) -> None:
        total = summary(result("a"), result("b", usage=None, cost=None))
        assert total.cost is None
        assert total.usage == USAGE
        assert total.usage_unknown == 1

    def test_ungraded_samples_cost_as_much(self) -> None:
        total = summary(result("a"), result("b", verdict=Verdict.UNGRADED))
        assert total.cost == pytest.approx(0.5)

    def test_verdicts_tried_again_add_up(self) -> None:
        total = summary(
            result("a", judged_again=JudgedAgain(confirmed=(3, 1), retried=2)),
            result("b", judged_again=JudgedAgain(confirmed=(2, 0), rechecked=(1, 1), blamed=1)),
        )
        assert total.judged_again == JudgedAgain(
            confirmed=(5, 1), rechecked=(1, 1), retried=2, blamed=1
        )


RESULTS = st.lists(
    st.builds(
        lambda problem, index, verdict, hidden: result(
            *(problem, index),
            verdict=verdict,
            public=(1, 1) if verdict is Verdict.ACCEPTED else (0, 1),
            hidden=(hidden if verdict is Verdict.ACCEPTED else 0, hidden),
        ),
        st.sampled_from("abcdef"),
        st.integers(0, 3),
        st.sampled_from([Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.UNGRADED]),
        st.integers(0, 2),
    ),
    unique_by=lambda made: made.sample,
)


@given(RESULTS)
def test_the_summary_accounts_for_all_results(results: Sequence[SampleResult]) -> None:
    summary = summarize(results, len(results) + 2)
    assert summary.graded + summary.ungraded == sum(summary.verdicts.values()) == len(results)
    assert summary.pending == {"not_run": 2}
    assert summary.pass_at_1 == rate_of(results)
    assert summary.overfit <= summary.passed_public
    rated = 0 if summary.pass_at_1 is None else summary.pass_at_1.problems
    assert rated == len({made.problem_id for made in results if made.graded})
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_an_imported_verdict_has_no_known_tests() -> None:
    imported = result("a", solved=True, public=(0, 0), hidden=(0, 0))
    total = summary(imported, result("b", public=(1, 1), hidden=(1, 3)))
    assert value(total.pass_at_1) == (0.5, 2)
    assert (total.mean_fraction, total.no_hidden) == (0.5, 0)
    assert summary(imported).mean_fraction is None


def test_costs_that_the_provider_told_are_shown_as_its_own() -> None:
    told = USAGE.model_copy(update={"cost_usd": 0.25})
    total = summary(result("a", usage=told), result("b", usage=told))
    assert (total.cost, total.prices_as_of, total.usage.cost_usd) == (0.5, "the provider", 0.5)
    priced = summary(result("a"), result("b", usage=told, cost=0.1))
    assert (priced.prices_as_of, priced.usage.cost_usd) == (None, None)
