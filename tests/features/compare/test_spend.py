"""Two runs at equal spend, from their files."""

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import typer
from program import harness
from results_made import made_result

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.answer import answer_of
from harness.features.compare.command import compare as compare_command
from harness.features.compare.comparison import compare_runs
from harness.features.compare.library import compare
from harness.features.compare.spend import spend_comparison
from harness.features.compare.spend_result import ArmFacts, SpendComparison
from harness.features.compare.spend_sentence import shots_words
from harness.features.compare.view import comparison_view
from harness.grading.verdict import Verdict
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run
from harness.tools.revision import Revision

Write = Callable[..., Path]


def step(turn: int, *, solved: bool | None, public: int | None, cost: float = 0.01) -> Revision:
    """A revision; each turn costs a cent, or as said, and takes 100 tokens."""
    return Revision(
        turn=turn,
        tokens=100 * turn,
        cost=cost * turn,
        seconds=float(turn),
        public_passed=public,
        solved=solved,
    )


def agent(problem: str, solved_at: int | None, turns: int = 4, **changes: Any) -> SampleResult:
    """An attempt of some turns, each of which writes; solved from one of them on, if at all."""
    steps = tuple(
        step(turn, solved=turn == solved_at, public=int(turn == solved_at))
        for turn in range(1, (solved_at or turns) + 1)
    )
    return made_result(
        problem,
        solved=solved_at is not None,
        steps=steps,
        model_calls=len(steps),
        usage=Usage(input_tokens=100 * len(steps)),
        cost=0.01 * len(steps),
        **changes,
    )


def shot(problem: str, index: int, solved: bool, **changes: Any) -> SampleResult:
    """A shot for a cent, that passes the public tests if it is solved."""
    made = made_result(problem, solved=solved, index=index)
    plain = {
        "code": "x",
        "cost": 0.01,
        "usage": Usage(input_tokens=100),
        "public_passed": int(solved),
    }
    return made.model_copy(update=plain | changes)


@pytest.fixture
def pair(write_run: Write) -> Callable[..., tuple[Run, Run]]:
    """A run of shots and one of an agent."""
    numbers = count()

    def write(shots: Iterable[SampleResult], attempts: Iterable[SampleResult]) -> tuple[Run, Run]:
        own = list(shots)
        most = max(result.index for result in own) + 1
        number = next(numbers)
        a = write_run(f"shots{number}", own, mode="single_shot", samples_per_problem=most)
        b = write_run(f"agent{number}", attempts, mode="agentic")
        return read_run(a), read_run(b)

    return write


Pair = Callable[..., tuple[Run, Run]]
NAMES = [f"p{number:02}" for number in range(20)]


def usual(pair: Pair, samples: int = 4) -> SpendComparison:
    """A quarter is solved by each shot; the agent solves half at once, a quarter on turn 3."""
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(samples)]
    solved_at = {0: 1, 1: 1, 2: 3, 3: None}
    attempts = [agent(p, solved_at[n % 4]) for n, p in enumerate(NAMES)]
    return spend_comparison(*pair(shots, attempts))


def test_a_sentence_begins_with_a_capital(write_run: Write) -> None:
    shots = write_run("shots", [shot(p, 0, solved=False) for p in NAMES], mode="single_shot")
    repairs = write_run("repairs", [agent(p, 2) for p in NAMES], mode="self_repair")
    sentences = answer_of(compare_runs([shots, repairs])).sentences
    assert any(sentence.startswith("Self-repair takes") for sentence in sentences)
    assert [sentence for sentence in sentences if sentence[0].islower()] == []


def test_an_agent_is_compared_at_its_mean_spend_and_at_that_of_a_shot(pair: Pair) -> None:
    comparison = usual(pair)
    assert comparison.unit == "dollars"
    assert comparison.problems == 20
    assert (comparison.a.way, comparison.b.way) == ("chosen", "cut_off")
    assert comparison.a.mean == pytest.approx(0.01)
    assert comparison.b.mean == pytest.approx((0.01 + 0.01 + 0.03 + 0.04) / 4)
    one, all_of_it = comparison.differences
    assert (one.mean_of, all_of_it.mean_of) == ("A", "B")
    assert one.at == pytest.approx(0.01)
    assert one.a.solved == pytest.approx(0.25)
    assert one.b.solved == pytest.approx(0.5)  # every attempt cut off after its first turn
    assert all_of_it.b.solved == pytest.approx(0.75)
    assert all_of_it.a.amount == pytest.approx(2.25)
    assert all_of_it.difference == pytest.approx(0.5)
    assert all_of_it.low is not None
    assert all_of_it.high is not None
    assert 0 < all_of_it.low < 0.5 < all_of_it.high < 1


