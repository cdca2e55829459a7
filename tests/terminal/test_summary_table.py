"""A run's summary as tables: at any width, for any state a run can be in."""

from collections.abc import Callable

import pytest
from for_each import for_each

from harness.agent.attempt import ChosenBy
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.summary import Summary, summarize
from harness.terminal.consoles import console
from harness.terminal.summary_table import summary_view

MakeResult = Callable[..., SampleResult]
Shown = Callable[..., str]
WIDTHS = [40, 80, 120]


def full(make_result: MakeResult) -> Summary:
    results = [
        make_result("a", solved=True, platform="a-platform-of-some-length"),
        make_result("b", difficulty="hard", known_issues=("doubtful",)),
        make_result("c", verdict=Verdict.TIME_LIMIT, public_passed=0, chosen_by=ChosenBy.PROSE),
        make_result("d", verdict=Verdict.UNGRADED, usage=None, cost=None),
        make_result("e", solved=True, hidden_total=0, hidden_passed=0, malformed_tool_calls=2),
    ]
    return summarize(results, 9, {"model_error": 1})


def without_tools(make_result: MakeResult) -> Summary:
    results = [
        make_result("a", solved=True, tool_protocol="text"),
        make_result("b", solved=True, tool_protocol="native"),
        make_result("c", tool_protocol="none", fallback=True),
        make_result("d", tool_protocol="native", refused=True, nudges=3),
    ]
    return summarize(results, 4)


def states(make_result: MakeResult) -> dict[str, Summary]:
    return {
        "empty": summarize([], 0),
        "nothing yet": summarize([], 20),
        "all failed": summarize([], 3, {"model_error": 2, "sandbox_error": 1}),
        "ungraded": summarize([make_result("a", verdict=Verdict.UNGRADED)], 1),
        "unknown cost": summarize([make_result("a", usage=None, cost=None)], 1),
        "full": full(make_result),
        "without tools": without_tools(make_result),
    }


@for_each("width", WIDTHS)
@for_each(
    "state",
    [
        *("empty", "nothing yet", "all failed", "ungraded", "unknown cost", "full"),
        "without tools",
    ],
)
def test_the_summary_fits_the_terminal_and_cuts_nothing(
    make_result: MakeResult, shown: Shown, state: str, width: int
) -> None:
    text = shown(summary_view(states(make_result)[state]), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert "None" not in text


def words(text: str) -> str:
    return " ".join(text.split())


def test_rates_stand_with_interval_and_problems(make_result: MakeResult, shown: Shown) -> None:
    text = words(shown(summary_view(full(make_result))))
    assert "pass@1 50.0 % 15.0 to 85.0 4" in text
    assert "with hidden tests 33.3 % 6.1 to 79.2 3" in text
    assert "without known issues 66.7 % 20.8 to 93.9 3" in text


def test_groups_of_too_few_problems_are_not_printed(make_result: MakeResult, shown: Shown) -> None:
    of_five = [make_result(name, solved=True) for name in "abcde"]
    few = [make_result(name, difficulty="hard", platform="rare") for name in "fghi"]
    text = words(shown(summary_view(summarize([*of_five, *few], 9))))
    assert "easy 100.0 % 56.6 to 100.0 5" in text
    assert "made 100.0 % 56.6 to 100.0 5" in text
    assert "hard" not in text
    assert "rare" not in text


def test_how_tools_were_called_is_told_where_it_was_not_natively_alone(
    make_result: MakeResult, shown: Shown
) -> None:
    text = words(shown(summary_view(without_tools(make_result))))
    assert "pass@1 50.0 % 15.0 to 85.0 4" in text
    assert "without fallback 66.7 % 20.8 to 93.9 3" in text
    assert "handed in by native calls 2, without a loop 1, as text 1 asked without tools 1" in text
    assert "reminders 3" in text
    assert "refusals 1" in text
    plain = words(shown(summary_view(full(make_result))))
    assert "fallback" not in plain
    assert "asked without tools" not in plain
    assert "handed in" not in plain
    assert "refusals" not in plain


def test_answers_that_were_cut_off_are_told_with_the_limit(
    make_result: MakeResult, shown: Shown
) -> None:
    results = [make_result("a", cut_off=3), make_result("b", cut_off=1), make_result("c")]
    text = words(shown(summary_view(summarize(results, 3, max_tokens=1_500))))
    wanted = "answers cut off 4 answers in 2 samples, by the token limit (--max-tokens:"
    assert f"{wanted} 1,500)" in text
    text = words(shown(summary_view(summarize(results, 3))))
    assert f"{wanted} the provider's own)" in text
    assert "cut off" not in words(shown(summary_view(summarize(results[2:], 1))))


def test_tokens_that_nobody_told_are_unknown_and_not_none(
    make_result: MakeResult, shown: Shown
) -> None:
    unknown = [make_result(name, usage=None, cost=None) for name in "ab"]
    text = words(shown(summary_view(summarize(unknown, 2))))
    assert "tokens unknown for 2 samples" in text
    assert "0 in" not in text
    assert "0 out" not in text
    some = words(shown(summary_view(summarize([*unknown, make_result("c")], 3))))
    assert "tokens 1,100 (1,000 in, 100 out); unknown for 2 samples" in some
    known_text = words(shown(summary_view(summarize([make_result("c")], 1))))
    assert "tokens 1,100 (1,000 in, 100 out)" in known_text
    assert "unknown for" not in known_text


def test_what_is_in_no_rate_is_told(make_result: MakeResult, shown: Shown) -> None:
    text = words(shown(summary_view(full(make_result))))
    assert "samples 4 graded of 9" in text
    assert "ungraded 1 (no tests, or not run); in no rate" in text
    assert "pending 1 model error; in no rate" in text
    assert "pending 3 not run; in no rate" in text
    assert "fail a hidden test 1 of 2 that pass the public tests, 50.0 %" in text
    assert "no hidden tests 1 problem" in text
    assert "cost unknown" in text
    assert "unknown for 1 sample" in text
    assert "malformed tool calls 2" in text
    assert "salvaged from prose 1" in text


def test_a_summary_without_a_rate_shows_no_percentage(shown: Shown) -> None:
    assert "%" not in shown(summary_view(summarize([], 20)))


@for_each("name", ["\x1b[31mred", "[bold]x[/bold]", ":smile:", "a\nb", "", "日本"])
def test_names_from_data_are_shown_as_they_are(
    make_result: MakeResult, shown: Shown, name: str
) -> None:
    summary = summarize([make_result(letter, platform=name) for letter in "abcde"], 5)
    text = shown(summary_view(summary))
    assert "\x1b" not in text
    wanted = name.replace("\x1b", r"\x1b").replace("\n", r"\n") or "unknown"
    assert wanted in text


def test_the_console_adds_nothing_to_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("[bold]1[/bold] :smile: http://x 3.5 True", soft_wrap=True)
    console(error=True).print("said aside")
    output = capsys.readouterr()
    assert output.out == "[bold]1[/bold] :smile: http://x 3.5 True\n"
    assert output.err == "said aside\n"
