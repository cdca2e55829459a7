"""The figures of a report: counted by hand."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.agent.attempt import StopReason
from harness.features.report import figures
from harness.features.report import notable_problems as outliers
from harness.features.report.labelled_runs import LabelledRun, pairings, remarks, sides_of
from harness.features.report.page import report_page
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import read_run
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
Sides = Callable[..., list[LabelledRun]]
WriteRun = Callable[..., Path]


def test_rates_by_difficulty_run_from_easy_to_hard(sides: Sides, make_result: MakeResult) -> None:
    results = [
        make_result("a", solved=True, difficulty="hard"),
        make_result("b", difficulty="hard"),
        make_result("c", difficulty=None),
        make_result("d", solved=True, difficulty="easy"),
        make_result("e", verdict=Verdict.UNGRADED, difficulty="easy"),
    ]
    rows = figures.by_difficulty(sides(run=results))
    assert [(row.group, row.rate.value, row.samples) for row in rows] == [
        ("easy", 1, 1),
        ("hard", 0.5, 2),
        ("unknown", 0, 1),
    ]


def test_several_samples_of_a_problem_are_one_problem(
    sides: Sides, make_result: MakeResult
) -> None:
    results = [make_result("a", index=i, solved=i == 0) for i in range(4)]
    row = figures.by_platform(sides(run=results))[0]
    assert (row.rate.value, row.rate.problems, row.samples) == (0.25, 1, 4)


def test_a_problem_counts_for_each_of_its_tags_once(sides: Sides, make_result: MakeResult) -> None:
    results = [make_result("a", solved=True, tags=("x", "y", "x")), make_result("b", tags=("y",))]
    rows = figures.by_tag(sides(run=results))
    assert [(row.group, row.rate.value, row.samples) for row in rows] == [
        ("y", 0.5, 2),
        ("x", 1, 1),
    ]


def test_the_most_frequent_tags_are_shown(sides: Sides, make_result: MakeResult) -> None:
    results = [
        make_result(f"{tag}-{n}", tags=(f"tag {tag:02}",)) for tag in range(30) for n in range(tag)
    ]
    groups = [row.group for row in figures.by_tag(sides(run=results))]
    assert groups == [f"tag {tag:02}" for tag in range(29, 9, -1)]


def test_months_and_the_cut_off(sides: Sides, make_result: MakeResult) -> None:
    results = [
        make_result("a", solved=True, release_date=date(2024, 5, 31)),
        make_result("b", solved=False, release_date=date(2024, 6, 1)),
        make_result("c", solved=True, release_date=date(2023, 12, 1)),
        make_result("d", solved=True, release_date=None),
    ]
    made = sides(run=results)
    assert [row.group for row in figures.by_month(made)] == ["2023-12", "2024-05", "2024-06"]
    eras = figures.around_cutoff(made, date(2024, 5, 1))
    assert [(row.group, row.rate.value, row.samples) for row in eras] == [
        ("until 2024-05", 1, 2),
        ("after 2024-05", 0, 1),
    ]


def test_a_run_that_ended_earlier_keeps_what_it_had(sides: Sides, make_result: MakeResult) -> None:
    def step(turn: int, solved: bool) -> Revision:
        return Revision(
            turn=turn, tokens=None, cost=None, seconds=None, public_passed=1, solved=solved
        )

    short = [make_result("a", solved=True, steps=(step(1, True),)), make_result("b")]
    short[1] = short[1].model_copy(update={"steps": (step(1, False),)})
    long = [
        make_result("a", solved=True, model_calls=3, steps=(step(1, False), step(3, True))),
        make_result("b", model_calls=1, steps=(step(1, False),)),
    ]
    rows = figures.by_turn(sides(short=short, long=long))
    assert [(row.within, row.solved) for row in rows if row.run == "short"] == [(1, 0.5), (3, 0.5)]
    assert [(row.within, row.solved) for row in rows if row.run == "long"] == [
        (1, 0),
        (2, 0),
        (3, 0.5),
    ]
    assert figures.by_dollars(sides(again=short)) == []  # unknown is not zero


def test_public_against_hidden(sides: Sides, make_result: MakeResult) -> None:
    results = [
        make_result("a", solved=True),
        make_result("b"),
        make_result("c", public_passed=0),
        make_result("d", hidden_total=0, hidden_passed=0),  # says nothing of hidden tests
    ]
    rows = figures.public_and_hidden(sides(run=results))
    assert [(row.kind, row.samples, row.share) for row in rows] == [
        (figures.SOLVED, 1, pytest.approx(1 / 3)),
        (figures.OVERFIT, 1, pytest.approx(1 / 3)),
        (figures.FAILED_PUBLIC, 1, pytest.approx(1 / 3)),
    ]


def test_verdicts_and_stop_reasons_are_counted_for_every_run(
    sides: Sides, make_result: MakeResult
) -> None:
    one = [make_result("a", solved=True), make_result("b")]
    other = [make_result("a", solved=True, stop_reason=StopReason.TURN_LIMIT)]
    made = sides(one=one, other=other)
    assert [(row.run, row.kind, row.samples, row.share) for row in figures.verdicts(made)] == [
        ("one", "accepted", 1, 0.5),
        ("other", "accepted", 1, 1),
        ("one", "wrong answer", 1, 0.5),
        ("other", "wrong answer", 0, 0),
    ]
    assert [(row.run, row.kind, row.samples) for row in figures.stop_reasons(made)] == [
        ("one", "model stopped", 2),
        ("other", "model stopped", 0),
        ("one", "turn limit", 0),
        ("other", "turn limit", 1),
    ]


def test_a_quantile_is_the_least_that_so_many_stayed_within(
    sides: Sides, make_result: MakeResult
) -> None:
    results = [make_result(f"p{n}", seconds=float(n)) for n in range(1, 11)]
    rows = figures.quantiles(sides(run=results), figures.seconds)
    assert [(row.share, row.amount) for row in rows] == [
        (0.0, 1), (0.1, 1), (0.25, 3), (0.5, 5), (0.75, 8), (0.9, 9), (0.99, 10), (1.0, 10)
    ]  # fmt: skip


def test_quantiles_leave_out_what_is_unknown(sides: Sides, make_result: MakeResult) -> None:
    results = [make_result("a", usage=None), make_result("b")]
    made = sides(run=results)
    assert {row.amount for row in figures.quantiles(made, figures.tokens)} == {1_100}
    none = [make_result("a", cost=None)]
    assert figures.quantiles(sides(none=none), figures.dollars) == []


def test_the_problems_to_look_at(sides: Sides, make_result: MakeResult) -> None:
    one = [
        make_result("fast", solved=True, seconds=1.0, cost=9.0),
        make_result("slow", solved=True, seconds=9.0, cost=1.0),
        make_result("never", seconds=2.0, cost=None),
    ]
    other = [
        make_result("fast", solved=False, seconds=3.0, cost=1.0),
        make_result("slow", solved=True, seconds=4.0, cost=1.0),
        make_result("never", seconds=2.0, cost=5.0),
    ]
    made = sides(one=one, other=other)
    slow = outliers.by_mean(made, figures.seconds)
    assert [(each.problem, each.value, each.solved) for each in slow] == [
        ("slow", 6.5, 2),
        ("fast", 2, 1),
        ("never", 2, 0),
    ]
    assert (slow[0].side.label, slow[0].sample) == ("one", "slow#0")
    assert [each.problem for each in outliers.by_mean(made, figures.dollars)] == ["fast", "slow"]
    (flipping,) = outliers.flipping(made)
    assert (flipping.problem, flipping.value, flipping.side.label) == ("fast", 0.5, "one")


def test_what_flips_most_is_first_and_the_odd_sample_is_shown(
    sides: Sides, make_result: MakeResult
) -> None:
    results = [make_result("even", index=i, solved=i < 2) for i in range(4)]
    results += [make_result("odd", index=i, solved=i != 3) for i in range(4)]
    results += [make_result("always", index=i, solved=True) for i in range(4)]
    problems = outliers.flipping(sides(run=results))
    assert [(each.problem, each.value) for each in problems] == [("even", 0.5), ("odd", 0.25)]
    assert problems[1].sample == "odd#3"


def test_problems_of_another_content_are_others(sides: Sides, make_result: MakeResult) -> None:
    made = sides(
        one=[make_result("a", solved=True)], other=[make_result("a", problem_hash="changed")]
    )
    assert outliers.flipping(made) == []
    assert pairings(made) == []


def test_agentic_runs_are_set_against_the_single_shot_of_their_model(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    good, bad = [make_result("a", solved=True)], [make_result("a")]
    paths = [
        write_run("agentic", good, mode="agentic"),
        write_run("repair", bad, mode="self_repair"),
        write_run("single", bad, mode="single_shot"),
    ]
    pairs = pairings(sides_of([read_run(path) for path in paths]))
    assert [(p.other.label, p.base.label, p.iterating) for p in pairs] == [
        ("agentic", "single", True),
        ("repair", "single", True),
    ]
    assert pairs[0].paired.better_b == ("a",)
    assert pairs[0].paired.difference == 1


def grid_of(
    write_run: WriteRun, results: list[SampleResult], **variants: dict[str, Any]
) -> list[Any]:
    paths = [write_run(name, results, **spec) for name, spec in variants.items()]
    pairs = pairings(sides_of([read_run(path) for path in paths]))
    return [(each.other.label, each.base.label, each.differs_in) for each in pairs]


def test_a_grid_is_paired_by_one_setting_at_a_time(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    variants = {
        f"{mode}-{prompt}": {"mode": mode, "prompt": prompt, "max_turns": turns}
        for mode, turns in (("agentic", 20), ("single_shot", 10))
        for prompt in ("default", "tests_first", "terse")
    }
    grid = grid_of(write_run, [make_result("a")], **variants)
    mode = "mode: single_shot -> agentic"
    assert sorted(grid) == [
        ("agentic-default", "single_shot-default", mode),
        ("agentic-terse", "agentic-default", "prompt: default -> terse"),
        ("agentic-terse", "single_shot-terse", mode),
        ("agentic-tests_first", "agentic-default", "prompt: default -> tests_first"),
        ("agentic-tests_first", "single_shot-tests_first", mode),
        ("single_shot-terse", "single_shot-default", "prompt: default -> terse"),
        ("single_shot-tests_first", "single_shot-default", "prompt: default -> tests_first"),
    ]


def test_a_prompt_that_the_single_shot_lacks_is_set_against_its_own_mode(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    grid = grid_of(
        write_run,
        [make_result("a")],
        agentic={"mode": "agentic"},
        first={"mode": "agentic", "prompt": "tests_first"},
        single={"mode": "single_shot"},
    )
    assert grid == [
        ("agentic", "single", "mode: single_shot -> agentic"),
        ("first", "agentic", "prompt: default -> tests_first"),
    ]


def test_models_that_have_their_own_prompt_for_each_mode_are_still_compared(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    variants = {
        f"{mode}-{model}": {"mode": mode, "model": model, "prompt": prompt}
        for mode, prompt in (("agentic", "terse"), ("single_shot", "default"))
        for model in ("m", "n")
    }
    grid = grid_of(write_run, [make_result("a")], **variants)
    both = "mode: single_shot -> agentic; prompt: default -> terse"
    assert grid == [
        ("single_shot-n", "single_shot-m", "model: m -> n"),
        ("agentic-n", "agentic-m", "model: m -> n"),
        ("agentic-m", "single_shot-m", both),
        ("agentic-n", "single_shot-n", both),
    ]


@pytest.mark.thorough
def test_a_run_that_differs_in_several_settings_is_named(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    good = [make_result("a", solved=True)]
    paths = [
        write_run("one", good, mode="agentic"),
        write_run("two", good, mode="agentic", temperature=1.0),
        write_run("odd", good, mode="agentic", model="n", prompt="terse", temperature=0.5),
    ]
    page = report_page([read_run(path) for path in paths])
    assert "In no pair, since no other run differs from them in one setting: odd." in page


def test_runs_of_one_mode_are_set_against_the_first(sides: Sides, make_result: MakeResult) -> None:
    made = sides(one=[make_result("a")], other=[make_result("a")], third=[make_result("b")])
    assert [(p.other.label, p.base.label, p.iterating) for p in pairings(made)] == [
        ("other", "one", False)
    ]


def test_runs_of_the_same_name_are_told_apart(
    sides: Sides, make_result: MakeResult, tmp_path: Path
) -> None:
    run = sides(one=[make_result("a")])[0].run
    assert [side.label for side in sides_of([run, run])] == ["one (1)", "one (2)"]
    long = tmp_path / ("n" * 200)
    (tmp_path / "one").rename(long)
    (label,) = [side.label for side in sides_of([read_run(long)])]
    assert len(label) == 48


def test_the_command_that_shows_a_transcript_is_as_a_shell_takes_it(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    run = write_run("it's", [make_result("a b")])
    (side,) = sides_of([read_run(run)])
    import shlex

    assert shlex.split(side.transcript("a b#0")) == ["harness", "transcript", str(run), "a b#0"]


def test_remarks_say_what_is_pending_and_what_makes_runs_unlike(
    write_run: WriteRun, make_result: MakeResult
) -> None:
    one = write_run("one", [make_result("a"), make_result("b", verdict=Verdict.UNGRADED)])
    other = write_run(
        "other",
        [make_result("a")],
        {
            "problems": {"a": "hash of a", "c": "h"},
            "test_limits": {"made": {"cpu_s": 12.0}},
            "sandbox": {"level": "seccomp"},
        },
    )
    sentences = list(remarks(sides_of([read_run(one), read_run(other)])))
    assert sentences == [
        "one: 1 sample not graded, and in no rate",
        "other: 1 sample of 2 pending, in no figure",
        "one and other are not of the same problems: their rates side by side are no comparison",
        "one and other: the limits of a test differ between the runs: made: cpu_s 6.0 and 12.0",
        "one and other: the sandbox's level differs between the runs: namespaces and seccomp",
    ]
    spec = {"problems": {"a": "hash of a"}, "not_needed": "decided"}
    decided = write_run("decided", [make_result("a")], spec, samples_per_problem=4)
    assert list(remarks(sides_of([read_run(decided)]))) == []
    again = list(remarks(sides_of([read_run(one), read_run(one)])))
    assert again == [sentences[0].replace("one", f"one ({n})") for n in (1, 2)]
