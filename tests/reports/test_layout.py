"""The look of pages: nothing is cut off without a cue, and series can be told apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import leobench
from leobench import report
from leobench.report import gather
from leobench.report import page as pages
from leobench.report.content import Content
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.reports.browser import Opened

# Widths of a laptop and of a phone.
WIDE, NARROW = 1400, 420


@pytest.fixture(scope="module")
def both(ka: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two runs of one scenario."""
    folder = tmp_path_factory.mktemp("both")
    leobench.run(ROOT / "scenarios" / "ka.toml", 2, {"duration": "5 s"}, out=folder / "other")
    return report.write([ka, folder / "other"], folder / "both.html")


def at(opened: Opened, file: Path, width: int) -> Page:
    """A page of some width with all its panels."""
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.open(file)
    opened.draw_all()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    return page


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_legends_are_whole(width: int, both: Path, opened: Opened) -> None:
    page = at(opened, both, width)
    cut = """each => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth"""
    legends = page.locator(".legend").all()
    assert len(legends) > 5
    assert [each.inner_text() for each in legends if each.evaluate(cut)] == []


def test_series_that_are_off_are_named_on_request(both: Path, opened: Opened) -> None:
    page = at(opened, both, NARROW)
    panel = page.locator('[data-panel="window"]')
    assert panel.locator(".chip:visible").count() == 2
    more = panel.locator("button.more")
    assert more.inner_text() == "4 more"
    more.click()
    assert panel.locator(".chip:visible").count() == 6
    panel.locator(".chip", has_text="seed 2: main: in flight").click()
    more.click()
    assert panel.locator(".chip:visible").count() == 3
    assert more.inner_text() == "3 more"


def test_a_table_wider_than_its_place_says_so(ka: Path, opened: Opened) -> None:
    page = at(opened, ka.with_suffix(".html"), WIDE)
    flows = page.locator("#table-of-flows")
    assert flows.locator(".scroll").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    expect(flows.locator(".scrolls")).to_have_text("")
    page = at(opened, ka.with_suffix(".html"), NARROW)
    # A browser looks at sizes after it has laid out the page, so the cue comes a frame later.
    expect(flows.locator(".scrolls")).to_have_text("scroll for all columns \u2192")
    shade = "each => getComputedStyle(each, '::before').opacity"
    assert flows.locator(".scroll-box").evaluate(shade) == "1"
    flows.locator(".scroll").evaluate("each => each.scrollBy(10000, 0)")
    page.wait_for_function(
        "() => !document.querySelector('#table-of-flows .scroll-box').classList.contains('right')"
    )
    assert flows.locator(".scroll-box").evaluate(shade) == "0"
    assert flows.locator("tbody th").first.is_visible()


def test_names_of_lanes_are_not_struck_through(ka: Path, opened: Opened) -> None:
    page = at(opened, ka.with_suffix(".html"), WIDE)
    panel = page.locator('[data-panel="events"]')
    names = panel.locator(".lane").all()
    assert len(names) > 2
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    tops = []
    for name in names:
        # A name covers the lines of the grid, and lies above the ticks of its lane.
        assert name.evaluate("each => getComputedStyle(each).backgroundColor") == paper
        box = name.bounding_box()
        assert box is not None
        tops.append(box["y"])
    assert {round(low - high) for high, low in pairwise(tops)} == {32}


def looks(page: Page, panel: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        "id => document.querySelector(`[data-panel='${id}']`).chart.shown"
        ".filter(each => !each.off && !each.area)"
        ".map(({look, line}) => ({dash: look.dash, drawn: getComputedStyle(line).strokeDasharray}))",
        panel,
    )
    return found


def test_lines_differ_in_dashes_for_print_in_grey(both: Path, tmp_path: Path, opened: Opened) -> None:
    leobench.run(ROOT / "scenarios" / "two-flows.toml", 1, {"duration": "12 s"}, out=tmp_path / "two")
    two = report.write([tmp_path / "two"], tmp_path / "two.html")
    for file, panels in ((both, ("delay", "rtt", "window", "queue")), (two, ("throughput", "window"))):
        page = at(opened, file, WIDE)
        for panel in panels:
            found = looks(page, panel)
            assert len(found) == 2, panel
            assert len({tuple(each["dash"]) for each in found}) == 2, panel
            assert len({each["drawn"] for each in found}) == 2, panel


CONCLUSION = {
    "claim": "a",
    "stated": "",
    "ours": False,
    "says": "The mean delay of the first is the larger one.",
    "case": "rr",
    "relation": "ratio > 1",
    "outcome": "holds",
    "holds_under": [""],
    "findings": [{"reading": "", "verdict": "holds", "value": 1.5, "low": 1.2, "high": 1.8, "runs": 5}],
}


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_claims_and_warnings_of_a_campaign_fit(
    width: int, buffers: Path, tmp_path: Path, opened: Opened
) -> None:
    figure = {
        "paper": "p",
        "figure": "fig1",
        "title": "Fig. 1",
        "quick": False,
        "replicates": 5,
        "variants": 2,
        "citation": "",
        "folder": "p",
        "command": "leobench reproduce p",
        "conclusions": [CONCLUSION] * 30,
        "outcomes": ["holds"],
        "drawing": None,
    }
    (campaign,) = gather.gather([buffers / "results" / "buffers"]).campaigns
    warning = {"variant": "limit=7", "kind": "stalled", "runs": 3, "warning": "the `events` table says why"}
    content = Content("reproduction", "p", figures=[figure], campaigns=[{**campaign, "warnings": [warning]}])
    file = tmp_path / "claims.html"
    file.write_text(pages.report(content), encoding="utf-8")
    page = at(opened, file, width)
    page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
    for name in ("claims-fig1", "campaign-0-warnings"):
        table = page.locator(f"#table-of-{name}")
        inside = "each => [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight]"
        assert max(table.locator(".scroll").evaluate(inside)) <= 0, name
    shown = page.locator("#table-of-claims-fig1 tbody tr").first.inner_text()
    assert all(word in shown for word in ("holds", "1.50 [1.20, 1.80]", "ratio > 1"))
    cell = page.locator("#table-of-campaign-0-warnings td", has_text="events")
    assert cell.inner_text() == "the events table says why"
    assert cell.locator("code").inner_text() == "events"


def test_print_has_legends_and_heads_of_tables(both: Path, opened: Opened) -> None:
    page = at(opened, both, WIDE)
    page.emulate_media(media="print")
    assert page.locator('[data-panel="rtt"] .chip:visible').count() == 2
    assert page.locator("#table-of-runs thead button:visible").count() > 5
    assert page.locator(".quiet:visible").count() == 0
