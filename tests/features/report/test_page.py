"""The page as a file: whole, escaped, and with nothing in it that asks for anything."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.features.report.labelled_runs import LabelledRun
from harness.features.report.page import (
    COLUMNS,
    MOST_CODE,
    chart_scripts,
    embedded,
    report_page,
    sample_data,
)
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

MakeResult = Callable[..., SampleResult]
Sides = Callable[..., list[LabelledRun]]
WriteRun = Callable[..., Path]
Report = Callable[..., Path]
Many = Callable[..., list[SampleResult]]

ADDRESSES = {"src", "href", "action", "data", "srcset", "poster", "formaction", "background"}


class Parsed(HTMLParser):
    """The tags of a document, its words, and what its scripts say."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self._script = dict(attrs).get("id") or f"script {len(self.scripts)}"
            self.scripts[self._script] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.words += data
        else:
            self.scripts[self._script] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    def headings(self) -> set[str | None]:
        return {attrs.get("id") for attrs in self.all("section")}


ALL = {
    *("summary", "against", "way", "groups", "months", "tests", "endings"),
    *("amounts", "problems", "samples"),
}


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, in_memory: Callable[..., Run], many: Many
) -> Parsed:
    """The page of two runs, with a cut-off."""
    runs = [in_memory(name, many(60), mode=name) for name in ("single_shot", "agentic")]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page(runs, cutoff=date(2024, 6, 1)))
    return Parsed(path)


def test_all_sections_are_there(whole: Parsed) -> None:
    assert whole.headings() == ALL
    assert {link["href"] for link in whole.all("a")} >= {f"#{name}" for name in ALL}
    for phrase in ("Agentic against single shot", "after 2024-06", "made-model", "Slowest"):
        assert phrase in whole.words
    drawn = {attrs["data-chart"] for attrs in whole.all("div") if "data-chart" in attrs}
    assert drawn == set(json.loads(whole.scripts["chart-data"]))
    assert drawn >= {
        *("headline", "by-difficulty", "by-platform", "by-tag", "by-month", "cutoff"),
        *("outcomes", "verdicts", "stops", "seconds", "spent-tokens", "spent-dollars"),
    }