def test_the_sentence_says_it(pair: Pair) -> None:
    spend_sentence = usual(pair).sentence
    assert spend_sentence.startswith(
        "For $0.0225 a problem, what the agent spends, the agent solves 75.0 % and 2.2 single "
        "shots solve 25.0 % (+50.0 points, +25.0 to +70.4: decided)."
    )


@pytest.mark.parametrize("baseline", ["shots", "agent"])
def test_the_interval_of_one_shot_is_that_of_what_the_shot_solves(
    write_run: Write, baseline: str
) -> None:
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(4)]
    attempts = [agent(p, {0: 1, 1: 1, 2: 3, 3: None}[n % 4]) for n, p in enumerate(NAMES)]
    runs = [
        write_run("shots", shots, mode="single_shot", samples_per_problem=4),
        write_run("agent", attempts, mode="agentic"),
    ]
    if baseline == "agent":
        runs.reverse()
    comparison = compare_runs(runs)
    paired = comparison.versus[0].paired
    ends = sorted(-abs(end) for end in (paired.low or 0, paired.high or 0))
    sentence = answer_of(comparison).sentences[1]
    low, high = (f"{100 * end:+.1f}" for end in ends)
    assert sentence.startswith("One shot solves 50.0 points less than the agent")
    assert f"(95 % interval {low} to {high}, " in sentence


def test_below_the_crossing_shots_are_better(pair: Pair) -> None:
    """Shots solve half at once; the agent nothing before its third turn, then three quarters."""
    shots = [shot(p, i, solved=n % 2 == 0) for n, p in enumerate(NAMES) for i in range(4)]
    attempts = [agent(p, 3 if n % 4 else None, turns=3) for n, p in enumerate(NAMES)]
    comparison = spend_comparison(*pair(shots, attempts))
    assert comparison.crossing is not None
    assert (comparison.crossing.better_below, comparison.crossing.better_above) == ("A", "B")
    assert 0.02 < comparison.crossing.at < 0.03
    assert comparison.crossing.low is not None
    assert comparison.crossing.low <= comparison.crossing.at
    assert "single shots " in comparison.sentence.partition("Below ")[2]


def test_spends_that_are_asked_for_have_a_sentence_each(pair: Pair) -> None:
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(2)]
    attempts = [agent(p, 2) for p in NAMES]
    comparison = spend_comparison(*pair(shots, attempts), [0.01, 0.02, 0.05])
    assert [each.at for each in comparison.differences] == [0.01, 0.02]
    assert comparison.unreached == (0.05,)
    assert "; the agent, cut off there, has solved nothing yet. For $0.0200" in comparison.sentence
    assert (
        "For $0.0200 a problem, the agent solves 100.0 % and 2 single shots" in comparison.sentence
    )
    assert "A comparison at $0.0500 needs 5 shots a problem; there are 2." in comparison.sentence


def test_too_few_shots_give_a_sentence_and_no_guess(pair: Pair) -> None:
    shots = [shot(p, 0, solved=n % 2 == 0) for n, p in enumerate(NAMES)]
    comparison = spend_comparison(*pair(shots, [agent(p, 3) for p in NAMES]))
    assert [each.at for each in comparison.differences] == [pytest.approx(0.01)]
    assert comparison.sentence == (
        "A comparison at what the agent spends ($0.0300 a problem) needs 3 shots a problem; there "
        "is 1. Cut off at the cost of one single shot ($0.0100 a problem), the agent solves 0.0 %, "
        "where that shot solves 50.0 % (-50.0 points, -70.4 to -25.0)."
    )


def test_shots_that_end_with_the_first_that_passes_are_cheaper(pair: Pair) -> None:
    """Easy problems need one shot, so that the money left buys more on the hard ones."""
    draws = [(n % 2 == 0) or (i == n % 4) for n in range(20) for i in range(4)]
    shots = [shot(p, i, solved=draws[4 * n + i]) for n, p in enumerate(NAMES) for i in range(4)]
    attempts = [agent(p, 2) for p in NAMES]
    comparison = spend_comparison(*pair(shots, attempts), [0.015])
    (all_paid,), (ended,) = comparison.differences, comparison.until_pass
    assert ended.a.solved > all_paid.a.solved
    assert ended.b == all_paid.b
    assert "Shots asked one by one until one passes the public tests solve" in (comparison.sentence)


