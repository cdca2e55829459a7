"""Efficiency in a report: means, pairs, solutions among references, columns of the samples."""

import json
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from browser import DESKTOP, PHONE, Seen, in_one_browser, needs_chromium, overflow
from efficiency_made import made_efficiency, made_scale
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Page
from results_made import made_result

from harness.features.efficiency.scale import Scale
from harness.features.report.efficiency_section import (
    PERCENTILES,
    fast_and_right,
    faster_than_references,
    timed_solutions,
)
from harness.features.report.labelled_runs import LabelledRun, sides_of
from harness.features.report.page import COLUMNS, EFFICIENCY, report_page, sample_data
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

InMemory = Callable[..., Run]
Opened = Callable[..., AbstractAsyncContextManager[tuple[Page, Seen]]]


def timed(problem: str, time: float | None, scale: Scale | None = None, index: int = 0) -> Any:
    efficiency = made_efficiency(time, scale)
    return made_result(problem, solved=time is not None, index=index, efficiency=efficiency)


@pytest.fixture(scope="session")
def timed_runs(in_memory: InMemory) -> list[Run]:
    """A slow and a fast run of the same problems, one of which tells nothing."""
    alike = made_scale((1.0, 1.0001), doubt=0.01)

    def samples(slower: float) -> list[SampleResult]:
        timed_results = [timed(f"m/p{at}", slower * (1 + at / 4)) for at in range(6)]
        return [*timed_results, timed("m/failed", None), timed("m/alike", slower, alike)]

    return [in_memory("slow", samples(2.0)), in_memory("fast", samples(1.0))]


@pytest.fixture(scope="session")
def sides(timed_runs: list[Run]) -> list[LabelledRun]:
    return sides_of(timed_runs)


def said(page: str) -> str:
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.mark.thorough
def test_the_section_has_means_pairs_and_charts(timed_runs: list[Run]) -> None:
    page = report_page(timed_runs)
    text = said(page)
    assert '<section id="efficiency"' in page
    assert "Beyond@1 0.375 (0." in text
    assert "problems of which the references differ by less than the noise 1 1" in text
    assert "fast slow all 7 0.723 0.375 +0.348 +0." in text
    assert "fast slow passed 6 0.844 0.438 +0.406 +0." in text
    charts = json.loads(re.findall(r'id="chart-data">(.*?)</script>', page)[0])
    assert {"among", "fast-and-right"} <= charts.keys()
    assert "slow 6 solutions of 6 problems, fast 6 solutions of 6 problems" in text
    assert "slow 6 6 100.0 % 33.3 % 0.0 % 0.0 % 3.25" in text


def test_a_report_of_runs_that_were_not_timed_says_nothing_of_it(in_memory: InMemory) -> None:
    run = in_memory("plain", [made_result("a", solved=True), made_result("b")])
    page = report_page([run])
    assert not re.search("Beyond|CPU time", said(page))
    assert 'id="efficiency"' not in page
    assert sample_data(sides_of([run]))["columns"] == COLUMNS


@pytest.mark.thorough
def test_one_run_alone_has_no_pairs_and_no_scatter(timed_runs: list[Run]) -> None:
    page = report_page(timed_runs[:1])
    assert "How many references solutions are faster than" in page
    assert "Differences in Beyond" not in page
    assert "Solved against fast" not in page


def test_shares_are_those_of_solutions_faster_than_so_many_references(
    sides: list[LabelledRun],
) -> None:
    # Times 2.0 to 4.5 and 1.0 to 2.25 among references that take 1, 2, 3 and 5: a slower
    # reference counts 1, one that takes as long 1/2. Problem `alike` tells nothing.
    slow, fast = timed_solutions(sides)
    assert (slow.problems, slow.solutions) == (6, 6)
    ranks = {"slow": [62.5, 50, 37.5, 25, 25, 25], "fast": [87.5, 75, 75, 75, 62.5, 50]}
    for each in (slow, fast):
        assert tuple(each.shares) == PERCENTILES
        for percentile, share in each.shares.items():
            above = sum(rank >= percentile for rank in ranks[each.run])
            assert share.value == pytest.approx(above / 6), (each.run, percentile)
            assert share.low <= share.value <= share.high
    assert slow.times == pytest.approx(3.25)
    assert fast.times == pytest.approx(1.625)


def test_each_problem_counts_the_same(in_memory: InMemory) -> None:
    samples = [timed("many", 1.0, index=at) for at in range(9)] + [timed("one", 4.0)]
    (timings,) = timed_solutions(sides_of([in_memory("r", samples)]))
    assert (timings.problems, timings.solutions) == (2, 10)
    assert timings.shares[50].value == pytest.approx(0.5)


