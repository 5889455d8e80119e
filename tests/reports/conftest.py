"""Fixtures of pages: one browser for all tests of a module, and reports that several tests read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import report
from tests.reports import browser as browsers
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium for one module: while it is there, an event loop runs that others must not find."""
    with browsers.started() as started:
        yield started


@pytest.fixture
def opened(browser: Browser) -> Iterator[browsers.Opened]:
    """A page 1400 wide; the test fails if it complains of anything or wants anything from a network."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    made = browsers.Opened(page)
    try:
        yield made
        assert made.errors == []
        assert made.wanted == []
    finally:
        page.close()


@pytest.fixture(scope="session")
def ka(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result folder of 10 s over a Ka-band link, and beside it its report, `ka.html`."""
    folder = tmp_path_factory.mktemp("reports") / "ka"
    leobench.run(ROOT / "scenarios" / "ka.toml", 1, {"duration": "10 s"}, out=folder)
    report.write([folder], folder.with_suffix(".html"))
    return folder
