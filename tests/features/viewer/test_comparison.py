"""The viewer's comparison of two runs, experiments, other runs of a problem, and deletion."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from runs_made import (
    response,
    result,
    start,
    tool_result,
    write_run,
    write_steps,
    write_transcript,
)
from visitor import Visitor

from harness.features.experiment.experiment_file import FILE, grid_hash
from harness.features.experiment.ranking import rank
from harness.features.report.page import embedded
from harness.features.report.variants_section import experiment_section
from harness.features.viewer.open_run import key_of
from harness.run.settings.spec import RunSpec, stored

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def keys(tmp_path: Path) -> tuple[str, str]:
    """A single shot and an agent over six problems: two gained, one lost."""
    levels = ["easy", "easy", "hard", "hard", "easy", "hard"]
    days = [f"2025-0{n + 1}-01" for n in range(6)]
    for name, mode, solved in (("shot", "single_shot", "110100"), ("agent", "agentic", "101110")):
        rows = [
            result(
                f"p/{n}",
                difficulty=levels[n],
                release_date=days[n],
                platform="atcoder" if n < 2 else "leetcode",
                tags=["graph"] if n % 2 else ["graph", "tree"],
                known_issues=["several answers"] if n == 4 else [],
                verdict="accepted" if solved[n] == "1" else "wrong_answer",
                hidden_passed=2 * int(solved[n]),
                title=HOSTILE if n == 2 else f"Problem {n}",
                problem_hash="0" * 64,
            )
            for n in range(6)
        ]
        write_run(tmp_path / name, rows, mode=mode)
    return key_of(str((tmp_path / "shot").resolve())), key_of(str((tmp_path / "agent").resolve()))


def address(keys: tuple[str, str], **more: str) -> str:
    query = "".join(f"&{name}={quote(value)}" for name, value in more.items())
    return f"/compare?a={keys[0]}&b={keys[1]}{query}"


def titles(page: str) -> list[str]:
    return re.findall(r'<a href="/compare/[0-9a-f]{16}[^"]*" data-item>([^<]*)</a>', page)


def test_two_runs_are_compared(visitor: Visitor, keys: tuple[str, str]) -> None:
    page = visitor.client.get(address(keys)).text
    assert "agentic against single shot: made, fixture, 6 problems" in page
    assert "The agent solves 16.7 points more than single shot" in page
    assert "2 gained, 1 lost" in page
    assert titles(page)[0] == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert len(titles(page)) == 6
    assert HOSTILE not in page


def test_runs_that_are_ticked_are_compared(visitor: Visitor, keys: tuple[str, str]) -> None:
    runs = visitor.client.get("/").text
    assert runs.count('type="checkbox"') == 2
    page = visitor.client.get(f"/compare?run={keys[0]}&run={keys[1]}").text
    assert "agentic against single shot" in page
    one = visitor.client.get(f"/compare?run={keys[0]}")
    assert one.status_code == 400
    assert "choose two runs to compare; 2 are chosen" not in one.text
    assert "choose two runs to compare; one is chosen" in one.text
    assert visitor.client.get(f"/compare?a={keys[0]}&b=nothing").status_code == 404


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({"kind": "gained"}, ["Problem 4", HOSTILE]),
        ({"kind": "lost"}, ["Problem 1"]),
        ({"kind": "changed"}, ["Problem 1", "Problem 4", HOSTILE]),
        ({"kind": "both"}, ["Problem 0", "Problem 3"]),
        ({"kind": "neither"}, ["Problem 5"]),
        ({"difficulty": "easy"}, ["Problem 0", "Problem 1", "Problem 4"]),
        ({"since": "2025-03-01", "until": "2025-04-30"}, ["Problem 3", HOSTILE]),
        ({"difficulty": "easy", "kind": "lost"}, ["Problem 1"]),
        ({"platform": "atcoder"}, ["Problem 0", "Problem 1"]),
        ({"tag": "tree"}, ["Problem 0", "Problem 4", HOSTILE]),
        ({"issues": "none", "kind": "gained"}, [HOSTILE]),
        ({"tag": "tree", "platform": "leetcode", "issues": "none"}, [HOSTILE]),
        ({"kind": "no such kind"}, []),
    ],
)
def test_problems_are_filtered(
    visitor: Visitor, keys: tuple[str, str], filters: dict[str, str], shown: list[str]
) -> None:
    page = visitor.client.get(address(keys, **filters)).text
    problem_titles = [each.replace("&lt;", "<").replace("&gt;", ">") for each in titles(page)]
    assert sorted(problem_titles) == sorted(shown)


def test_a_filter_that_leaves_nothing_is_said_and_all_is_shown(
    visitor: Visitor, keys: tuple[str, str]
) -> None:
    page = visitor.client.get(address(keys, since="2030-01-01")).text
    assert "6 loaded, none with" in page
    assert len(titles(page)) == 6
    assert "min_release_date" in visitor.client.get(address(keys, since="soon")).text


def test_the_filters_offer_what_the_problems_have(visitor: Visitor, keys: tuple[str, str]) -> None:
    page = visitor.client.get(address(keys, tag="tree")).text
    assert '<option value="tree" selected>tree (3)</option>' in page
    assert '<option value="graph">graph (6)</option>' in page, "those of all problems"
    assert '<option value="atcoder">atcoder</option>' in page
    assert '<option value="none">leave out (1)</option>' in page
    assert page.count('title="several answers">known issue<') == 1


def test_a_problem_has_both_conversations_revision_by_revision(
    visitor: Visitor, keys: tuple[str, str], tmp_path: Path
) -> None:
    code = f"print('''{HOSTILE}''')"
    write_transcript(
        tmp_path / "shot", "p/2", [start("p/2"), response(1, f"Mine:\n```python\n{code}\n```")]
    )
    calls = [("c", "write_solution", json.dumps({"code": "print(2)"}))]
    tests = {"verdict": "wrong_answer", "passed": 1, "total": 3}
    write_transcript(
        tmp_path / "agent",
        "p/2",
        [
            start("p/2"),
            response(1, "Try", calls),
            tool_result(1, "c", "run_tests", f"1 of 3 {HOSTILE}", tests=tests),
            response(2, "", [("d", "write_solution", json.dumps({"code": "print(3)"}))]),
        ],
    )
    write_steps(tmp_path / "shot", "p/2", code)
    write_steps(tmp_path / "agent", "p/2", "print(2)", "print(3)")
    page = visitor.client.get(f"/compare/{key_of('p/2')}?a={keys[0]}&b={keys[1]}").text
    assert page.count("Revision 1 ") == 2
    assert page.count("Revision 2 ") == 1
    assert "single shot has no such revision" in page
    assert "1 of 3 public tests" in page
    assert "1 of 3 &lt;script&gt;" in page
    assert HOSTILE not in page
    for key, sample in zip(keys, ("p/2#0", "p/2#0"), strict=True):
        assert f"/runs/{key}/samples/{key_of(sample)}" in page
    assert visitor.client.get(f"/compare/nothing?a={keys[0]}&b={keys[1]}").status_code == 404


def test_a_sample_names_the_same_problem_in_other_runs(
    visitor: Visitor, keys: tuple[str, str], tmp_path: Path
) -> None:
    write_run(tmp_path / "else", [result("p/other")])
    page = visitor.client.get(f"/runs/{keys[1]}/samples/{key_of('p/1#0')}").text
    assert "This problem in 1 other run" in page
    assert f"/runs/{keys[0]}/samples/{key_of('p/1#0')}" in page
    assert f"/compare?a={keys[0]}&amp;b={keys[1]}" in page
    alone = visitor.client.get(
        f"/runs/{key_of(str((tmp_path / 'else').resolve()))}/samples/{key_of('p/other#0')}"
    ).text
    assert "This problem in" not in alone


def test_an_experiment_has_its_winner_and_its_ranked_table(
    visitor: Visitor, tmp_path: Path
) -> None:
    variants = {
        mode: stored(RunSpec(model="made", mode=mode))
        for mode in ("single_shot", "agentic", "late")
    }
    folder = tmp_path / "grid"
    for mode, solved in (("single_shot", 1), ("agentic", 3)):
        rows = [
            result(f"p/{n}", verdict="accepted" if n < solved else "wrong_answer") for n in range(4)
        ]
        write_run(folder / mode, rows, mode=mode)
    experiment = {
        "schema": 2,
        "harness": "0",
        "created": "",
        "baseline": "single_shot",
        "variants": variants,
    }
    (folder / FILE).write_text(
        json.dumps(experiment | {"hash": grid_hash(variants, "single_shot")})
    )
    runs = visitor.client.get("/").text
    link = f"/experiments/{key_of('grid')}"
    assert link in runs
    assert "solves most: agentic, 75.0 %" in runs
    page = visitor.client.get(link).text
    assert page.index("1. <a") < page.index("2. <a") < page.index("not begun")
    assert "+50.0" in page
    ranking = rank(folder)
    (answer,) = ranking.answers
    assert answer.sentence in page
    against = next(variant.against for variant in ranking.variants if variant.against)
    assert f"{100 * against.low_holm:+.1f} to {100 * against.high_holm:+.1f}" in page
    a, b = (key_of(str((folder / mode).resolve())) for mode in ("single_shot", "agentic"))
    assert f"/compare?a={a}&amp;b={b}" in page
    assert visitor.client.get("/experiments/nothing").status_code == 404
    (chart,) = (each for each in experiment_section(ranking).exhibits if each.chart)
    assert f'data-chart="{chart.name}"' in page
    assert str(embedded({chart.name: chart.chart})) in page
    assert "/assets/charts.js" in page


def test_the_list_has_data_set_and_state(visitor: Visitor, tmp_path: Path) -> None:
    rows = [result("p/0")]
    write_run(tmp_path / "r", rows, benchmark="livecodebench:v6", problems=["p/0", "p/1"])
    page = visitor.client.get("/").text
    assert '<td data-label="data">livecodebench v6</td>' in page
    assert "pending" in page
    assert "1 of 2</span>" in page


def test_a_run_that_its_provider_stopped_says_so(visitor: Visitor, tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [], problems=["p/0", "p/1"])
    cause = "HTTP 404: no <model>"
    refused = {"event": "put_off", "turn": 1, "reason": "refused", "cause": cause}
    for name in ("p/0", "p/1"):
        write_transcript(run, name, [start(name), refused])
    page = visitor.client.get("/").text
    assert re.search(
        r"<span class=\"badge b-bad\">stopped</span>.*HTTP 404: no &lt;model&gt;", page
    )
    assert '<span class="why" title="HTTP 404: no &lt;model&gt;">' in page
    assert "<model>" not in page


def test_a_pending_run_says_why_in_the_words_of_the_terminal(
    visitor: Visitor, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "r", [], problems=["p/0", "p/1"])
    put_off = {"event": "put_off", "turn": 1, "reason": "budget"}
    write_transcript(run, "p/0", [start("p/0"), put_off])
    page = visitor.client.get("/").text
    assert ">pending</span>" in page
    assert ">1 stopped by the budget, 1 not run</span>" in page


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("", "choose two runs to compare; none is chosen"),
        ("a=&b=", "choose two runs to compare; none is chosen"),
        ("a={0}", "choose two runs to compare; one is chosen"),
        ("run={0}", "choose two runs to compare; one is chosen"),
        ("run={0}&run={1}&run={0}", "choose two runs to compare; 3 are chosen"),
        ("a={0}&b={1}&since=yesterday", "yesterday"),
        ("a={0}&b={1}&until=2025-13-01", "2025-13-01"),
    ],
)
@pytest.mark.parametrize("path", ["/compare", "/compare/{2}"])
def test_a_comparison_that_cannot_be_asked_for_is_a_bad_request(
    visitor: Visitor, keys: tuple[str, str], path: str, query: str, fault: str
) -> None:
    problem = key_of("p/0")
    answer = visitor.client.get(f"{path}?{query}".format(*keys, problem))
    assert answer.status_code == 400
    assert fault in answer.text


def test_a_problem_that_the_filters_leave_out_is_a_bad_request(
    visitor: Visitor, keys: tuple[str, str]
) -> None:
    one, other = keys
    address = f"/compare/{key_of('p/0')}?a={one}&b={other}"
    assert visitor.client.get(address).status_code == 200
    answer = visitor.client.get(f"{address}&since=2999-01-01")
    assert answer.status_code == 400
    assert "2999-01-01" in answer.text


class TestDeleting:
    def word(self, visitor: Visitor, key: str) -> str:
        page = visitor.client.get(f"/runs/{key}/delete").text
        match = re.search(r'name="word" value="([\w-]{20,})"', page)
        assert match is not None
        return match[1]

    def test_a_run_is_deleted_once_that_is_confirmed(
        self, visitor: Visitor, keys: tuple[str, str], tmp_path: Path
    ) -> None:
        (tmp_path / "kept.txt").write_text("kept")
        (tmp_path / "shot" / "link").symlink_to(tmp_path / "kept.txt")
        assert f"/runs/{keys[0]}/delete" in visitor.client.get(f"/runs/{keys[0]}").text
        asked = visitor.client.get(f"/runs/{keys[0]}/delete").text
        assert "Delete shot?" in asked
        assert (tmp_path / "shot").exists()
        done = visitor.client.post(
            f"/runs/{keys[0]}/delete", data={"word": self.word(visitor, keys[0])}
        )
        assert done.url.path == "/"
        assert not (tmp_path / "shot").exists()
        assert (tmp_path / "kept.txt").read_text() == "kept"
        assert (tmp_path / "agent").exists()
        assert ">shot</a>" not in visitor.client.get("/").text

    @pytest.mark.parametrize("given", [None, "", "x" * 43])
    def test_without_the_word_of_the_form_nothing_is_deleted(
        self, visitor: Visitor, keys: tuple[str, str], tmp_path: Path, given: str | None
    ) -> None:
        data = {} if given is None else {"word": given}
        assert visitor.client.post(f"/runs/{keys[0]}/delete", data=data).status_code == 403
        assert (tmp_path / "shot" / "run.json").exists()

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_another_site_deletes_nothing(
        self, visitor: Visitor, keys: tuple[str, str], tmp_path: Path, headers: dict[str, str]
    ) -> None:
        data = {"word": self.word(visitor, keys[0])}
        response = visitor.client.post(f"/runs/{keys[0]}/delete", data=data, headers=headers)
        assert response.status_code == 403
        assert (tmp_path / "shot" / "run.json").exists()

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
    @pytest.mark.parametrize("path", ["/", "/runs/x/delete", "/compare", "/runs/{key}"])
    def test_nothing_else_can_be_changed(
        self, visitor: Visitor, keys: tuple[str, str], method: str, path: str
    ) -> None:
        assert visitor.client.request(method, path.format(key=keys[0])).status_code == 405

    def test_a_run_that_is_a_link_is_not_deleted(self, visitor: Visitor, tmp_path: Path) -> None:
        outside = tmp_path.with_name(f"{tmp_path.name}-outside")
        write_run(outside, [result("p/0")])
        (tmp_path / "linked").symlink_to(outside)
        key = key_of(str(outside.resolve()))
        page = visitor.client.get(f"/runs/{key}/delete")
        assert page.status_code == 404 or "cannot be deleted here" in page.text
        assert (outside / "run.json").exists()

    def test_a_run_under_way_is_not_deleted(
        self, visitor: Visitor, keys: tuple[str, str], tmp_path: Path
    ) -> None:
        from harness.run.store.results import ResultsFile

        word = self.word(visitor, keys[0])
        at_work = ResultsFile(tmp_path / "shot" / "results.jsonl")
        try:
            page = visitor.client.get(f"/runs/{keys[0]}/delete").text
            assert "A process is at work on it" in page
            response = visitor.client.post(f"/runs/{keys[0]}/delete", data={"word": word})
            assert response.status_code == 409
            assert (tmp_path / "shot" / "run.json").exists()
        finally:
            at_work.close()
