"""The page of the playground, built once, and a browser that opens it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.reports.browser import Opened, started
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

PAGE = ROOT / "target" / "playground" / "index.html"

# A run of a scenario takes seconds on a machine that does much else.
PATIENCE_MS = 120_000


@pytest.fixture(scope="session")
def page_file() -> Path:
    """The page; skips where Rust's target of WebAssembly cannot be had, unless it was promised."""
    built = subprocess.run(
        [sys.executable, ROOT / "tools" / "playground.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode == 2 and not os.environ.get("LEOBENCH_HAS_WASM"):
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr[-2_000:]
    return PAGE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium, for one module, as for reports."""
    with started() as browser:
        yield browser


@pytest.fixture
def show(browser: Browser, page_file: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page from disk with a state in its address, and waits for its first figure.

    Whatever the page complains of fails the test.
    """
    contexts: list[BrowserContext] = []
    pages: list[Opened] = []

    def open_page(state: str = "", *, width: int = 1400, dark: bool = False, figure: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        pages.append(Opened(page))
        page.goto(page_file.as_uri() + (f"#{state}" if state else ""))
        if figure:
            page.wait_for_selector(".outcome[data-drawn]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [each.errors for each in pages] == [[] for _ in pages]
    assert [each.wanted for each in pages] == [[] for _ in pages]