def test_cached_input_and_batch_prices_count_as_they_were_paid(pair: Pair) -> None:
    shots = [shot(p, 0, solved=False, cost=0.005) for p in NAMES]  # half price by the batch
    comparison = spend_comparison(*pair(shots, [agent(p, 1) for p in NAMES]))
    assert (comparison.a.mean, comparison.b.mean) == (pytest.approx(0.005), pytest.approx(0.01))


@pytest.mark.parametrize(
    ("changes", "unit"),
    [({}, "dollars"), ({"cost": None}, "tokens"), ({"cost": None, "usage": None}, "calls")],
)
def test_where_prices_are_unknown_tokens_count_and_else_calls(
    pair: Pair, changes: dict[str, Any], unit: str
) -> None:
    shots = [shot(p, 0, solved=True, **changes) for p in NAMES]
    comparison = spend_comparison(*pair(shots, [agent(p, 2) for p in NAMES]))
    assert comparison.unit == unit
    cost_note = any("costs are not known of both runs" in note for note in comparison.notes)
    assert cost_note is (unit != "dollars")


def test_older_runs_make_a_lower_bound_and_say_so(pair: Pair) -> None:
    """Of a revision between the first and the last nobody knew the hidden verdict."""
    known = [step(n, solved=s, public=1) for n, s in ((1, False), (2, None), (3, True))]
    old = [agent(p, 3).model_copy(update={"steps": tuple(known)}) for p in NAMES]
    comparison = spend_comparison(*pair([shot(p, 0, solved=False) for p in NAMES], old))
    assert any("20 samples of B could have handed in" in note for note in comparison.notes)


def test_shots_without_verdicts_of_tests_are_not_chosen(pair: Pair) -> None:
    untold = {"public_total": 0, "public_passed": 0, "hidden_total": 0, "hidden_passed": 0}
    shots = [shot(p, i, solved=i == 0, **untold) for p in NAMES for i in range(3)]
    comparison = spend_comparison(*pair(shots, [agent(p, 2) for p in NAMES]))
    assert {curve.way for curve in comparison.curves if curve.label == "A"} == {
        "chosen",
        "single",
        "any_right",
    }
    assert comparison.a.most == pytest.approx(0.01)  # one shot; more would have to be chosen from
    assert any("none can be chosen" in note for note in comparison.notes)


def test_difficulties_are_compared_at_what_they_cost(pair: Pair) -> None:
    def level(number: int) -> str:
        return "easy" if number < 10 else "hard"

    shots = [shot(p, 0, solved=n < 10, difficulty=level(n)) for n, p in enumerate(NAMES)]
    attempts = [agent(p, 1 if n < 10 else 4, difficulty=level(n)) for n, p in enumerate(NAMES)]
    easy, hard = spend_comparison(*pair(shots, attempts)).by_difficulty
    assert (easy.name, hard.name, easy.problems) == ("easy", "hard", 10)
    assert [each.difference for each in easy.differences] == [0]
    assert [(each.a.solved, each.b.solved) for each in hard.differences] == [(0, 0)]  # cut off
    few = spend_comparison(*pair(shots[1:], attempts[1:])).by_difficulty[0]
    assert (few.problems, few.differences) == (9, ())


def test_two_agents_are_called_by_what_differs(write_run: Write) -> None:
    def agents(name: str, turn: int, **said: Any) -> Run:
        manifest = {"prompt": {"name": said.pop("prompt", "default"), "hash": name}}
        return read_run(
            write_run(name, [agent(p, turn) for p in NAMES], manifest, mode="agentic", **said)
        )

    plain = agents("plain", 3)
    prompt = spend_comparison(plain, agents("terse", 2, prompt="terse"))
    assert prompt.sentence.startswith(
        "For $0.0300 a problem, what prompt default spends, prompt terse solves 100.0 % and "
        "prompt default solves 100.0 % (+0.0 points, -16.7 to +16.7: not decided)"
    )
    model = spend_comparison(plain, agents("big", 2, model="big"))
    assert "big solves 100.0 % and made-model solves 100.0 %" in model.sentence
    alike = spend_comparison(plain, agents("again", 3))
    assert "again solves 100.0 % and plain solves 100.0 %" in alike.sentence


