"""Two runs side by side: paired by problem, with all that makes them unlike in words."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.agent.attempt import LoopFacts
from harness.errors import RunDirectoryError
from harness.features.compare.comparison import COMPARED, compare_runs
from harness.features.compare.view import comparison_view
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Shown = Callable[..., str]


@pytest.fixture
def results(make_result: MakeResult) -> Callable[[str], list[SampleResult]]:
    """A sample for each letter: `A` solved problem a, `b` did not solve problem b."""
    return lambda letters: [make_result(x.lower(), solved=x.isupper()) for x in letters]


Results = Callable[[str], list[SampleResult]]


def words(text: str) -> str:
    return " ".join(text.split())


def test_problems_are_paired(results: Results, write_run: WriteRun, shown: Shown) -> None:
    a, b = write_run("a", results("ABcde")), write_run("b", results("AbCDE"))
    comparison = compare_runs([a, b])
    versus = comparison.versus[0]
    paired = versus.paired
    assert (paired.problems, paired.both, paired.neither) == (5, 1, 0)
    assert (paired.better_a, paired.better_b) == (("b",), ("c", "d", "e"))
    assert paired.difference == pytest.approx(0.4)
    assert paired.p_value == pytest.approx(0.5663, abs=1e-4)  # of (3 - 1) / √4 = 1
    assert versus.unlike == versus.notes == versus.changed == ()
    text = words(shown(comparison_view(comparison), 160))
    assert "paired on 5 problems: both solved 1, neither 0, a did better on 1, b on 3" in text
    assert "difference b minus a: +40.0 points (95 % interval -42.8 to +85.2); p = 0.57 " in text
    assert "p = 0.57 (chance alone could do this)" in text
    assert "pass@1 40.0 % (11.8 to 76.9) 80.0 % (37.6 to 96.4)" in text
    assert "a did better on 1 problem: b a accepted; b wrong answer" in text
    assert "b did better on 3 problems: c a wrong answer; b accepted d a wrong" in text


def test_a_run_against_itself(results: Results, write_run: WriteRun, shown: Shown) -> None:
    run = write_run("a", results("ABcd"))
    comparison = compare_runs([run, run])
    paired = comparison.versus[0].paired
    assert (paired.difference, paired.p_value) == (0, 1)
    assert paired.low is not None
    assert paired.high == pytest.approx(-paired.low)
    text = words(shown(comparison_view(comparison), 160))
    ends = "-50.0 to +50.0"  # 4 / (4 + 4), as 2 is the largest score of four
    assert f"+0.0 points (no problem differs; 95 % interval {ends}); p = 1 (chance alone" in text


def test_an_uneven_split_is_called_unlikely(
    results: Results, write_run: WriteRun, shown: Shown
) -> None:
    a, b = write_run("a", results("abcdefgh")), write_run("b", results("ABCDEFGH"))
    comparison = compare_runs([a, b])
    assert comparison.versus[0].paired.p_value == pytest.approx(2 / 2**8)
    text = words(shown(comparison_view(comparison)))
    assert "p = 0.0078 (unlikely to be chance)" in text


def test_problems_whose_content_changed_are_left_out_by_name(
    results: Results, make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    changed = make_result("a", solved=False, problem_hash="another")
    a, b = write_run("a", results("ABc")), write_run("b", [changed, *results("Bc")])
    comparison = compare_runs([a, b])
    (versus,) = comparison.versus
    assert versus.changed == ("a",)
    assert (versus.paired.problems, versus.paired.better_a) == (2, ())
    remark = "not comparable: 1 problem left out: the content differs between the runs (a)"
    assert remark in shown(comparison_view(comparison))


def test_problems_of_one_run_alone_are_counted(results: Results, write_run: WriteRun) -> None:
    a, b = write_run("a", results("ABCd")), write_run("b", results("De"))
    comparison = compare_runs([a, b])
    (versus,) = comparison.versus
    assert versus.paired.problems == 1
    assert versus.unlike == ()
    assert versus.notes == (
        "3 problems of A left out: not graded in the other run",
        "1 problem of B left out: not graded in the other run",
    )


def test_an_ungraded_problem_is_not_paired(
    results: Results, make_result: MakeResult, write_run: WriteRun
) -> None:
    ungraded = make_result("a", verdict=Verdict.UNGRADED)
    comparison = compare_runs(
        [write_run("a", results("AB")), write_run("b", [ungraded, *results("B")])]
    )
    assert comparison.versus[0].paired.problems == 1


@pytest.mark.parametrize("others", ["cd", ""])
def test_nothing_in_common_is_an_error(results: Results, write_run: WriteRun, others: str) -> None:
    a, b = write_run("a", results("AB")), write_run("b", results(others))
    with pytest.raises(RunDirectoryError, match="no graded problem is in both"):
        compare_runs([a, b])


def test_a_folder_that_is_no_run_is_named(
    results: Results, write_run: WriteRun, tmp_path: Path
) -> None:
    with pytest.raises(RunDirectoryError, match=r"nowhere: no such run"):
        compare_runs([write_run("a", results("A")), tmp_path / "nowhere"])


def test_settings_are_shown_where_they_differ(
    results: Results, write_run: WriteRun, shown: Shown
) -> None:
    a = write_run("a", results("A"), mode="agentic", max_turns=5, temperature=0.5)
    b = write_run("b", results("A"), mode="single_shot", max_turns=5)
    text = words(shown(comparison_view(compare_runs([a, b])), 160))
    assert "model made-model made-model" in text
    assert "mode agentic single_shot" in text
    assert "temperature 0.5 default" in text
    assert "max turns" not in text


@pytest.mark.parametrize(
    ("setting", "row"),
    [
        (("tool_protocol", "text"), "tool protocol auto text"),
        (("max_tool_calls", 5), "max tool calls default 5"),
        (("max_tokens_per_sample", 900), "max tokens per sample default 900"),
        (("sample_timeout", 60.0), "sample timeout default 60.0"),
        (("sample_wall_timeout", 90.0), "sample wall timeout default 90.0"),
        (("stop_on_pass", False), "stop on pass yes no"),
        (("submit_tool", True), "submit tool no yes"),
        (("run_code_tool", True), "run code tool no yes"),
        (("show_budget", True), "show budget no yes"),
        (("tool", ("mine:one", "mine:two")), "tool default mine:one, mine:two"),
        (("repair_rounds", 3), "repair rounds 1 3"),
        (("context", "fresh"), "context auto fresh"),
        (("repeats", 3), "repeats 1 3"),
        (("check_turns", 2), "check turns 0 2"),
        (("report_tests", 4), "report tests 1 4"),
        (("best_of", 4), "best of 5 4"),
        (("reasoning_effort", "high"), "reasoning effort default high"),
        (("prompt", "terse"), "prompt default terse"),
    ],
)
def test_each_setting_that_shapes_a_run_is_told(
    results: Results, write_run: WriteRun, shown: Shown, setting: tuple[str, object], row: str
) -> None:
    name, value = setting
    a, b = write_run("a", results("A")), write_run("b", results("A"), **{name: value})
    assert name in COMPARED
    assert row in words(shown(comparison_view(compare_runs([a, b])), 160))
    same = words(shown(comparison_view(compare_runs([b, b])), 160))
    assert name.replace("_", " ") not in same


def test_a_run_older_than_a_setting_has_its_default(
    results: Results, write_run: WriteRun, shown: Shown
) -> None:
    old = {"mode": "single_shot", "model": "made-model", "samples_per_problem": 1}
    a, b = write_run("a", results("A"), {"spec": old}), write_run("b", results("A"))
    text = words(shown(comparison_view(compare_runs([a, b])), 160))
    assert "stop on pass" not in text
    assert "tool protocol" not in text


def step(turn: int, passed: int | None = None, *, solved: bool | None = False) -> Revision:
    return Revision(
        turn=turn, tokens=500, cost=None, seconds=1, public_passed=passed, solved=solved
    )


def test_what_the_runs_brought_stands_side_by_side(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    right, wrong = (step(1, solved=True),), (step(1, 0), step(2, 1, solved=True))
    a = [
        make_result("a", solved=True, steps=right, cost=None),
        make_result("b", steps=(step(1),), cost=None),
    ]
    b = [
        make_result("a", solved=True, steps=right, tool_calls=8, malformed_tool_calls=1),
        make_result("b", solved=True, steps=wrong),
    ]
    comparison = compare_runs([write_run("a", a), write_run("b", b)])
    text = words(shown(comparison_view(comparison), 160))
    assert "first attempt 50.0 % (9.5 to 90.5) 50.0 % (9.5 to 90.5)" in text
    assert "iterating none gained 1 of 2, lost 0" in text
    assert "requests after the first" not in text
    assert "tool calls well-formed unknown 87.5 %" in text
    assert "solved per 1,000 tokens 0.455 0.909" in text
    assert "solved per dollar unknown 2.00" in text
    assert (
        "fail a hidden test 1 of 2 that pass the public tests, 50.0 % (9.5 to 90.5) "
        "0 of 2 that pass the public tests, 0.0 % (0.0 to 65.8)" in text
    )
    assert "shared problems only" not in text


def test_the_later_requests_of_a_loop_stand_beside_a_single_shot(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    facts = LoopFacts(later=5, new_programs=2, repeats=1, restarts=1, silent=2, named_tools=1)
    shot = write_run("a", [make_result("a")])
    loop = write_run("b", [make_result("a", model_calls=6, loop=facts)])
    text = words(shown(comparison_view(compare_runs([shot, loop])), 400))
    told = "5 later requests: 2 with a new program, 1 repeat, 1 new beginning, "
    told += "2 messages without a program, 1 program with a tool's name"
    assert f"requests after the first none {told}" in text


def test_a_run_older_than_steps_has_no_first_write(
    results: Results, make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    new = [
        make_result("a", solved=True, steps=(step(1, solved=True),)),
        make_result("b", steps=(step(1, solved=None), step(2, 0))),
    ]
    old = write_run("a", results("AB"))
    text = words(shown(comparison_view(compare_runs([old, write_run("b", new)])), 160))
    assert "first attempt unknown 100.0 % (20.7 to 100.0), 1 unknown" in text
    assert "first attempt" not in shown(comparison_view(compare_runs([old, old])), 160)


def test_a_run_has_one_rate_that_of_the_shared_problems(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    def run(name: str, solved: str, wrong: str) -> Path:
        right = [make_result(p, solved=True, steps=(step(1, 1, solved=True),)) for p in solved]
        return write_run(name, [*right, *(make_result(p, steps=(step(1, 0),)) for p in wrong)])

    comparison = compare_runs([run("a", "ab", "cd"), run("b", "a", "b")])
    assert comparison.runs[0].paired is not None
    assert comparison.runs[1].paired is None
    text = words(shown(comparison_view(comparison), 160))
    assert "50.0 % (15.0 to 85.0)" not in text
    for name, shared in (
        ("pass@1", "100.0 % (34.2 to 100.0) 50.0 %"),
        ("first attempt", "100.0 % (34.2 to 100.0)"),
        ("solved per 1,000 tokens", "0.909"),
        ("solved per dollar", "2.00"),
    ):
        assert f"{name} {shared}" in text


def test_the_rate_without_fallback_stands_beside(
    results: Results, make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    fell_back = [make_result("a", solved=True), make_result("b", fallback=True)]
    plain = write_run("a", results("Ab"))
    text = words(shown(comparison_view(compare_runs([plain, write_run("b", fell_back)])), 160))
    assert "without fallback 50.0 % (9.5 to 90.5) 100.0 % (20.7 to 100.0)" in text
    assert "without fallback" not in shown(comparison_view(compare_runs([plain, plain])))
    all_of_them = write_run("c", [make_result("a", fallback=True)])
    text = words(shown(comparison_view(compare_runs([plain, all_of_them])), 160))
    assert "without fallback 100.0 % (20.7 to 100.0) unknown" in text


def test_a_price_that_a_run_was_given_later_counts(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    graded = [make_result("a", solved=True, cost=None)]  # 1,000 tokens in, 100 out
    price = {"input": 100.0, "output": 1_000.0, "as_of": "2026-11-01"}
    a, b = write_run("a", graded), write_run("b", graded, {"price": price})
    text = words(shown(comparison_view(compare_runs([a, b])), 160))
    assert "cost unknown $0.2000 (prices of 2026-11-01)" in text
    assert "solved per dollar unknown 5.00" in text


def test_a_price_that_is_none_is_an_error(results: Results, write_run: WriteRun) -> None:
    a, b = write_run("a", results("A")), write_run("b", results("A"), {"price": {"input": "?"}})
    with pytest.raises(RunDirectoryError, match=r"run\.json: the price is invalid"):
        compare_runs([a, b])


def test_samples_still_pending_are_told(
    results: Results, write_run: WriteRun, shown: Shown
) -> None:
    a = write_run("a", results("AB"), samples_per_problem=3)
    text = words(shown(comparison_view(compare_runs([a, a])), 160))
    assert "pending 4 4" in text


@pytest.mark.parametrize("width", [40, 120])
def test_a_comparison_fits_the_terminal(
    results: Results, write_run: WriteRun, shown: Shown, width: int
) -> None:
    a = write_run("a-run-with-a-long-name-" + "x" * 60, results("AbC"))
    text = shown(comparison_view(compare_runs([a, write_run("b", results("ABc"))])), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text


def test_hostile_names_do_nothing(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    name = "made/\x1b[2J\n  B: forged"
    a = write_run("a", [make_result(name, solved=True), make_result("changed")])
    b = write_run("b", [make_result(name), make_result("changed", problem_hash="\x1b")])
    text = shown(comparison_view(compare_runs([a, b])))
    assert "\x1b" not in text
    assert r"  made/\x1b[2J\n  B: forged  a accepted; b wrong answer" in text.splitlines()


def test_a_comparison_is_written_as_json(results: Results, write_run: WriteRun) -> None:
    comparison = compare_runs([write_run("a", results("Ab")), write_run("b", results("aB"))])
    data = json.loads(comparison.model_dump_json())
    assert data["schema_version"] == 1
    assert data["versus"][0]["paired"]["better_b"] == ["b"]
    assert data["runs"][0]["summary"]["pass_at_1"]["problems"] == 2
