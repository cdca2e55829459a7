"""What the pages say of runs and samples."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs_made import (
    request,
    response,
    result,
    start,
    tool_result,
    write_run,
    write_steps,
    write_transcript,
)
from visitor import Visitor

from harness.features.viewer.open_run import key_of
from harness.figures import interval
from harness.run.summary.loaded_run import read_run
from harness.stats.rates import Rate

OLD = "def f(n):\n    return n\n"
NEW = "def f(n):\n    return n + 1\n"
REPORT = """1 of 2 public tests passed.

Test 2: wrong answer after 0.01 s of CPU time.
Input:
3
4
Expected:
one
two
Got:
one
three
First difference, line 2: expected 'two', got 'three'

Passed: test 1."""


def code(program: str) -> str:
    return json.dumps({"code": program})


def failed(tests: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"tests": {"verdict": "wrong_answer", "passed": 1, "total": 2, **(tests or {})}}


class TestTheRuns:
    def test_runs_of_several_samples_have_the_summary_s_interval(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        rows = [
            result(f"p/{n}", index, verdict="accepted" if (n + index) % 3 else "wrong_answer")
            for n in range(8)
            for index in range(4)
        ]
        rate = read_run(write_run(tmp_path / "one", rows, samples=4)).summary.pass_at_1
        assert rate is not None
        assert interval(rate.low, rate.high) in visitor.page("/")

    def test_runs_are_found_below_the_folder(self, visitor: Visitor, tmp_path: Path) -> None:
        write_run(tmp_path / "one", [result("p/a")])
        write_run(tmp_path / "deep" / "er" / "two", [result("p/a", verdict="wrong_answer")])
        page = visitor.page("/")
        assert ">one</a>" in page
        assert ">deep/<wbr>er/<wbr>two</a>" in page
        assert "2 runs below" in page

    def test_runs_of_an_experiment_stand_together(self, visitor: Visitor, tmp_path: Path) -> None:
        write_run(tmp_path / "grid" / "cell-1", [result("p/a")])
        write_run(tmp_path / "alone", [result("p/a")])
        write_run(tmp_path / "grid" / "cell-2", [result("p/a")])
        (tmp_path / "grid" / "experiment.json").write_text("{}")
        page = visitor.page("/")
        names = re.findall(r"data-item>([^<]+)<", page.replace("<wbr>", ""))
        assert names == ["alone", "grid/cell-2", "grid/cell-1"]
        assert page.count("experiment <a href") == 1

    def test_runs_of_an_experiment_link_to_it(self, visitor: Visitor, tmp_path: Path) -> None:
        run = write_run(tmp_path / "grid" / "variant-1", [result("p/a")])
        (tmp_path / "grid" / "experiment.json").write_text("{}")
        link = f'<a href="/experiments/{key_of("grid")}">grid</a>'
        key = key_of(str(run.resolve()))
        sample = f"/runs/{key}/samples/{key_of('p/a#0')}"
        for address in (f"/runs/{key}", sample):
            navigation = visitor.page(address).partition("</nav>")[0]
            assert link in navigation
            assert ">variant-1</" in navigation

    def test_the_best_of_an_experiment_are_all_that_solve_most(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        (tmp_path / "grid").mkdir()
        (tmp_path / "grid" / "experiment.json").write_text("{}")
        write_run(tmp_path / "grid" / "worse", [result("p/a", verdict="wrong_answer")])
        write_run(tmp_path / "grid" / "one", [result("p/a")])
        assert "solves most: one, 100.0 %<" in visitor.page("/")
        write_run(tmp_path / "grid" / "two", [result("p/a")])
        assert re.search(
            "solves most: (one and two|two and one), 100.0 % each<", Visitor(tmp_path).page("/")
        )
        write_run(tmp_path / "grid" / "three", [result("p/a")])
        assert "solves most: 3 variants, 100.0 % each<" in Visitor(tmp_path).page("/")

    def test_the_folder_itself_may_be_a_run(self, tmp_path: Path) -> None:
        visitor = Visitor(write_run(tmp_path / "mine", [result("p/a")]))
        assert ">mine</a>" in visitor.page("/")
        visitor.client.close()

    def test_a_folder_without_runs_says_so(self, visitor: Visitor, tmp_path: Path) -> None:
        assert "no run yet" in visitor.page("/")
        write_run(tmp_path / "r", [])
        visitor.client.close()
        again = Visitor(tmp_path)
        assert "0 of 0" in again.page("/")
        again.client.close()

    def test_one_that_is_damaged_says_so_and_hides_no_other(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        write_run(tmp_path / "good", [result("p/a")])
        bad = write_run(tmp_path / "bad", [])
        (bad / "run.json").write_text("{")
        page = visitor.page("/")
        assert ">good</a>" in page
        assert "cannot be read" in page
        address = re.findall(r'href="(/runs/\w+)" data-item>bad<', page)[0]
        answer = visitor.client.get(address)
        assert answer.status_code == 409
        assert "cannot be read" in answer.text

    def test_links_out_of_the_folder_are_not_followed(
        self, visitor: Visitor, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        write_run(elsewhere / "secret", [result("p/a")])
        (tmp_path / "link").symlink_to(elsewhere)
        assert "secret" not in visitor.page("/")

    def test_a_summary_is_believed_until_results_come(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        run = write_run(tmp_path / "r", [result("p/a")])
        rate = Rate(value=0.25, problems=4, low=0.1, high=0.5)
        summary = read_run(run).summary.model_copy(update={"pass_at_1": rate})
        (run / "summary.json").write_text(summary.model_dump_json())
        assert "25.0 %" in visitor.page("/")
        assert "25.0 % (10.0 to 50.0)" in visitor.run()
        newer = (run / "summary.json").stat().st_mtime + 5
        os.utime(run / "results.jsonl", (newer, newer))
        assert "100.0 %" in visitor.page("/")
        assert "25.0 %" not in visitor.run()


class TestARun:
    def test_a_run_s_samples_are_paged(self, visitor: Visitor, tmp_path: Path) -> None:
        write_run(tmp_path / "r", [result(f"p/problem-{n:03}") for n in range(250)])
        page = visitor.run()
        assert "page 1 of 3" in page
        assert "Problem 099" in page
        assert "Problem 100" not in page
        assert visitor.run("?page=3").count("data-item") == 50
        assert "page 3 of 3" in visitor.run("?page=999")
        assert "page 1 of 3" in visitor.run("?page=-1x")

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("?q=ALPHA", ["Alpha"]),
            ("?q=graph", ["Gamma"]),
            ("?q=p/beta%230", ["Beta"]),
            ("?q=a+graph", ["Gamma"]),
            ("?q=nothing-is-so", []),
            ("?state=unsolved", ["Beta"]),
            ("?state=time_limit", ["Beta"]),
            ("?state=solved", ["Alpha", "Gamma"]),
            ("?difficulty=hard", ["Gamma"]),
            ("?platform=leetcode", ["Alpha"]),
            ("?since=2025-02-01", ["Beta"]),
            ("?until=2025-02-01", ["Alpha"]),
            ("?since=2025-01-01&until=2025-01-01", ["Alpha"]),
            ("?since=soon", ["Alpha", "Beta", "Gamma"]),
            ("?issues=none", ["Alpha", "Gamma"]),
            ("?issues=known", ["Beta"]),
            ("?issues=other", ["Alpha", "Beta", "Gamma"]),
            ("?sort=released&down=1", ["Beta", "Alpha", "Gamma"]),
            ("?sort=seconds", ["Gamma", "Alpha", "Beta"]),
            ("?sort=seconds&down=1", ["Beta", "Alpha", "Gamma"]),
            ("?sort=difficulty", ["Alpha", "Beta", "Gamma"]),
            ("?sort=cost&down=1", ["Gamma", "Alpha", "Beta"]),
            ("?sort=problem&down=1", ["Gamma", "Beta", "Alpha"]),
            ("?sort=__class__", ["Alpha", "Beta", "Gamma"]),
        ],
    )
    def test_a_run_s_samples_are_searched_filtered_and_sorted(
        self, visitor: Visitor, tmp_path: Path, query: str, names: list[str]
    ) -> None:
        rows = [
            result("p/alpha", platform="leetcode", seconds=2.0, release_date="2025-01-01"),
            result(
                "p/beta",
                verdict="time_limit",
                seconds=3.0,
                difficulty="medium",
                release_date="2025-03-01",
                known_issues=["several answers"],
            ),
            result("p/gamma", tags=["graph"], seconds=1.0, difficulty="hard", cost=0.5),
        ]
        write_run(tmp_path / "r", rows)
        assert re.findall(r"data-item>([^<]+)<", visitor.run(query)) == names

    def test_shows_release_dates_and_known_issues(self, visitor: Visitor, tmp_path: Path) -> None:
        rows = [
            result("p/a", release_date="2025-01-31", known_issues=["several answers <b>"]),
            result("p/b"),
        ]
        write_run(tmp_path / "r", rows)
        page = visitor.run()
        assert '<td data-label="released">2025-01-31</td>' in page
        assert '<td data-label="released">unknown</td>' in page
        assert 'title="several answers &lt;b&gt;">known issue<' in page
        assert page.count(">known issue<") == 1
        assert ">some (1)<" in page
        sample = visitor.sample("A")
        assert "Known issues: several answers &lt;b&gt;" in sample
        assert "2025-01-31" in sample
        assert "Known issues" not in visitor.sample("B")

    def test_offers_no_dates_where_there_are_none(self, visitor: Visitor, tmp_path: Path) -> None:
        write_run(tmp_path / "r", [result("p/a")])
        page = visitor.run()
        assert "released" not in page.casefold()
        assert "known issues" not in page.casefold()

    def test_sums_up(self, visitor: Visitor, tmp_path: Path) -> None:
        rows = [result("p/a", cost=0.25), result("p/b", cost=1.0, verdict="wrong_answer")]
        write_run(tmp_path / "r", rows)
        page = visitor.run()
        assert "50.0 %" in page
        assert "1 of 2" in page
        assert "$1.25" in page

    def test_answers_that_were_cut_off_are_told(self, visitor: Visitor, tmp_path: Path) -> None:
        rows = [result("p/a", cut_off=3), result("p/b", cut_off=0), result("p/c")]
        run = write_run(tmp_path / "r", rows, max_tokens=800)
        cut = response(1, "Let me", stop={"reason": "max_tokens"})
        write_transcript(run, "p/a", [start("p/a"), request(1, ("user", "Solve it.")), cut])
        page = visitor.run()
        assert "3; raise --max-tokens (now 800)" in page
        assert page.count(">cut off<") == 1
        page = visitor.sample("A")
        assert "3 by the token limit (--max-tokens)" in page
        assert "cut off by the token limit" in page
        assert "cut off" not in visitor.sample("B")

    def test_a_limit_of_recorded_answers_is_not_to_be_raised(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        write_run(tmp_path / "r", [result("p/a", cut_off=3)], model="replay:bundled")
        page = visitor.run()
        assert "answers cut off" in page
        assert "raise --max-tokens" not in page

    def test_samples_that_are_not_run_yet_are_listed(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        run = write_run(tmp_path / "r", [result("p/a")], problems=["p/a", "p/b", "p/c"], samples=2)
        write_transcript(run, "p/b", [start("p/b")], index=1)
        page = visitor.run()
        assert "1 of 6 samples" in page
        assert page.count(">not run<") == 6  # four rows, a chip, and a choice
        assert re.findall(r"data-item>([^<]+)<", visitor.run("?state=interrupted")) == ["p/b"]

    def test_a_line_that_is_no_result_is_told(self, visitor: Visitor, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [result("p/a")])
        with (run / "results.jsonl").open("a") as file:
            file.write('{"sample": 1}\n' + json.dumps(result("p/b")) + "\n")
        page = visitor.run()
        assert "line 2" in page
        assert ">B</a>" in page


class TestASample:
    @pytest.fixture
    def three(self, tmp_path: Path) -> Path:
        return write_run(tmp_path / "r", [result("p/a", usage=None), result("p/b"), result("p/c")])

    def test_calls_stand_with_their_results(self, visitor: Visitor, three: Path) -> None:
        calls = [("c1", "read_problem", "{}"), ("c2", "run_code", '{"stdin": "x"}')]
        events = [
            start("p/a"),
            request(1, ("system", "Be good."), ("user", "Solve it.")),
            response(1, "I look.", calls),
            tool_result(1, "c2", "run_code", "second"),
            tool_result(1, "c1", "read_problem", "first"),
        ]
        write_transcript(three, "p/a", events)
        page = visitor.sample("A")
        order = ["Be good.", "Solve it.", "I look.", "read_problem", "first", "run_code", "second"]
        places = [page.index(f">{word}") for word in order]
        assert places == sorted(places)

    def test_the_same_id_may_be_used_again(self, visitor: Visitor, three: Path) -> None:
        events = [start("p/a")]
        for turn in (1, 2):
            events.append(response(turn, "", [("c", "run_code", f'{{"turn": {turn}}}')]))
            events.append(tool_result(turn, "c", "run_code", f"result {turn}"))
        write_transcript(three, "p/a", events)
        page = visitor.sample("A")
        assert page.index("result 1") < page.index("Turn 2") < page.index("result 2")

    def test_programs_are_coloured_and_compared(self, visitor: Visitor, three: Path) -> None:
        events = [start("p/a")]
        for turn, program in enumerate((OLD, NEW), 1):
            events.append(response(turn, "", [(f"c{turn}", "write_solution", code(program))]))
            events.append(tool_result(turn, f"c{turn}", "write_solution", "Saved."))
        write_transcript(three, "p/a", events)
        page = visitor.sample("A")
        assert '<span class="k">def</span>' in page
        assert page.count("d-removed") == page.count("d-added") == 1
        assert re.search(r'd-added.*?class="src">    return n \+ 1<', page)

    def test_programs_in_cpp_are_coloured_as_such(self, visitor: Visitor, three: Path) -> None:
        manifest = json.loads((three / "run.json").read_text())
        manifest["spec"]["language"] = "cpp"
        (three / "run.json").write_text(json.dumps(manifest))
        program = "int main() { return 0; }"
        reply = (
            f"One:\n```cpp\n{program}\n```\nTwo:\n```\n{program}\n```\n```python\ndef f(): 0\n```"
        )
        calls = [("c", "write_solution", code(program))]
        write_transcript(three, "p/a", [start("p/a"), response(1, reply, calls)])
        page = visitor.sample("A")
        assert page.count('<span class="kt">int</span>') == 3
        assert '<span class="k">def</span>' in page

    def test_a_program_that_was_refused_is_no_revision(self, visitor: Visitor, three: Path) -> None:
        events = [start("p/a")]
        for turn, (program, error) in enumerate(((OLD, False), ("wrong", True), (OLD, False)), 1):
            calls = [(f"c{turn}", "write_solution", code(program))]
            result = tool_result(turn, f"c{turn}", "write_solution", "…")
            result["result"]["is_error"] = error
            events += [response(turn, "", calls), result]
        write_transcript(three, "p/a", events)
        assert "the same program as before" in visitor.sample("A")

    def test_programs_in_prose_are_compared_too(self, visitor: Visitor, three: Path) -> None:
        events = [start("p/a")]
        for turn, program in enumerate((OLD, NEW), 1):
            events.append(response(turn, f"This:\n```python\n{program}```\nRight."))
        write_transcript(three, "p/a", events)
        write_steps(three, "p/a", OLD.strip("\n"), NEW.strip("\n"))
        page = visitor.sample("A")
        assert page.count("d-added") == 1
        assert "```" not in page
        assert '<div class="prose">This:</div>' in page

    def test_a_failing_test_stands_side_by_side(self, visitor: Visitor, three: Path) -> None:
        calls = [("c", "run_tests", "{}")]
        result = tool_result(1, "c", "run_tests", REPORT, **failed())
        write_transcript(three, "p/a", [start("p/a"), response(1, "", calls), result])
        page = visitor.sample("A")
        assert "1 of 2 public tests" in page
        rows = re.findall(r'<td class="want">(.*?)</td><td class="came">(.*?)</td>', page)
        assert rows == [("one", "one"), ("two", "three")]
        assert page.count('class="differs"') == 1
        assert "the report as the model read it" in page

    def test_the_grade_says_what_was_expected(self, visitor: Visitor, three: Path) -> None:
        bad = {"index": 1, "public": False, "verdict": "wrong_answer", "cpu_s": 0.1, "wall_s": 0.1}
        gap = {"where": "line 3", "expected": "5", "got": "6"}
        good = {"index": 0, "public": True, "verdict": "accepted", "cpu_s": 0.1, "wall_s": 0.1}
        grade = {
            "verdict": "wrong_answer",
            "tests": [good, {**bad, "difference": gap, "error": "Traceback of it"}],
            "public_total": 1,
            "hidden_total": 3,
        }
        write_transcript(three, "p/a", [start("p/a"), {"event": "grade", "grade": grade}])
        page = visitor.sample("A")
        assert "Hidden test 2: wrong answer" in page
        assert re.search(r'class="want">5</td><td class="came">6<', page)
        assert "Traceback of it" in page
        assert "2 tests not run after that" in page

    def test_reasoning_is_folded(self, visitor: Visitor, three: Path) -> None:
        blocks = [
            [{"field": "reasoning_content", "value": "I ponder."}],
            [{"wire": "anthropic", "at": 0, "block": {"type": "thinking", "thinking": "I muse."}}],
            [{"responses_item": {"type": "reasoning", "summary": [{"text": "I weigh."}]}}],
        ]
        events = [response(turn, "x", reasoning=each) for turn, each in enumerate(blocks, 1)]
        write_transcript(three, "p/a", [start("p/a"), *events])
        page = visitor.sample("A")
        for thought in ("I ponder.", "I muse.", "I weigh."):
            fold = page[page.rindex("<details", 0, page.index(thought)) :]
            assert fold.startswith('<details class="fold" data-key="reasoning"><summary>reasoning')

    def test_an_answer_kept_beside_the_reasoning_is_none(
        self, visitor: Visitor, three: Path
    ) -> None:
        item = {"type": "message", "content": [{"type": "output_text", "text": "my answer"}]}
        reply = response(1, "my answer", reasoning=[{"responses_item": item}])
        write_transcript(three, "p/a", [start("p/a"), reply])
        page = visitor.sample("A")
        assert page.count("my answer") == 1
        assert "its reasoning is not shown by the provider" in page

    def test_tokens_time_and_cost_of_a_turn(self, visitor: Visitor, three: Path) -> None:
        manifest = json.loads((three / "run.json").read_text())
        price = {"input": 2.0, "output": 10.0, "cached_input": 1.0}
        (three / "run.json").write_text(json.dumps({**manifest, "price": price}))
        usage = {"input_tokens": 1_500, "cached_input_tokens": 500, "output_tokens": 100}
        reply = response(1, "x", usage={**usage, "reasoning_tokens": 60}, latency_s=1.25)
        write_transcript(three, "p/b", [start("p/b"), reply])
        page = visitor.sample("B")
        assert "1.25 s · 1,500 tokens in (500 cached) · 100 out (60 reasoning) · $0.0035" in page

    def test_what_befell_it_is_told(self, visitor: Visitor, three: Path) -> None:
        retry = {"event": "retry", "turn": 1, "attempt": 2, "cause": "overloaded", "wait_s": 3.0}
        events = [
            start("p/a"),
            request(1, ("user", "hello")),
            {**retry, "status": 529},
            response(1, "void"),
            {"event": "resumed", "kept": 2, "turn": 0, "time": "2026-11-21"},
            response(1, "standing"),
            {"event": "new_conversation", "turn": 1, "cause": "the model repeats itself"},
            {"event": "refused", "turn": 2, "refusal": "tools", "cause": "400: no tools"},
            {"event": "tool_protocol", "turn": 2, "protocol": "text", "cause": "400"},
            {"event": "refused", "turn": 3, "refusal": "history", "cause": "no signature"},
            {"event": "reasoning_left_out", "turn": 2},
        ]
        write_transcript(three, "p/a", events)
        page = visitor.sample("A")
        assert "taken up again after turn 0 2026-11-21" in page
        assert "void" not in page
        assert "standing" in page
        assert "a new conversation after turn 1: the model repeats itself" in page
        assert "turn 2 was refused: the endpoint takes no tools" in page
        assert "400: no tools" in page
        assert "from turn 2 on programs come in text" in page
        told = "turn 3 was refused: the conversation has reasoning that the provider refuses"
        assert told in page
        assert "the reasoning up to turn 2 is left out from here on" in page
        write_transcript(three, "p/c", events[:4])
        page = visitor.sample("C")
        assert "retry 2 of turn 1 after 3.0 s, status 529" in page
        assert "overloaded" in page

    def test_beside_it_are_those_of_the_list_it_was_opened_from(
        self, visitor: Visitor, three: Path
    ) -> None:
        del three
        page = visitor.sample("B")
        before, after = visitor.where("A"), visitor.where("C")
        assert f'rel="prev" href="{before}"' in page
        assert f'rel="next" href="{after}"' in page
        page = visitor.sample("B", "?sort=problem&down=1")
        assert f'rel="prev" href="{after}?sort=problem&amp;down=1"' in page
        assert "2 of 3" in page

    def test_without_a_transcript_its_program_is_shown(self, visitor: Visitor, three: Path) -> None:
        del three
        page = visitor.sample("A")
        assert "There is no transcript of this sample." in page
        assert '<span class="nb">print</span>' in page

    def test_a_long_conversation_has_pages(self, visitor: Visitor, three: Path) -> None:
        events = [response(turn, f"this is turn {turn}.") for turn in range(1, 251)]
        write_transcript(three, "p/a", [start("p/a"), *events])
        assert "page 1 of 3" in visitor.sample("A")
        page = visitor.sample("A", "?part=3")
        assert "this is turn 250." in page
        assert "this is turn 100." not in page

    @pytest.mark.parametrize("path", ["/lines/2/text", "/lines/2/call-0", "/lines/3/result"])
    def test_a_long_text_is_cut_and_is_whole_elsewhere(
        self, visitor: Visitor, three: Path, path: str
    ) -> None:
        long = "\n".join(f"word {n}" for n in range(30_000))
        calls = [("c", "write_solution", code(long))]
        events = [response(1, long, calls), tool_result(1, "c", "write_solution", long)]
        write_transcript(three, "p/a", [start("p/a"), *events])
        page = visitor.sample("A")
        where = visitor.where("A") + path
        assert f'href="{where}"' in page
        assert "word 29999" not in page
        first, last = visitor.page(where), visitor.page(f"{where}?page=99")
        assert "word 9000" in first
        assert "word 29999" in last

    @pytest.mark.parametrize("path", ["9/text", "2/call-9", "2/call-x", "0/text", "99999999/x"])
    def test_a_text_that_there_is_not_is_not_found(
        self, visitor: Visitor, three: Path, path: str
    ) -> None:
        write_transcript(three, "p/a", [start("p/a"), response(1, "x")])
        assert visitor.client.get(f"{visitor.where('A')}/lines/{path}").status_code == 404


@pytest.mark.thorough
def test_every_sample_of_a_run_can_be_opened(
    visitor: Visitor, tmp_path: Path, written_runs: Callable[..., Path]
) -> None:
    (written_runs("agentic") / "agentic").rename(tmp_path / "agentic")
    samples = visitor.links(visitor.run(), f"{visitor.address()}/samples/")
    assert len(samples) == 20
    assert all("run_tests" in visitor.page(address) for address in samples)