def test_a_limit_of_recorded_answers_is_not_to_be_raised(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    cut = [make_result("a", cut_off=2)]
    page = Parsed(report(write_run("one", cut, max_tokens=800, model="replay:bundled")))
    assert "2 answers in 1 sample, by the token limit" in page.words
    assert "raise --max-tokens" not in page.words


@pytest.mark.thorough
def test_answers_that_were_cut_off_are_told(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    cut, whole = [make_result("a", cut_off=2)], [make_result("a")]
    page = Parsed(report(write_run("one", cut, max_tokens=800), write_run("other", whole)))
    wanted = "2 answers in 1 sample, by the token limit (--max-tokens: 800)"
    assert wanted in page.words
    assert ", answer cut off" in "".join(page.scripts.values())


def test_nothing_is_loaded_from_anywhere(whole: Parsed) -> None:
    for tag, attrs in whole.tags:
        for name in ADDRESSES & attrs.keys():
            assert (attrs[name] or "").startswith(("#", "data:,")), (tag, attrs)
        assert not [name for name in attrs if name.startswith("on")], (tag, attrs)
    assert "url(" not in whole.words
    assert not whole.all("iframe") + whole.all("img") + whole.all("object") + whole.all("base")


def test_only_the_scripts_of_the_page_may_run(whole: Parsed) -> None:
    (policy,) = [
        attrs["content"] or ""
        for attrs in whole.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    scripts = [text for name, text in whole.scripts.items() if name.startswith("script ")]
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    }
    (allowed,) = re.findall(r"script-src ([^;]*)", policy)
    assert set(allowed.split()) == hashes
    assert len(hashes) == 2
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


@pytest.mark.thorough
@pytest.mark.parametrize("damage", [b"", b"\xff"])
def test_the_charts_program_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", str(tmp_path))

    def scripts() -> str:
        chart_scripts.cache_clear()
        return chart_scripts()

    made = scripts()
    assert "vegaEmbed" in made
    assert scripts() == made
    (kept,) = (tmp_path / "harness" / "charts").iterdir()
    kept.write_bytes(b"kept" + damage)
    assert scripts() == (made if damage else "kept")
    chart_scripts.cache_clear()


@given(st.recursive(st.text() | st.integers(-9, 9) | st.none(), st.lists))
def test_embedded_data_stays_data(value: object) -> None:
    text = embedded(value)
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert json.loads(text) == value


def test_values_that_are_not_numbers_are_null() -> None:
    assert json.loads(embedded([float("inf"), float("nan")])) == [None, None]


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e{{7*7}}"


def test_hostile_texts_are_words(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    result = make_result(
        HOSTILE, title=HOSTILE, platform=HOSTILE, tags=(HOSTILE,), code=HOSTILE,
        known_issues=(HOSTILE,),
    )  # fmt: skip
    run = write_run("run", [result, make_result(HOSTILE, index=1, solved=True)])
    manifest = json.loads((run / "run.json").read_text())
    manifest["spec"]["model"] = HOSTILE
    (run / "run.json").write_text(json.dumps(manifest))
    hostile = run.with_name("<img src=y onerror=alert(3)>")
    run.rename(hostile)
    path = report(hostile, title=HOSTILE)
    page = Parsed(path)
    assert not page.all("img")
    assert len(page.all("script")) == 4
    assert "\x1b" not in path.read_text()
    assert "\u202e" not in path.read_text()
    assert "{{7*7}}" in page.words
    row = dict(zip(COLUMNS, json.loads(page.scripts["sample-data"])["rows"][0], strict=True))
    assert row["title"].startswith("</script><script>")
    assert "\\x1b" in row["code"]


@pytest.mark.thorough
def test_a_setting_that_the_mode_ignores_is_not_used(
    report: Report, write_run: WriteRun, many: Many
) -> None:
    single = write_run("single", many(1), mode="single_shot")
    agentic = write_run("agentic", many(1), mode="agentic", max_turns=7)
    assert "max turns not used 7" in " ".join(Parsed(report(single, agentic)).words.split())
    assert "max turns" not in Parsed(report(single)).words


def test_an_empty_run_has_a_page(report: Report, write_run: WriteRun) -> None:
    page = Parsed(report(write_run("empty", [])))
    assert "summary" in page.headings()
    assert "pass@1" in page.words
    assert json.loads(page.scripts["sample-data"])["rows"] == []
    assert len(page.scripts) == 3  # no chart needs no charting


def test_a_run_that_knows_little_has_a_page(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    little = {"usage": None, "cost": None, "difficulty": None, "platform": "", "seconds": 0.0}
    page = Parsed(report(write_run("old", [make_result("a", hidden_total=0, **little)])))
    assert "No release date is known." in page.words
    assert "Of no sample both public and hidden tests are known." in page.words
    assert "Not known of these runs" in page.words
    assert "unknown" in page.words


@pytest.mark.thorough
def test_a_run_that_is_under_way_is_shown_as_far_as_it_is(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    planned = {"problems": {"a": "hash of a", "b": "hash of b"}}
    run = write_run("half", [make_result("a", solved=True)], planned)
    with (run / "results.jsonl").open("a") as file:
        file.write('{"sample": "b#')  # being written
    page = Parsed(report(run))
    assert "half: 1 sample of 2 pending" in page.words
    assert "1 graded of 2" in page.words
    assert "100.0 %" in page.words


@pytest.mark.thorough
def test_an_imported_run_s_page_has_no_unknown_facts(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    nothing = {"public_total": 0, "public_passed": 0, "hidden_total": 0, "hidden_passed": 0}
    results = [make_result("a", usage=None, cost=None, model_calls=0, **nothing)]
    run = write_run("theirs", results, {"imported": {"verdicts": "published"}})
    page = Parsed(report(run))
    assert "theirs: imported, its verdicts published; nothing is known of tests," in page.words
    text = " ".join(page.words.split())
    assert "model calls unknown tool calls unknown" in text
    assert "answers cut off unknown" in text
    assert "no hidden tests unknown" in text
    assert "harness transcript" not in page.words
    assert json.loads(page.scripts["sample-data"])["rows"][0][COLUMNS.index("command")] == ""


def test_samples_that_nobody_graded_are_in_no_rate(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    page = Parsed(report(write_run("none", [make_result("a", verdict=Verdict.UNGRADED)])))
    assert "1 sample not graded, and in no rate" in page.words
    assert len(json.loads(page.scripts["sample-data"])["rows"]) == 1


def test_several_samples_have_pass_at_k(
    report: Report, write_run: WriteRun, make_result: MakeResult
) -> None:
    results = [make_result("a", index=index, solved=index == 0) for index in range(2)]
    page = Parsed(report(write_run("k", results, samples_per_problem=2)))
    text = " ".join(page.words.split())
    assert "pass@2 100.0 %" in text
    assert "pass^2 0.0 %" in text


@pytest.mark.thorough
def test_a_run_against_itself_says_no_difference(
    report: Report, write_run: WriteRun, many: Many
) -> None:
    run = write_run("same", many(9))
    text = " ".join(Parsed(report(run, run)).words.split())
    assert "+0.0 points" in text
    assert "solve the same problems." in text
    assert "No problem: both did the same." in text


def test_code_is_left_out_where_there_is_too_much(sides: Sides, make_result: MakeResult) -> None:
    half = "x" * (MOST_CODE // 2)
    fits = sample_data(sides(fits=[make_result(name, code=half) for name in "ab"]))
    assert fits["with_code"]
    assert fits["rows"][0][COLUMNS.index("code")] == half
    large = sample_data(sides(large=[make_result(name, code=half + "x") for name in "ab"]))
    assert not large["with_code"]
    assert large["rows"][0][COLUMNS.index("code")] is None


@pytest.mark.thorough
def test_the_same_runs_make_the_same_page(write_run: WriteRun, many: Many) -> None:
    run = read_run(write_run("one", many(9)))
    made = re.compile(r"made [\d-]+ [\d:]+ UTC")
    one, other = (made.sub("", report_page([run])) for _ in range(2))
    assert one == other


@pytest.mark.thorough
@pytest.mark.parametrize("day", [date(2024, 6, 1), date(2024, 6, 30)])
def test_the_cut_off_is_a_month(report: Report, write_run: WriteRun, many: Many, day: date) -> None:
    page = Parsed(report(write_run("one", many(60)), cutoff=day))
    assert "until 2024-06" in page.words
    assert '"month": "2024-06"' in json.dumps(json.loads(page.scripts["chart-data"])["by-month"])
