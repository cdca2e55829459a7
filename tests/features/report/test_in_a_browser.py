"""The report as people see it: in chromium, wide and narrow, light and dark."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from browser import (
    DESKTOP,
    PHONE,
    Seen,
    in_one_browser,
    needs_chromium,
    overflow,
    page,
    picture,
    watch,
)
from playwright.async_api import Page

from harness.features.report.page import report_page
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Report = Callable[..., Path]
Many = Callable[..., list[SampleResult]]
Opened = Callable[..., AbstractAsyncContextManager[tuple[Page, Seen]]]

pytestmark = [needs_chromium, *in_one_browser]

NAMES = "#table tbody th button"
LEAST_CONTRAST = """() => {
  const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = rgb(colour).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return getComputedStyle(at).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const words = [...document.body.querySelectorAll("*")].filter((element) =>
    element.checkVisibility() && !element.closest("script, .hidden") &&
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return words.map((element) => {
    const style = getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [one, other] = [luminance(ink), luminance(ground(element))].sort((a, b) => b - a);
    return [(one + 0.05) / (other + 0.05), element.textContent.slice(0, 40), ink, ground(element)];
  }).sort((a, b) => a[0] - b[0])[0];
}"""


async def cells(shown: Page, column: int) -> list[str]:
    """A column of the table of samples, from 2 on, as it is read."""
    element = shown.locator(f"#table tbody tr > :nth-child({column})")
    return await element.all_inner_texts()


async def can_be_read(shown: Page, saved: Path) -> None:
    """Open everything that is folded; all words stand out from what is below them."""
    await shown.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    least = await shown.evaluate(LEAST_CONTRAST)
    assert least[0] >= 4.5, least
    await picture(shown, saved)
    assert saved.stat().st_size > 50_000  # noqa: ASYNC240 - a small call


@pytest.mark.thorough
async def test_the_report_is_readable_in_the_light_theme(
    two: Path, opened: Opened, tmp_path: Path
) -> None:
    async with opened(two) as (shown, seen):
        assert seen.beyond(two.as_uri(), "data:") == []
        assert await overflow(shown) == []
        ground = await shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        await the_first_screen_holds_the_answer(shown)
        await a_chart_tells_its_figures(shown)
        await a_changed_outcome_shows_both_solutions_and_links_to_both_conversations(shown)
        await every_chart_has_a_title_words_and_a_table(shown)
        await can_be_read(shown, tmp_path / "report.png")
        assert seen.errors == []


async def every_chart_has_a_title_words_and_a_table(shown: Page) -> None:
    """What is folded is drawn once it is opened."""
    headline = shown.locator("[data-chart=headline]")
    assert await headline.locator("svg").count() == 0
    for fold in await shown.locator("details.folded").all():
        await fold.locator("> summary").click()
    charts = await shown.locator("figure").all()
    assert len(charts) >= 13
    for chart in charts:
        assert await chart.locator("h3").inner_text()
        about = await chart.locator("figcaption").inner_text()
        drawn = chart.locator("[role=graphics-document]")
        await drawn.wait_for(state="attached")
        assert await drawn.get_attribute("aria-label") in about
        assert await drawn.locator("svg path").count() > 3
        await chart.locator("summary").click()
        assert await chart.locator("details tbody tr").first.is_visible()
    box = await headline.bounding_box()
    assert box is not None
    assert box["width"] > 600


async def a_chart_tells_its_figures(shown: Page) -> None:
    bar = shown.locator("[data-chart=verdicts] .mark-rect path").first
    await bar.scroll_into_view_if_needed()
    await bar.hover()
    element = shown.locator("#vg-tooltip-element.visible")
    await element.wait_for()
    assert "69.4%" in await element.inner_text()  # 25 of the 36 of the first run


@pytest.mark.thorough
async def test_the_table_of_samples(two: Path, opened: Opened) -> None:
    async with opened(two) as (shown, seen):
        await shown.keyboard.press("Tab")
        assert await shown.evaluate("document.activeElement.className") == "skip"
        await samples_are_sorted_both_ways(shown)
        await samples_are_searched(shown)
        await samples_are_filtered(shown)
        await shown.click("[type=reset]")
        await shown.get_by_text("72 samples", exact=True).wait_for()
        await it_works_by_keyboard_alone(shown)
        assert seen.errors == []


async def samples_are_sorted_both_ways(shown: Page) -> None:
    headings = shown.locator("#table thead th")
    titles = await headings.all_inner_texts()
    at = titles.index("Time")
    assert {await h.get_attribute("aria-sort") for h in await headings.all()} == {"none"}
    times = await cells(shown, at + 1)
    for way in ("ascending", "descending"):
        await headings.nth(at).get_by_role("button").click()
        assert await headings.nth(at).get_attribute("aria-sort") == way
        sorts = [await h.get_attribute("aria-sort") for h in await headings.all()]
        assert sorts.count("none") == len(titles) - 1
        seconds = [float(text.removesuffix(" s")) for text in await cells(shown, at + 1)]
        assert seconds == sorted(seconds, reverse=way == "descending")
        assert len(seconds) == len(times)
    await headings.nth(0).get_by_role("button").click()
    names = await shown.locator(NAMES).all_inner_texts()
    assert names[:6] == ["p0#0", "p0#0", "p1#0", "p1#0", "p2#0", "p2#0"]  # as numbers
    await headings.nth(titles.index("Difficulty")).get_by_role("button").click()
    levels = list(dict.fromkeys(await cells(shown, titles.index("Difficulty") + 1)))
    assert levels == ["easy", "medium", "hard"]


async def samples_are_searched(shown: Page) -> None:
    assert await shown.inner_text("#found") == "72 samples"
    await shown.fill("[name=words]", "NUMBER 35")
    assert await shown.inner_text("#found") == "2 of 72 samples"
    assert await shown.locator(NAMES).all_inner_texts() == ["p35#0", "p35#0"]
    await shown.fill("[name=words]", "tag-3 p1")  # every word, anywhere
    assert await shown.inner_text("#found") == "6 of 72 samples"
    await shown.fill("[name=words]", "nowhere")
    assert await shown.inner_text("#found") == "0 of 72 samples"
    assert await shown.locator("#table tbody tr").count() == 0
    await shown.click("[type=reset]")
    await shown.get_by_text("72 samples", exact=True).wait_for()


async def samples_are_filtered(shown: Page) -> None:
    for name, value, left in (
        ("run", "1", 36),
        ("difficulty", "easy", 12),
        ("platform", "left", 6),
        ("solved", "1", 6),
        ("verdict", "wrong answer", 0),
    ):
        await shown.select_option(f"select[name={name}]", value)
        assert await shown.locator("#table tbody tr").count() == left, name
    options = shown.locator("select[name=verdict] option")
    assert await options.all_inner_texts() == ["all", "accepted", "wrong answer"]


async def it_works_by_keyboard_alone(shown: Page) -> None:
    await shown.focus("[name=words]")
    await shown.keyboard.type("p7#")
    assert await shown.inner_text("#found") == "2 of 72 samples"
    seen: list[str] = []
    while not seen or (seen[-1] != "p7#0" and len(seen) < 40):
        await shown.keyboard.press("Tab")
        seen.append(await shown.evaluate("document.activeElement.textContent"))
        outline = await shown.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen
    assert [each for each in seen if each in {"Sample", "Verdict", "Time"}]
    await shown.keyboard.press("Enter")
    assert await shown.locator("td.more").count() == 1
    await shown.focus("#table thead button")
    await shown.keyboard.press("Space")
    assert await shown.get_attribute("#table thead th", "aria-sort") == "ascending"


@pytest.mark.thorough
async def test_unknown_values_sort_last_in_both_directions(
    report: Report, write_run: WriteRun, make_result: MakeResult, opened: Opened
) -> None:
    costs = {"a": 2.0, "b": None, "c": 1.0}
    run = write_run("run", [make_result(name, cost=cost) for name, cost in costs.items()])
    async with opened(report(run)) as (shown, _):
        for order in (["c#0", "a#0", "b#0"], ["a#0", "c#0", "b#0"]):
            await shown.get_by_role("button", name="Cost").click()
            assert await shown.locator(NAMES).all_inner_texts() == order


@pytest.mark.thorough
async def test_the_report_is_readable_on_a_phone_in_the_dark_theme(
    two: Path, opened: Opened, tmp_path: Path
) -> None:
    async with opened(two, width=PHONE, dark=True) as (shown, seen):
        assert seen.beyond(two.as_uri(), "data:") == []
        assert await overflow(shown) == []
        ground = await shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(20, 23, 28)"
        heads = await shown.locator("#table thead button:visible").all_inner_texts()
        assert heads == ["Sample", "Run", "Verdict"]
        await a_sample_shows_more_of_itself(shown)
        await can_be_read(shown, tmp_path / "report.png")
        assert seen.errors == []


async def a_sample_shows_more_of_itself(shown: Page) -> None:
    name = shown.locator(NAMES).first
    assert await name.get_attribute("aria-expanded") == "false"
    await name.click()
    assert await name.get_attribute("aria-expanded") == "true"
    more = await shown.inner_text("td.more")
    assert "harness transcript runs/single 'p0#0'" in more
    assert "print(0)" in more
    assert "public 1 of 1, hidden 1 of 1" in more
    assert await overflow(shown) == []
    await name.click()
    assert await shown.locator("td.more").count() == 0


@pytest.mark.thorough
async def test_the_theme_is_changed_and_not_kept(two: Path, opened: Opened) -> None:
    async with opened(two) as (shown, _):
        ground = "getComputedStyle(document.body).backgroundColor"
        assert await shown.inner_text("#theme") == "Dark"
        await shown.click("#theme")
        assert await shown.inner_text("#theme") == "Light"
        assert await shown.evaluate(ground) == "rgb(20, 23, 28)"
        least = await shown.evaluate(LEAST_CONTRAST)
        assert least[0] >= 4.5, least
        kept = "localStorage.length + sessionStorage.length + document.cookie.length"
        assert await shown.evaluate(kept) == 0
        await shown.reload()
        assert await shown.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.thorough
async def test_the_report_has_a_dark_theme_and_prints(two: Path, opened: Opened) -> None:
    async with opened(two, dark=True) as (shown, seen):
        await the_first_screen_holds_the_answer(shown)
        await on_paper_it_is_light_and_without_controls(shown)
        assert seen.errors == []


async def on_paper_it_is_light_and_without_controls(shown: Page) -> None:
    await shown.click("#theme")
    await shown.click("#theme")
    await shown.emulate_media(media="print")
    ground = await shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    for selector in ("#theme", "nav", "#filters"):
        assert not await shown.is_visible(selector)
    assert await shown.is_visible("[data-chart=equal-spend] svg")
    assert len(await shown.pdf()) > 20_000


@pytest.mark.thorough
async def test_a_hundred_of_ten_thousand_samples_are_drawn(
    tmp_path: Path, in_memory: Callable[..., Run], many: Many, opened: Opened
) -> None:
    page_file = tmp_path / "report.html"
    page_file.write_text(report_page([in_memory("large", many(10_000))]))
    async with opened(page_file) as (shown, seen):
        rows = shown.locator("#table tbody tr")
        assert await rows.count() == 100
        assert await shown.get_attribute("#table", "aria-rowcount") == "10001"
        assert await shown.inner_text("#place") == "1 to 100 of 10,000"
        assert await shown.is_disabled("[name=back]")
        await shown.click("[name=on]")
        assert await shown.inner_text("#place") == "101 to 200 of 10,000"
        assert await rows.first.get_attribute("aria-rowindex") == "102"
        await shown.fill("[name=words]", "p99")
        assert await shown.inner_text("#place") == "1 to 100 of 111"
        assert seen.errors == []


HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\x1b[2J"


async def test_hostile_texts_do_nothing(
    report: Report, write_run: WriteRun, make_result: MakeResult, opened: Opened
) -> None:
    hostile: dict[str, Any] = {"title": HOSTILE, "platform": HOSTILE, "tags": (HOSTILE,)}
    long = "x" * 100_000
    results = [
        make_result(HOSTILE, code=f"{HOSTILE}\n{long}", **hostile),
        make_result("long", title=long, tags=(long,), platform=long),
        make_result("__proto__", platform="constructor", tags=("toString",)),
        *(make_result(f"more{n}", platform="constructor", tags=("toString",)) for n in range(4)),
    ]
    run = write_run("run", results).rename(write_run("other", results).with_name("<img src=y>"))
    async with opened(report(run, run.with_name("other"), title=HOSTILE), width=PHONE) as (s, seen):
        assert seen.errors == []
        assert seen.beyond("file://", "data:") == []
        assert await s.locator("img").count() == 0
        assert await overflow(s) == []
        await s.locator(NAMES).first.click()
        assert "<img src=x onerror=alert(1)>" in await s.inner_text("td.more pre")
        await s.select_option("select[name=platform]", "constructor")
        names = await s.locator(NAMES).all_inner_texts()
        assert set(names) == {"__proto__#0", *(f"more{n}#0" for n in range(4))}
        point = s.locator("[data-chart=by-platform] .mark-symbol path").first
        await point.hover(force=True)
        element = s.locator("#vg-tooltip-element.visible")
        await element.wait_for()
        assert "<img src=y>" in await element.inner_text()
        assert await s.locator("img").count() == 0
        assert seen.errors == []


async def test_a_script_that_is_not_the_pages_own_does_not_run(two: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken.html"
    script = "<script>document.title = 'taken'</script><h1>"
    taken.write_text(two.read_text().replace("<h1>", script, 1))  # noqa: ASYNC240 - a small file
    async with page() as shown:
        seen = watch(shown)
        await shown.goto(taken.as_uri())
        assert await shown.title() == "Report"
        assert any("Content Security Policy" in error for error in seen.errors)


async def test_without_scripts_the_figures_are_in_tables(two: Path) -> None:
    async with page(javascript=False) as shown:
        await shown.goto(two.as_uri())
        figure = shown.locator("figure").first
        assert "its figures are in the table" in await figure.inner_text()
        await figure.locator("summary").click()
        assert "single shot, chosen by public tests" in await figure.locator("table").inner_text()
        assert not await shown.is_visible("#theme")


async def test_an_empty_run_is_no_blank_page(
    report: Report, write_run: WriteRun, opened: Opened
) -> None:
    async with opened(report(write_run("empty", []))) as (shown, seen):
        assert await shown.inner_text("#found") == "0 samples"
        assert seen.errors == []


async def the_first_screen_holds_the_answer(shown: Page) -> None:
    size = shown.viewport_size
    await shown.set_viewport_size({"width": DESKTOP, "height": 800})
    assert await shown.inner_text("h1") == (
        "agentic against single shot: made-model, fixture, 36 problems"
    )
    for selector in (".sentence", ".figures", "[data-chart=equal-spend] svg", "#answer .facts"):
        box = await shown.locator(selector).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 830, selector
    figures = await shown.locator(".figure").all_inner_texts()
    assert [text.splitlines()[0] for text in figures] == ["single shot", "agentic", "difference"]
    assert await shown.locator(".drawn .dot").count() == 3
    assert size is not None
    await shown.set_viewport_size(size)


async def a_changed_outcome_shows_both_solutions_and_links_to_both_conversations(
    shown: Page,
) -> None:
    change = shown.locator(".change").first
    assert await change.locator("pre").first.is_hidden()
    await change.locator("> summary").click()
    assert await change.locator(".beside > section pre").first.is_visible()
    targets = await change.locator("a").evaluate_all("all => all.map(a => a.hash)")
    assert targets == ["#change-1-a", "#change-1-b"]
    for target in targets:
        assert await shown.locator(target).count() == 1
    assert await overflow(shown) == []