@pytest.mark.parametrize("at", [[0.0], [-1.0], [float("nan")], [float("inf")]])
def test_a_spend_that_is_none_is_refused(pair: Pair, at: list[float]) -> None:
    both = pair([shot(p, 0, solved=True) for p in NAMES], [agent(p, 2) for p in NAMES])
    with pytest.raises(UsageError, match="numbers above 0"):
        spend_comparison(*both, at)


def test_runs_without_a_problem_in_common_are_refused(pair: Pair) -> None:
    with pytest.raises(RunDirectoryError, match="no graded problem is the same in both"):
        spend_comparison(*pair([shot("x", 0, solved=True)], [agent("y", 1)]))


def test_one_problem_has_no_interval(pair: Pair) -> None:
    comparison = spend_comparison(*pair([shot("x", 0, solved=True)], [agent("x", 1)]))
    assert [(each.low, each.high) for each in comparison.differences] == [(None, None)]
    assert comparison.crossing is None


def test_compare_shows_equal_spend(
    write_run: Write, capsys: pytest.CaptureFixture[str], shown: Callable[..., str]
) -> None:
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(2)]
    a = write_run("a", shots, mode="single_shot", samples_per_problem=2)
    b = write_run("b", [agent(p, 2) for p in NAMES], mode="agentic")
    compared = compare_runs([a, b], None, [0.01])
    said = " ".join(answer_of(compared).sentences)
    assert "the agent, cut off there, has solved nothing yet." in said
    text = " ".join(shown(comparison_view(compared), 100).split())
    assert "$0.0100 20 25.0 % 0.0 % -25.0" in text
    far = compare_runs([a, b], None, [9.0])
    assert "A comparison at $9.00 needs" in " ".join(answer_of(far).sentences)
    beyond = " ".join(shown(comparison_view(far), 100).split())
    assert "at equal spend" not in beyond
    with pytest.raises(typer.Exit) as left:
        compare_command.__wrapped__({}, runs=[a, b], as_markdown=True, at="0.01")
    assert left.value.exit_code == 0
    assert "| $0.0100 | 20 | 25.0 % | 0.0 % | -25.0 |" in capsys.readouterr().out
    equal_spend = compare(a, b, at=[0.01]).versus[0].spend
    assert equal_spend is not None
    assert equal_spend.differences[0].at == 0.01


def test_an_agent_that_costs_as_much_as_a_shot_takes_the_same(write_run: Write) -> None:
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(2)]
    a = write_run("a", shots, mode="single_shot", samples_per_problem=2)
    b = write_run("b", [agent(p, 1, turns=1) for p in NAMES], mode="agentic")
    said = " ".join(answer_of(compare_runs([b, a])).sentences)
    assert "Both take about the same cost." in said
    assert "one single shot" in said, "no comparison at equal spend"


def test_a_number_of_shots_that_reads_1_is_one_shot() -> None:
    arm = ArmFacts(
        label="A",
        name="single shot",
        way="single",
        mean=1,
        most=9,
        samples=9,
        most_samples=9,
        problems=3,
    )
    assert shots_words(arm, 1.02) == ("one single shot", False)
    assert shots_words(arm, 1.2) == ("1.2 single shots", True)


def test_the_flag_takes_numbers(tmp_path: Path) -> None:
    bad = harness(tmp_path, "compare", "x", "y", "--at", "cheap")
    assert bad.returncode == 2
    assert "--at cheap: give numbers between commas, such as 0.01,0.05" in bad.stderr


def test_tokens_and_dollars_a_problem_are_those_of_the_compared_samples(write_run: Write) -> None:
    dear = {"usage": Usage(input_tokens=90_000, output_tokens=0), "cost": 45.0}
    untested = made_result("c", verdict=Verdict.UNGRADED, **dear)
    same = [made_result("a", solved=True), made_result("b")]
    comparison = compare_runs([write_run("one", same), write_run("more", [*same, untested])])
    answer = answer_of(comparison)
    assert [(arm.tokens, arm.cost) for arm in answer.arms[:2]] == [(1_100, 0.5)] * 2
    assert "Both take about the same cost." in " ".join(answer.sentences)
