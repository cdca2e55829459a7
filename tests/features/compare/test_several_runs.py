"""What a comparison says beyond two runs of one sample: baseline, Holm, groups, flips, likeness."""

import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
import typer
from rich.console import Console

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.command import compare
from harness.features.compare.comparison import compare_runs
from harness.features.compare.markdown import comparison_markdown
from harness.features.compare.view import comparison_view
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Shown = Callable[..., str]


def words(text: str) -> str:
    return " ".join(text.split())


MakeRun = Callable[..., Path]


class TestBaseline:
    def test_all_others_stand_against_the_first(self, run_of: MakeRun) -> None:
        runs = [run_of("a", "abcdefgh"), run_of("b", "ABCDEFGH"), run_of("c", "ABcdefgh")]
        comparison = compare_runs(runs)
        assert (comparison.baseline, [side.label for side in comparison.runs]) == ("A", [*"ABC"])
        assert [(v.baseline, v.label) for v in comparison.versus] == [("A", "B"), ("A", "C")]
        assert [v.paired.difference for v in comparison.versus] == pytest.approx([1.0, 0.25])

    def test_another_can_be_named(self, run_of: MakeRun) -> None:
        runs = [run_of("a", "abcd"), run_of("b", "ABCD"), run_of("c", "ABcd")]
        comparison = compare_runs(runs, runs[1])
        assert [(v.baseline, v.label) for v in comparison.versus] == [("B", "A"), ("B", "C")]
        assert [v.paired.difference for v in comparison.versus] == pytest.approx([-1.0, -0.5])

    def test_one_that_is_not_among_them_comes_first(self, run_of: MakeRun) -> None:
        baseline = run_of("c", "aB")
        comparison = compare_runs([run_of("a", "ab")], baseline)
        assert [side.path for side in comparison.runs][:1] == [str(baseline)]
        assert [(v.baseline, v.label) for v in comparison.versus] == [("A", "B")]
        assert comparison.versus[0].paired.difference == -0.5

    def test_one_run_is_too_few(self, run_of: MakeRun) -> None:
        with pytest.raises(UsageError, match="give two runs"):
            compare_runs([run_of("a", "a")])

    def test_a_run_without_a_common_problem_is_named(self, run_of: MakeRun) -> None:
        with pytest.raises(RunDirectoryError, match=r"/a and .*/c cannot be compared"):
            compare_runs([run_of("a", "ab"), run_of("b", "ab"), run_of("c", "xy")])

    def test_p_values_are_corrected_by_holm(self, run_of: MakeRun, shown: Shown) -> None:
        runs = [run_of("a", "abcdefgh"), run_of("b", "ABCDEFGH"), run_of("c", "ABCDEFgh")]
        comparison = compare_runs(runs)
        assert [v.paired.p_value for v in comparison.versus] == pytest.approx(
            [2 / 2**8, 0.0158246], rel=1e-4
        )
        assert [v.p_holm for v in comparison.versus] == pytest.approx(
            [4 / 2**8, 0.0158246], rel=1e-4
        )
        text = words(shown(comparison_view(comparison), 160))
        assert "corrected by Holm for 2 comparisons: p = 0.016 (unlikely to be chance)" in text
        assert "b against a" in text
        assert "c against a" in text
        alone = words(shown(comparison_view(compare_runs(runs[:2])), 160))
        assert "Holm" not in alone

    def test_figures_of_the_problems_that_all_share_stand_apart(self, run_of: MakeRun) -> None:
        runs = [run_of("a", "ABcd"), run_of("b", "ABc"), run_of("c", "Ab")]
        rates = [side.paired and side.paired.pass_at_1 for side in compare_runs(runs).runs]
        assert [rate and (rate.value, rate.problems) for rate in rates] == [(1, 2), (1, 2), None]


class TestWorse:
    def test_a_fall_that_chance_could_bring_is_none(self, run_of: MakeRun) -> None:
        (versus,) = compare_runs([run_of("a", "ABCde"), run_of("b", "abcde")]).versus
        assert versus.paired.p_value == pytest.approx(0.1326983)
        assert not versus.worse

    def test_a_greater_fall_is_one(self, run_of: MakeRun) -> None:
        (versus,) = compare_runs([run_of("a", "ABCDEF"), run_of("b", "abcdef")]).versus
        assert versus.worse

    def test_a_rise_is_none(self, run_of: MakeRun) -> None:
        (versus,) = compare_runs([run_of("a", "abcdef"), run_of("b", "ABCDEF")]).versus
        assert not versus.worse

    def test_among_many_runs_a_fall_must_be_greater(self, run_of: MakeRun) -> None:
        others = [run_of(f"b{number}", "abcdef") for number in range(2)]
        comparison = compare_runs([run_of("a", "ABCDEF"), *others])
        assert all(v.paired.p_value < 0.05 for v in comparison.versus)
        assert [v.worse for v in comparison.versus] == [False, False]


