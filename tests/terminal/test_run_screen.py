"""The last screen of a run: the answer, in at most 24 lines of 80 columns."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from for_each import for_each

from harness.grading.verdict import JudgedAgain, Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import summarize
from harness.terminal.groups_view import groups_view
from harness.terminal.run_screen import hints, run_screen, summary_screen
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Shown = Callable[..., str]


def test_the_run_screen_names_the_run_and_its_result(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    results = [make_result(name, solved=name in "abc") for name in "abcdefghij"]
    path = write_run("r", results, benchmark="livecodebench:v6", mode="single_shot")
    lines = shown(run_screen(read_run(path)), 80).splitlines()
    assert lines == [
        "livecodebench v6, 10 problems, made-model, single shot, prompt default",
        "",
        "  solved              30.0 %  (10.8 to 60.3)  3 of 10",
        "  fail a hidden test  70.0 %  (39.7 to 89.2)  7 of 10 that pass the public tests",
        "  tokens              10.0k in, 1.00k out",
        "  cost                $5.00, $1.67 per solved",
        "",
        "  wrong answer 7",
        "",
    ]


def test_a_limit_of_recorded_answers_is_not_to_be_raised(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    results = [make_result("a", cut_off=1)]
    path = write_run("r", results, model="replay:bundled")
    text = shown(run_screen(read_run(path)), 80)
    assert "1 answer was cut off by the token limit\n" in re.sub(" +\n", "\n", text)
    assert "--max-tokens" not in text


def test_pending_samples_come_first_with_the_way_to_get_them(
    make_result: MakeResult, write_run: WriteRun, shown: Shown
) -> None:
    results = [make_result("a", solved=True)]
    problems = {"a": "hash of a", "b": "h", "c": "h"}
    path = write_run("r", results, {"problems": problems})
    text = " ".join(shown(run_screen(read_run(path)), 200).split())
    assert f"2 of 3 samples are pending: not run (2). Resume: harness run --resume {path}" in text
    assert text.index("pending") < text.index("solved 100.0 %")


def test_the_rate_without_known_issues_follows_the_whole_one(
    make_result: MakeResult, shown: Shown
) -> None:
    results = [
        *(make_result(name, solved=name == "a") for name in "abc"),
        make_result("d", known_issues=("several answers",)),
    ]
    lines = shown(summary_screen(summarize(results, 4)), 80).splitlines()
    assert [" ".join(line.split()[:2]) for line in lines[1:3]] == ["solved 25.0", "without known"]
    assert lines[1].endswith("1 of 4")
    assert lines[2].split()[3:5] == ["33.3", "%"]
    assert lines[2].endswith("of 3 problems")


def test_a_run_without_results_has_one_blank_line(write_run: WriteRun, shown: Shown) -> None:
    path = write_run("r", [], {"problems": {"a": "h"}})
    assert "\n\n\n" not in shown(run_screen(read_run(path)), 80)


def test_the_rate_of_several_samples_is_called_pass_at_1(
    make_result: MakeResult, shown: Shown
) -> None:
    results = [make_result("a", solved=index == 0, index=index) for index in range(4)]
    text = " ".join(shown(summary_screen(summarize(results, 4)), 80).split())
    assert "pass@1 25.0 %" in text
    assert "1 of 4 samples" in text
    assert "pass@4 100.0 %" in text


def test_what_the_rate_of_first_attempts_leaves_out_is_told(
    make_result: MakeResult, shown: Shown
) -> None:
    def step(turn: int, *, solved: bool | None) -> Revision:
        known = {"tokens": None, "cost": None, "seconds": None, "public_passed": None}
        return Revision(turn=turn, solved=solved, **known)

    steps = step(1, solved=None), step(2, solved=True)
    of_two = make_result("b", solved=True, model_calls=2, steps=steps)
    results = [make_result("a", solved=True, steps=(step(1, solved=True),)), of_two]
    text = " ".join(shown(summary_screen(summarize(results, 2)), 80).split())
    told = "first attempt 100.0 % (20.7 to 100.0) iterating gained 0 of 1, lost 0; 1 unknown"
    assert told in text
    text = " ".join(shown(summary_screen(summarize([of_two], 1)), 80).split())
    assert "first attempt unknown the first revisions' programs are not in the run" in text


def test_what_went_wrong_is_told_and_what_did_not_is_not(
    make_result: MakeResult, shown: Shown
) -> None:
    calm = [make_result("a", solved=True)]
    text = shown(summary_screen(summarize(calm, 1)), 80)
    assert not set(text.split()) & {"public", "cut", "0", "pending", "again"}
    results = [
        make_result("a", cut_off=2, verdict=Verdict.TIME_LIMIT),
        make_result("b", judged_again=JudgedAgain(rechecked=(3, 1))),
        make_result("c", usage=None, cost=None, fallback=True),
    ]
    text = shown(summary_screen(summarize(results, 3, max_tokens=900)), 80)
    assert "2 answers were cut off by the token limit: raise --max-tokens (now 900)" in text
    assert "1 test had another verdict when run again" in text
    assert "wrong answer 2   time limit 1" in text
    assert "2.00k in, 200 out; unknown for 1 sample" in text
    assert "cost unknown" in " ".join(text.split())
    assert "1 sample asked without tools" in text


@for_each(("unread", "warns"), [(0, False), (1, False), (2, True)])
def test_calls_that_could_not_be_read_are_told_where_they_are_many(
    make_result: MakeResult, shown: Shown, unread: int, *, warns: bool
) -> None:
    results = [make_result("a", tool_calls=10, malformed_tool_calls=unread)]
    text = " ".join(shown(summary_screen(summarize(results, 1)), 80).split())
    assert ("2 of 10 tool calls could not be read: the score" in text) is warns


@pytest.mark.parametrize("graded", [0, 1, 30])
def test_the_run_screen_fits_24_lines_of_80_columns(
    make_result: MakeResult, write_run: WriteRun, shown: Shown, graded: int
) -> None:
    verdicts = [*(each for each in Verdict if each is not Verdict.CHECKER_ERROR)]
    results = [
        make_result(f"p{n}", verdict=verdicts[n % len(verdicts)], cut_off=n, refused=n % 2 == 0)
        for n in range(graded)
    ]
    problems = {f"p{n}": f"hash of p{n}" for n in range(40)}
    path = write_run("r", results, {"problems": problems})
    lines = shown(run_screen(read_run(path)), 80).splitlines()
    assert len(lines) <= 20  # four more are its hints
    assert all(len(line) <= 80 for line in lines)


def test_groups_of_too_few_problems_are_counted_and_not_printed(
    make_result: MakeResult, shown: Shown
) -> None:
    results = [make_result(f"e{n}", solved=True, tags=("math",)) for n in range(5)]
    results += [make_result("h", difficulty="hard", tags=("rare", "math"))]
    text = "\n".join(shown(part, 80) for part in groups_view(results, ("difficulty", "tag")))
    screen_text = " ".join(text.split())
    assert "easy 100.0 % 56.6 to 100.0 5" in screen_text
    assert "math 83.3 %" in screen_text
    assert "rare" not in screen_text
    assert "1 difficulty with fewer than 5 problems not shown" in screen_text
    assert "1 tag with fewer than 5 problems not shown" in screen_text


@for_each(("path", "page_hint"), [("runs/a", True), (f"runs/{'x' * 40}", False)])
def test_hints_fit_a_screen_and_keep_their_commands_whole(path: str, *, page_hint: bool) -> None:
    lines = [hint.plain for hint in hints(path)]
    assert max(map(len, lines)) <= 80
    assert [f"harness report {path}" in line for line in lines] == [False, False, True]
    assert ("one HTML page" in lines[-1]) == page_hint