def test_failed_and_untold_solutions_are_left_out(in_memory: InMemory) -> None:
    alike = made_scale((1.0, 1.0001), doubt=0.01)
    run = in_memory("r", [timed("failed", None), timed("alike", 1.0, alike)])
    assert timed_solutions(sides_of([run])) == []
    page = report_page([run])
    assert 'id="efficiency"' in page
    assert 'data-chart="among"' not in page


@pytest.mark.thorough
def test_no_point_of_the_chart_is_a_problem(in_memory: InMemory) -> None:
    run = in_memory("r", [timed(f"p{at}", 1.0 + at / 50) for at in range(150)])
    page = report_page([run])
    charts = json.loads(re.findall(r'id="chart-data">(.*?)</script>', page)[0])
    rows = [row for layer in charts["among"]["layer"] for row in layer["data"]["values"]]
    assert len(rows) <= 3 * len(PERCENTILES)
    assert not any("problem" in row or "sample" in row for row in rows)
    assert "r 150 solutions of 150 problems" in said(page)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a/x", "b/x", "toString"]), st.none() | st.floats(1e-6, 1e6)),
        max_size=20,
    )
)
def test_shares_fall_from_all_to_none(samples: list[tuple[str, float | None]]) -> None:
    results = [timed(problem, time, index=at) for at, (problem, time) in enumerate(samples)]
    run = Run(
        Path("r"),
        {"spec": {"model": "m", "samples_per_problem": 1}, "problems": {}, "prompt": {}},
        tuple(results),
    )
    solutions = timed_solutions(sides_of([run]))
    assert sum(each.solutions for each in solutions) == sum(time is not None for _, time in samples)
    for each in solutions:
        values = [share.value for share in each.shares.values()]
        assert values[0] == pytest.approx(1)
        assert values == sorted(values, reverse=True)


@pytest.mark.thorough
def test_charts_are_such_as_vega_lite_takes(
    sides: list[LabelledRun], capfd: pytest.CaptureFixture[str]
) -> None:
    labels = [side.label for side in sides]
    specs = (
        faster_than_references(timed_solutions(sides), labels, "t"),
        faster_than_references(timed_solutions(sides[:1]), labels[:1], "t"),
        fast_and_right(sides, "t"),
    )
    for spec in specs:
        assert spec["description"] == "t"
        drawn = vl_convert.vegalite_to_svg({**spec, "width": 400}, vl_version="6.4")
        assert drawn.startswith("<svg")
    assert "WARN" not in capfd.readouterr().err


def test_a_row_of_the_samples_has_what_the_script_shows(sides: list[LabelledRun]) -> None:
    data = sample_data(sides)
    assert data["columns"] == (*COLUMNS, *EFFICIENCY)
    first = dict(zip(data["columns"], data["rows"][0], strict=True))
    assert (first["cpu_s"], first["beyond"], first["percentile"]) == (2e-6, 0.75, 62.5)
    failed = dict(zip(data["columns"], data["rows"][6], strict=True))
    assert (failed["cpu_s"], failed["beyond"]) == (None, 0.0)


def test_words_of_others_are_no_markup(in_memory: InMemory) -> None:
    remark = "<script>alert(1)</script>\x1b[2J"
    samples = [
        made_result("a", solved=True, efficiency=made_efficiency(1.0, remark=remark)),
        made_result("<img src=x>", solved=True, efficiency=made_efficiency(2.0)),
    ]
    page = report_page([in_memory("r", samples)])
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.thorough
@needs_chromium
@in_one_browser[0]
@in_one_browser[1]
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
async def test_the_efficiency_section_is_visible_in_a_browser(
    timed_runs: list[Run], tmp_path: Path, opened: Opened, width: int
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_page(timed_runs))
    async with opened(path, width=width, dark=width == PHONE) as (shown, seen):
        assert seen.errors == []
        assert await overflow(shown) == []
        assert await shown.locator("[data-chart=among] svg").count() == 1
        row = shown.locator("#table tbody tr").first
        assert (await row.locator("td").last.text_content()) == "0.750"
        assert await row.locator("td").last.is_visible() is (width == DESKTOP)
        await row.locator("button").click()
        text = " ".join((await shown.locator("#table .more dl").inner_text()).split())
        assert "CPU time 2.00 µs, faster than 62.5 % of the references, Beyond 0.750" in text
        assert await overflow(shown) == []