class TestSamples:
    def test_samples_of_several_runs_are_paired_by_index(
        self, run_of: MakeRun, shown: Shown
    ) -> None:
        comparison = compare_runs([run_of("a", "AAbB"), run_of("b", "AabBb")])
        (versus,) = comparison.versus
        pairs = versus.samples
        assert (pairs.both, pairs.neither, pairs.only_a, pairs.only_b) == (2, 1, 1, 0)
        assert versus.paired.difference == pytest.approx((0.5 - 1 + 1 / 3 - 1 / 2) / 2)
        text = words(shown(comparison_view(comparison), 160))
        assert "of 4 pairs of samples by index both solved 2, neither 1, a alone 1" in text
        assert versus.paired.p_value > 0.05
        assert "note: 1 problem with more samples in one of the runs; all count" in text

    def test_no_word_on_samples_with_one_a_problem(self, run_of: MakeRun, shown: Shown) -> None:
        text = shown(comparison_view(compare_runs([run_of("a", "Ab"), run_of("b", "ab")])))
        assert "pairs of samples" not in text

    def test_several_show_pass_at_k_where_there_are_as_many(
        self, run_of: MakeRun, shown: Shown
    ) -> None:
        comparison = compare_runs([run_of("a", "AaAbbb"), run_of("b", "AaBb")])
        text = words(shown(comparison_view(comparison), 160))
        assert "pass@2 50.0 % (9.5 to 90.5) 100.0 %" in text
        assert "pass^2 16.7 %" in text
        assert "pass@3 50.0 % (9.5 to 90.5) unknown" in text


