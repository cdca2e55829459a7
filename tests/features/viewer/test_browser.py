"""The viewer in a browser: from the list to a transcript, live, by keys, and on a phone."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from browser import (
    DESKTOP,
    PHONE,
    SETTLED_MS,
    in_one_browser,
    needs_chromium,
    overflow,
    page,
    watch,
)
from chat_server import ChatServer, Reply, Solver
from for_each import for_each
from json_lines import json_lines
from playwright.async_api import Page, expect
from program import finish, start
from runs_made import request, response, result, tool_result, write_run, write_transcript
from runs_made import start as began

pytestmark = [needs_chromium, *in_one_browser]
expect.set_options(timeout=SETTLED_MS)


@asynccontextmanager
async def viewing(folder: Path) -> AsyncIterator[str]:
    """The address of a viewer of a folder."""
    process = await start(folder, "view", folder)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            while b"http" not in (line := await process.stdout.readline()):
                assert line, "it has ended"
        yield line.decode().strip()
    finally:
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
    assert (code, err) == (0, "")


async def enter(opened: Page, address: str) -> None:
    """Come in, as one does who opens the printed address."""
    await opened.goto(address)
    await opened.wait_for_url(address.partition("?")[0])
    await opened.wait_for_load_state()


async def follow(opened: Page, name: str) -> None:
    """Click on a link and wait until its page is whole."""
    async with opened.expect_navigation():
        await opened.get_by_role("link", name=name, exact=True).click()


async def open_first(opened: Page) -> None:
    """Open what is first in a list, and wait until its page is whole."""
    async with opened.expect_navigation():
        await opened.locator("a[data-item]").first.click()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bundled(written_runs: Callable[..., Path]) -> AsyncIterator[str]:
    """The address of a viewer of the bundled run."""
    async with viewing(written_runs("agentic")) as address:
        yield address


CONTRAST = """() => {
  const light = (c) => {
    const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(Number).map((v) => v / 255)
      .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(c)) return c;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(paper(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faint.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...faint];
}"""


@for_each(("width", "dark"), [(DESKTOP, True), (PHONE, False)])
async def test_links_lead_from_the_list_to_a_transcript(
    bundled: str, width: int, dark: bool
) -> None:
    """Nothing is beside the page, and all words stand out from their paper."""
    async with page(width=width, dark=dark) as opened:
        seen = watch(opened)
        await enter(opened, bundled)
        assert "token" not in opened.url
        for name in ("agentic", "Drum Loop"):
            assert await overflow(opened) == []
            assert await opened.evaluate(CONTRAST) == []
            await follow(opened, name)
        await expect(opened.get_by_role("heading", name="Turn 10")).to_be_visible()
        assert await overflow(opened) == []
        paper = await opened.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) < 200) == dark
        cells = opened.locator(".sides").first.locator("tr.differs td")
        assert await cells.all_inner_texts() == ["2", "9", "10", "3", "10", "11"]
        wanted, came = await asyncio.gather(
            cells.nth(1).bounding_box(), cells.nth(2).bounding_box()
        )
        assert wanted is not None
        assert came is not None
        assert wanted["y"] == came["y"]
        assert wanted["x"] < came["x"], "they stand side by side, on a phone too"
        await opened.keyboard.press("e")
        assert await opened.evaluate(CONTRAST) == []
        assert seen.errors == []
        assert seen.beyond(bundled.partition("?")[0]) == []


LONG = "an-organisation/model_with_a_rather_long_name:and.a.version-30b-instruct"
OVERHEIGHT = """() => [...document.querySelectorAll('.runs td[data-label=state]')]
  .map(cell => cell.querySelector('.why').getBoundingClientRect().height)"""
BROKEN = """() => [...document.querySelectorAll('.runs td[data-label=model]')].flatMap(cell => {
  const lines = [];
  for (const node of cell.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    const range = document.createRange();
    range.selectNode(node);
    if (range.getClientRects().length > 1 && !node.data.includes('-')) lines.push(node.data);
  }
  return lines;
})"""


@pytest.mark.thorough
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
async def test_a_stopped_run_with_a_long_name_keeps_the_list_in_shape(
    tmp_path: Path, width: int
) -> None:
    """Its error is one line, no name breaks within a word, and no column is pushed out."""
    run = write_run(tmp_path / "runs" / "r", [], problems=["p/0"], model=LONG)
    cause = "no connection to http://127.0.0.1:9/v1: ConnectError: All attempts failed; " * 3
    refused = {"event": "put_off", "turn": 1, "reason": "refused", "cause": cause}
    write_transcript(run, "p/0", [began("p/0"), refused])
    async with viewing(tmp_path / "runs") as address, page(width=width) as opened:
        await enter(opened, address)
        (height,) = await opened.evaluate(OVERHEIGHT)
        assert height < 30
        assert await opened.evaluate(BROKEN) == []
        scrolls = "(e) => e.scrollWidth > e.clientWidth"
        assert not await opened.locator(".wide").evaluate(scrolls)
        assert await overflow(opened) == []


@pytest.mark.thorough
async def test_a_run_is_deleted_from_its_page(tmp_path: Path) -> None:
    for name in ("gone", "kept"):
        write_run(tmp_path / name, [result("p/0")])
    async with viewing(tmp_path) as address, page(width=DESKTOP) as opened:
        seen = watch(opened)
        await enter(opened, address)
        await follow(opened, "gone")
        await opened.locator("a[href$='/delete']").click()
        async with opened.expect_navigation():
            await opened.get_by_role("button", name="Delete this run").click()
        await expect(opened.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
        await expect(opened.get_by_role("link", name="kept", exact=True)).to_be_visible()
        assert await opened.get_by_role("link", name="gone", exact=True).count() == 0
        assert not seen.errors
    assert not (tmp_path / "gone").exists()
    assert (tmp_path / "kept" / "run.json").exists()


@pytest.mark.thorough
async def test_comparing_nothing_says_what_to_choose(bundled: str) -> None:
    async with page(width=DESKTOP) as opened:
        await enter(opened, bundled)
        async with opened.expect_navigation():
            await opened.get_by_role("button", name="Compare").click()
        await expect(
            opened.get_by_text("choose two runs to compare; none is chosen")
        ).to_be_visible()


@pytest.mark.thorough
async def test_search_filter_and_sort(bundled: str) -> None:
    async with page() as opened:
        seen = watch(opened)
        await enter(opened, bundled)
        assert await opened.evaluate(CONTRAST) == []
        await follow(opened, "agentic")
        assert await opened.evaluate(CONTRAST) == []
        names = opened.locator("a[data-item]")
        await expect(names).to_have_count(20)
        await opened.keyboard.press("/")
        await opened.keyboard.type("bells")
        await expect(names).to_have_count(1)
        await expect(names).to_have_text(["Odd Bells"])
        assert opened.url.endswith("?q=bells")
        assert await opened.evaluate("document.activeElement.name") == "q"
        await opened.get_by_label("Search").fill("")
        await expect(names).to_have_count(20)
        await opened.get_by_label("Verdict").select_option("wrong_answer")
        await expect(names).to_have_count(3)
        await opened.get_by_role("link", name="tokens").click()
        await expect(names.first).to_have_text("Drum Loop")
        heading = opened.get_by_role("columnheader", name="tokens")
        await expect(heading).to_have_attribute("aria-sort", "descending")
        await follow(opened, "Drum Loop")
        await expect(opened.get_by_text("1 of 3")).to_be_visible()
        await opened.keyboard.press("e")
        assert await opened.evaluate(CONTRAST) == []
        assert seen.errors == []


@pytest.mark.thorough
async def test_the_viewer_works_by_keys_alone(bundled: str) -> None:
    async with page() as opened:
        await enter(opened, bundled)
        title = opened.locator("h1")

        async def leads_to(key: str, name: str) -> None:
            async with opened.expect_navigation():
                await opened.keyboard.press(key)
            await expect(title).to_have_text(name)

        await opened.keyboard.press("j")
        await leads_to("Enter", "agentic")
        names = await opened.locator("a[data-item]").all_inner_texts()
        for key in "jjk":
            await opened.keyboard.press(key)
        await leads_to("Enter", names[0])
        await leads_to("j", names[1])
        await leads_to("k", names[0])
        await opened.keyboard.press("e")
        await expect(opened.locator("details:not([open])")).to_have_count(0)
        await leads_to("u", "agentic")


async def test_without_scripts_it_can_be_read_and_searched(bundled: str) -> None:
    async with page(javascript=False) as opened:
        await enter(opened, bundled)
        await follow(opened, "agentic")
        await opened.get_by_label("Search").fill("bells")
        async with opened.expect_navigation():
            await opened.get_by_role("button", name="Find").click()
        await follow(opened, "Odd Bells")
        await expect(opened.get_by_role("heading", name="Turn 1 ")).to_be_visible()


TOP = "each => each.getBoundingClientRect().top"


class Held:
    """A model that answers so many requests, and the rest when it is let go on."""

    def __init__(self, solver: Solver, first: int) -> None:
        self.solver, self.first = solver, first
        self.go_on = asyncio.Event()

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        until = self.go_on.wait if number >= self.first else None
        return Reply(self.solver(body, number).body, until=until)


@pytest.mark.thorough
async def test_a_page_keeps_up_with_a_run(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    rows = [
        json.loads(line) for line in (root / "fixtures" / "problems.jsonl").read_text().splitlines()
    ]
    held = Held(Solver({row["title"]: ["print(0)", row["references"][0]] for row in rows}), 5)
    flags = ["-b", "fixture", "--agentic-mode", "-m", "served", "-n", "4", "--concurrency", "1"]
    async with (
        ChatServer(held) as server,
        viewing(tmp_path) as address,
        page(height=400) as opened,
    ):
        seen = watch(opened)
        await enter(opened, address)
        await expect(opened.get_by_text("no run yet")).to_be_visible()
        run = await start(tmp_path, "run", *flags, "--out", "r", "--base-url", server.base_url)
        await server.arrived(6)  # one is waited for
        await follow(opened, "r")
        await expect(opened.locator("#sums .going .b-running")).to_be_visible()
        await opened.get_by_label("Verdict").select_option("under_way")
        await expect(opened.locator("#samples .b-good")).to_have_count(0)  # those are left out now
        await open_first(opened)
        blocks = opened.locator("#talk > article")
        await expect(opened.locator("#live")).to_have_text("● live")
        before = await blocks.count()
        await opened.evaluate("window.same = true; scrollTo(0, 120)")
        await opened.evaluate("document.querySelector('#talk details').open = true")
        first = await blocks.first.element_handle()
        assert first is not None
        height = await first.evaluate(TOP)
        held.go_on.set()
        await expect(opened.locator("#final h2")).to_be_visible()
        await expect(blocks.filter(has_text="Grade")).to_have_count(1)
        assert await blocks.count() > before
        assert await opened.evaluate("window.same"), "the page was not loaded again"
        assert abs(await first.evaluate(TOP) - height) < 3, "what is read stays where it is"
        assert await opened.evaluate("document.querySelector('#talk details').open")
        assert await first.evaluate("each => each.isConnected"), "what was there is left alone"
        async with opened.expect_navigation():
            await opened.keyboard.press("u")
        assert (await finish(run))[0] == 0
        await opened.get_by_label("Verdict").select_option("")
        await expect(opened.locator("#samples .b-good")).to_have_count(4)
        await expect(opened.locator("#sums")).not_to_contain_text("running")
        assert seen.errors == []


@pytest.mark.thorough
async def test_a_list_grows_while_it_is_looked_at(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")], problems=["p/a", "p/b"])
    async with viewing(tmp_path) as address, page() as opened:
        await enter(opened, address)
        await follow(opened, "r")
        await opened.evaluate("window.same = true")
        with (run / "results.jsonl").open("a") as file:
            file.write(json_lines([result("p/b", verdict="time_limit")]))
        await expect(opened.locator("#samples .b-bad")).to_have_text("time limit")
        await expect(opened.locator("#sums")).to_contain_text("50.0 %")
        assert await opened.evaluate("window.same")


@pytest.mark.thorough
async def test_when_the_viewer_has_ended_the_page_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "r", [result("p/a")])
    async with page() as opened:
        async with viewing(tmp_path) as address:
            await enter(opened, address)
        await expect(opened.locator("#live")).to_have_text("the viewer has ended")


async def test_hostile_content_does_nothing(tmp_path: Path) -> None:
    text = (
        "</pre></script><script>window.hit=1;alert(1)</script><img src=x onerror=window.hit=1>"
        "<a href='javascript:window.hit=1'>x</a><style>*{display:none}</style>\x1b[31m\u202e"
        "<meta http-equiv=refresh content='0;url=https://example.invalid/'><base href=//evil>"
    )
    huge = "<b>" + "x" * 10_000_000
    rows = [result("p/a", title=text, code=text, tags=[text], platform=text), result("p/b")]
    run = write_run(tmp_path / "r", rows, model=text)
    calls = [("c", "write_solution", json.dumps({"code": text})), ("d", text, huge)]
    events = [
        began("p/a"),
        request(1, ("system", text), ("user", huge)),
        response(1, text, calls, reasoning=[{"text": text}]),
        tool_result(1, "c", text, text),
        tool_result(1, "d", text, huge),
    ]
    write_transcript(run, "p/a", events)
    async with viewing(tmp_path) as address, page(width=PHONE) as opened:
        seen = watch(opened)
        await enter(opened, address)
        await open_first(opened)
        await opened.get_by_label("Search").fill(text[:60])
        await expect(opened.locator("a[data-item]")).to_have_count(1)
        assert await overflow(opened) == []
        await open_first(opened)
        await expect(opened.get_by_role("heading", name="Turn 1")).to_be_visible()
        await opened.keyboard.press("e")
        assert await overflow(opened) == []
        await opened.get_by_role("link", name="Show all").last.click()
        await expect(opened.locator("pre.whole")).to_contain_text("<b>xxx")
        assert await overflow(opened) == []
        assert await opened.evaluate("window.hit") is None
        assert seen.errors == []
        assert seen.beyond(address.partition("?")[0]) == []
