"""Debian's chromium, without its windows if that is installed, driven by Playwright.

@needs_chromium
async def test_the_title(report: Path) -> None:
    async with page(width=PHONE, dark=True) as opened:
        seen = watch(opened)
        await opened.goto(report.as_uri())
        assert await opened.title() == "Report"
        assert not seen.errors
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
DESKTOP, PHONE = 1280, 360  # CSS pixels

in_one_browser = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("chromium"),
]
"""Marks of modules whose tests share one browser."""

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium; apt-get install chromium-headless-shell"
)

QUIET = (
    *("--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
SETTLED_MS = 60_000  # generous, for a busy machine


_kept: dict[asyncio.AbstractEventLoop, Browser] = {}


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Start a browser for the length of a context."""
    assert CHROMIUM is not None
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *as_root])
        try:
            yield opened
        finally:
            await opened.close()


@asynccontextmanager
async def one_browser() -> AsyncIterator[None]:
    """Share one browser among all pages of this event loop; their state is separate."""
    loop = asyncio.get_running_loop()
    async with browser() as _kept[loop]:
        try:
            yield
        finally:
            del _kept[loop]


@asynccontextmanager
async def page(
    *, width: int = DESKTOP, height: int = 900, dark: bool = False, javascript: bool = True
) -> AsyncIterator[Page]:
    """Open a page in a fresh browser context, until the end of the test."""
    async with AsyncExitStack() as stack:
        kept = _kept.get(asyncio.get_running_loop())
        opened = kept or await stack.enter_async_context(browser())
        context = await opened.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            reduced_motion="reduce",
        )
        stack.push_async_callback(context.close)
        context.set_default_timeout(SETTLED_MS)
        yield await context.new_page()


@dataclass
class Seen:
    """Events of a page since `watch`.

    Attributes:
        errors: errors and warnings of its console, uncaught exceptions, and dialogs.
        requests: addresses of all its requests.
    """

    errors: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def beyond(self, *addresses: str) -> list[str]:
        """Return the requests of addresses that do not start with any of these."""
        return [url for url in self.requests if not url.startswith(addresses)]


def watch(opened: Page) -> Seen:
    """Watch a page; must be called before it is navigated."""
    seen = Seen()
    opened.on(
        "console",
        lambda said: seen.errors.append(said.text) if said.type in {"error", "warning"} else None,
    )
    opened.on("pageerror", lambda error: seen.errors.append(str(error)))
    opened.on("request", lambda request: seen.requests.append(request.url))

    async def dismiss(dialog: object) -> None:
        seen.errors.append(f"a dialog: {dialog}")
        await dialog.dismiss()  # pyright: ignore[reportAttributeAccessIssue]

    opened.on("dialog", dismiss)
    return seen


async def overflow(opened: Page) -> Sequence[str]:
    """Return the elements beyond the right edge, which make the page scroll sideways."""
    return await opened.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth + 1 ? [] :
        [...document.body.querySelectorAll('*')]
          .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
          .slice(0, 10).map(each => each.tagName + '.' + each.className)"""
    )


async def picture(opened: Page, path: Path) -> None:
    """Save a screenshot of the whole page, for inspection."""
    await opened.screenshot(path=path, full_page=True)