class TestFlips:
    def test_the_samples_shown_are_of_one_index_where_there_are_such(self, run_of: MakeRun) -> None:
        (versus,) = compare_runs([run_of("a", "aaaBb"), run_of("b", "aAABb")]).versus
        (flip,) = versus.flips
        assert (flip.problem, flip.better) == ("a", "B")
        assert (flip.a.sample, flip.b.sample) == ("a#1", "a#1")
        assert (flip.a.solved, flip.b.solved, flip.b.samples) == (0, 2, 3)

    def test_the_greatest_come_first(self, run_of: MakeRun) -> None:
        (versus,) = compare_runs([run_of("a", "aaBbCC"), run_of("b", "aAbBcc")]).versus
        assert [(flip.problem, flip.better) for flip in versus.flips] == [("c", "A"), ("a", "B")]

    def test_a_flip_names_a_command_where_a_transcript_exists(self, run_of: MakeRun) -> None:
        a, b = run_of("a run", "ab"), run_of("b", "Ab")
        (a / "transcripts" / file_name("a", 0)).touch()
        comparison = compare_runs([a, b])
        (flip,) = comparison.versus[0].flips
        assert flip.a.command == f"harness transcript '{a}' 'a#0'"
        assert flip.b.command is None
        console = Console(file=io.StringIO(), width=40, force_terminal=True, color_system=None)
        with console.capture() as capture:
            console.print(comparison_view(comparison), crop=False)
        assert f"    {flip.a.command}" in capture.get().splitlines()  # whole, however narrow

    def test_its_command_takes_a_run_whose_name_begins_with_a_dash(
        self, run_of: MakeRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a, b = run_of("-a", "a"), run_of("b", "A")
        (a / "transcripts" / file_name("a", 0)).touch()
        monkeypatch.chdir(a.parent)
        (flip,) = compare_runs([Path(a.name), Path(b.name)]).versus[0].flips
        assert flip.a.command == "harness transcript ./-a 'a#0'"

    def test_a_long_list_is_cut_on_a_terminal_alone(
        self, make_result: MakeResult, write_run: WriteRun, shown: Shown
    ) -> None:
        names = [f"problem{number:02}" for number in range(25)]
        a = write_run("a", [make_result(name) for name in names])
        b = write_run("b", [make_result(name, solved=True) for name in names])
        comparison = compare_runs([a, b])
        assert len(comparison.versus[0].flips) == 25
        assert "and 5 more; --json and --markdown have all" in shown(comparison_view(comparison))
        assert "problem24" in comparison_markdown(comparison)


class Grouping:
    def test_problems_are_told_apart(
        self, make_result: MakeResult, write_run: WriteRun, shown: Shown
    ) -> None:
        kinds = (("easy", "x", ("t", "u"), 1), ("hard", "y", ("t",), 2))
        problems = [
            make_result(
                f"{level}{number}",
                difficulty=level,
                platform=platform,
                tags=tags,
                release_date=date(2025, month, 1 + number),
            )
            for level, platform, tags, month in kinds
            for number in range(6)
        ]
        solved = [
            make_result(p.problem_id, solved=True).model_copy(
                update=p.model_dump(include={"difficulty", "platform", "tags", "release_date"})
            )
            if p.difficulty == "hard"
            else p
            for p in problems
        ]
        comparison = compare_runs([write_run("a", problems), write_run("b", solved)])
        groups = comparison.versus[0].groups
        assert list(groups) == ["difficulty", "platform", "tag", "month"]
        figures = {
            (kind, group.name): (group.problems, group.flips, group.difference)
            for kind, members in groups.items()
            for group in members
        }
        assert figures == {
            ("difficulty", "easy"): (6, 0, 0),
            ("difficulty", "hard"): (6, 6, 1),
            ("platform", "x"): (6, 0, 0),
            ("platform", "y"): (6, 6, 1),
            ("tag", "t"): (12, 6, 0.5),
            ("tag", "u"): (6, 0, 0),
            ("month", "2025-01"): (6, 0, 0),
            ("month", "2025-02"): (6, 6, 1),
        }
        text = words(shown(comparison_view(comparison), 160))
        assert "easy 6 0.0 % 0.0 % +0.0 no flips" in text
        assert "t 12 0.0 % 50.0 % +50.0 +12.5 to +75.0" in text

    def test_groups_of_few_problems_have_no_interval_and_are_not_printed(
        self, run_of: MakeRun, shown: Shown
    ) -> None:
        comparison = compare_runs([run_of("a", "abcd"), run_of("b", "Abcd")])
        (group,) = comparison.versus[0].groups["platform"]
        assert (group.problems, group.low, group.high) == (4, None, None)
        text = words(shown(comparison_view(comparison)))
        assert "by platform" not in text
        assert "1 platform with fewer than 5 problems not shown" in text

    def test_what_tells_no_problem_apart_is_left_out(self, run_of: MakeRun) -> None:
        a = run_of("a", "ab", difficulty=None)
        groups = compare_runs([a, a]).versus[0].groups
        assert list(groups) == ["platform"]


class TestLikeness:
    @pytest.mark.parametrize(
        ("manifest", "difference"),
        [
            (
                {"test_limits": {"made": {"cpu_s": 1.0}}},
                "the limits of a test differ between the runs: made: cpu_s 6.0 and 1.0",
            ),
            ({"sandbox": {"level": "none"}}, "level differs between the runs: namespaces and none"),
            (
                {"data": [{"name": "x", "sha256": "2", "bytes": 1}]},
                "the data files differ by their hashes",
            ),
            (
                {"imported": {"verdicts": "published"}},
                "the origin of verdicts differs: A made here, B published",
            ),
        ],
    )
    def test_unlike_conditions_are_told(
        self, run_of: MakeRun, shown: Shown, manifest: dict[str, object], difference: str
    ) -> None:
        a = run_of("a", "A", {"data": [{"name": "x", "sha256": "1", "bytes": 1}]})
        kept = {"data": [{"name": "y", "sha256": "1", "bytes": 1}]}
        comparison = compare_runs([a, run_of("b", "A", kept | manifest)])
        (unlike,) = comparison.versus[0].unlike
        assert difference in unlike
        assert f"not comparable: {unlike}" in shown(comparison_view(comparison), 200)

    def test_files_of_another_name_and_the_same_content_are_the_same(self, run_of: MakeRun) -> None:
        a = run_of("a", "A", {"data": [{"name": "x", "sha256": "1", "bytes": 1}]})
        b = run_of("b", "A", {"data": [{"name": "y", "sha256": "1", "bytes": 1}]})
        assert compare_runs([a, b]).versus[0].unlike == ()

    def test_limits_of_a_source_that_one_run_alone_has_are_no_matter(self, run_of: MakeRun) -> None:
        limits = {"made": {"cpu_s": 6.0}, "other": {"cpu_s": 1.0}}
        a, b = run_of("a", "A"), run_of("b", "A", {"test_limits": limits})
        assert compare_runs([a, b]).versus[0].unlike == ()

    def test_another_rule_is_told(self, make_result: MakeResult, write_run: WriteRun) -> None:
        a = write_run("a", [make_result("a")])
        b = write_run("b", [make_result("a")], rule="tokens")
        (unlike,) = compare_runs([a, b]).versus[0].unlike
        assert unlike == "the rule that compares outputs differs: each problem's own and tokens"

    def test_different_known_issues_are_told(
        self, make_result: MakeResult, write_run: WriteRun
    ) -> None:
        a = write_run("a", [make_result("a"), make_result("b")])
        b = write_run("b", [make_result("a", known_issues=("wrong tests",)), make_result("b")])
        (unlike,) = compare_runs([a, b]).versus[0].unlike
        assert "known to be wrong with problems differs for 1 problem (a)" in unlike


class TestPending:
    def test_ungraded_samples_leave_a_bracket(self, run_of: MakeRun, shown: Shown) -> None:
        whole = run_of("a", "AbCd")
        a = run_of("b", "Ab", {"problems": dict.fromkeys("abcd", "h")})
        text = words(shown(comparison_view(compare_runs([whole, a])), 160))
        assert "samples 4 graded of 4 2 graded of 4" in text
        assert "pending 0 2" in text
        assert "if these failed … were solved all graded 25.0 % … 75.0 %" in text

    def test_where_all_is_graded_nothing_is_said(self, run_of: MakeRun, shown: Shown) -> None:
        a = run_of("a", "Ab")
        assert "pending" not in shown(comparison_view(compare_runs([a, a])))


def test_json_is_the_whole_of_it(run_of: MakeRun) -> None:
    comparison = compare_runs([run_of("a", "Ab"), run_of("b", "aB"), run_of("c", "AB")])
    data = json.loads(comparison.model_dump_json())
    assert data["schema_version"] == 1
    assert {"paired", "p_holm", "groups", "flips", "unlike", "samples"} <= set(data["versus"][1])
    assert data["versus"][1]["flips"][0]["a"]["verdict"] == "wrong_answer"
    assert data["runs"][2]["open"] == {
        "graded": 2, "pending": 0, "if_failed": 1.0, "if_solved": 1.0
    }  # fmt: skip


def test_the_same_runs_say_the_same_each_time(run_of: MakeRun) -> None:
    runs = [run_of("a", "AbCdEfGh"), run_of("b", "aBCDefGH")]
    assert compare_runs(runs) == compare_runs(runs)


class TestGateWithPending:
    """`--fail-if-worse` waits for samples that can still change what it says."""

    def gated(self, run: MakeRun, a: str, b: str) -> tuple[bool, bool, bool]:
        problems = dict.fromkeys("abcdefghijklmnop", "h")
        manifest = {"problems": problems}
        comparison = compare_runs([run(f"a-{a}-{b}", a, manifest), run(f"b-{a}-{b}", b, manifest)])
        (versus,) = comparison.versus
        return versus.worse_at_best, versus.worse, versus.worse_at_worst

    def test_nothing_is_open_when_all_is_graded(self, run_of: MakeRun) -> None:
        whole = "ABCDEFGHIJKLMNOP"
        assert self.gated(run_of, whole, whole.lower()) == (True, True, True)
        assert self.gated(run_of, whole.lower(), whole.lower()) == (False, False, False)

    def test_pending_samples_may_make_a_run_worse(self, run_of: MakeRun) -> None:
        assert self.gated(run_of, "ABCDEFGHIJKLMNOP", "ABCDEFGH") == (False, False, True)
        assert self.gated(run_of, "ABCDEFGH", "ABCDEFGHIJKLMNOP") == (False, False, False)

    def test_a_run_that_is_worse_may_still_catch_up(self, run_of: MakeRun) -> None:
        assert self.gated(run_of, "ABCDEFGHIJK", "abcdefghijk") == (False, True, True)
        assert self.gated(run_of, "ABCDEFGHIJKLMNO", "abcdefghijklmno") == (True, True, True)

    def test_the_exit_says_so(self, run_of: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
        manifest = {"problems": dict.fromkeys("abcdefghijklmnop", "h")}
        runs = [run_of("a", "ABCDEFGHIJKLMNOP", manifest), run_of("b", "ABCDEFGH", manifest)]
        assert self.exit_of(runs) == 4
        assert "not decided, 8 samples pending" in capsys.readouterr().err
        assert self.exit_of([runs[0], run_of("c", "ABCDEFGHIJKLMNOP", manifest)]) == 0

    def exit_of(self, runs: list[Path]) -> int:
        with pytest.raises(typer.Exit) as left:
            compare.__wrapped__({}, runs=runs, fail_if_worse=True, as_json=True)
        return left.value.exit_code
