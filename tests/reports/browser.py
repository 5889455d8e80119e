"""Pages in a headless Chromium that has no network."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

# Milliseconds that anything may take on a busy machine.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Chromium's own sandbox needs user namespaces, which root in a container lacks; WebGL is drawn by software.
OPTIONS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
]


def program() -> str:
    """The browser's program; skips where there is none, unless it was promised (`LEOBENCH_HAS_CHROMIUM`)."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get("LEOBENCH_HAS_CHROMIUM"):
            pytest.fail("LEOBENCH_HAS_CHROMIUM is set, but there is no chromium")
        pytest.skip("there is no chromium to open pages in")
    return found


@contextmanager
def started() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page with all that it complained of, and all that it wanted from elsewhere.

    Attributes:
        page: The page.
        errors: Errors and warnings of the console, and exceptions.
        wanted: Addresses that it asked for, beside its own and those that it made itself.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.wanted: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: self._asked(asked.url))

    def _said(self, kind: str, text: str) -> None:
        # Messages of software graphics drivers on their speed say nothing of the page.
        if kind in ("error", "warning") and "GPU stall" not in text and "GL Driver Message" not in text:
            self.errors.append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith(("data:", "blob:", "file:")):
            self.wanted.append(url)

    def open(self, address: str | Path) -> Page:
        """Opens a file or an address, and waits until its first panels are drawn."""
        self.page.goto(address.as_uri() if isinstance(address, Path) else address)
        self.page.wait_for_selector("html[data-ready]", timeout=PATIENCE_MS)
        return self.page

    def draw_all(self) -> None:
        """Makes the panels below the view, too."""
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(self.page.locator(".placeholder")).to_have_count(0)


def saved(page: Page, button: str) -> str:
    """The text of the file that a button offers."""
    with page.expect_download() as awaited:
        page.locator(button).first.click()
    return Path(awaited.value.path()).read_text(encoding="utf-8")


def columns(page: Page, panel: str) -> list[list[float | None]]:
    """The points that the chart of a panel draws: times, then a list of values per series."""
    drawn: list[list[float | None]] = page.evaluate(
        'id => document.querySelector(`[data-panel="${id}"]`).chart.plot.data.map(each => [...each])', panel
    )
    return drawn
