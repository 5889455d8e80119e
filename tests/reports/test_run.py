"""The report on a run, as a reader uses it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest
from playwright.sync_api import expect

import leobench
from leobench import report
from tests.reports.browser import columns, saved
from tests.support.paths import ROOT
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.reports.browser import Opened


def shown_range(page: Page) -> str:
    return page.locator(".toolbar .range").first.inner_text()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_page_shows_the_numbers_of_the_summary(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    opened.draw_all()
    flow = leobench.open(ka).summary["flows"][0]
    cards = page.locator(".cards").inner_text()
    assert f"{flow['goodput_bps'] / 1e6:.1f} Mbit/s" in cards
    assert f"{flow['delay_ms']['p50']:.1f} ms" in cards
    panels = [panel.get_attribute("data-panel") for panel in page.locator("[data-panel]").all()]
    assert panels[:5] == ["throughput", "delay", "rtt", "window", "queue"]
    assert {"rate", "states", "events"} <= set(panels)


def test_a_chart_has_the_extremes_of_its_table(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    opened.draw_all()
    queues = leobench.open(ka).tables.queues
    drawn = columns(page, "queue")[1]
    peak = queues.filter(link=queues["link"][0])["backlog_bytes"].max()
    assert max(value for value in drawn if value is not None) == peak
    delays = leobench.open(ka).tables.messages.select((pl.col("delivered_ns") - pl.col("created_ns")) / 1e9)
    drawn = columns(page, "delay")[1]
    present = [value for value in drawn if value is not None]
    assert min(present) == pytest.approx(delays.to_series().min(), rel=1e-9)
    assert max(present) == pytest.approx(delays.to_series().max(), rel=1e-9)


def test_dragging_zooms_all_charts_and_a_double_click_shows_the_whole_run(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    opened.draw_all()
    whole = shown_range(page)
    chart = page.locator('[data-panel="throughput"] .u-over')
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60, steps=5)
    page.mouse.up()
    end = leobench.open(ka).summary["virtual_s"]
    for panel in ("throughput", "queue", "rate"):
        times = columns(page, panel)[0]
        assert times[0] == pytest.approx(0.25 * end, abs=0.01 * end)
        assert times[-1] == pytest.approx(0.5 * end, abs=0.01 * end)
    assert shown_range(page) != whole
    chart.dblclick(position={"x": 300, "y": 50})
    times = columns(page, "queue")[0]
    assert times[-1] == pytest.approx(end, rel=0.01)
    assert times[0] == pytest.approx(0.0, abs=0.01 * end)


def test_the_cursor_reads_the_same_time_in_all_charts(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    opened.draw_all()
    chart = page.locator('[data-panel="throughput"] .u-over')
    chart.scroll_into_view_if_needed()
    chart.hover(position={"x": 500, "y": 50})
    at = float(shown_range(page).removeprefix("at ").removesuffix(" s"))
    result = leobench.open(ka)
    read = page.locator('[data-panel="rate"] .chip output').first.inner_text()
    channel = result.tables.channel
    link = channel["link"][0]
    before = channel.filter((pl.col("link") == link) & (pl.col("t_ns") <= at * 1e9))
    assert (
        read == f"{before['rate_bps'][-1] / 1e6:.0f} Mbit/s"
        or read == f"{before['rate_bps'][-1] / 1e6:.1f} Mbit/s"
    )
    assert page.locator('[data-panel="queue"] .chip output').first.inner_text().endswith("B")
    left = [line.bounding_box() for line in page.locator(".u-cursor-x").all()]
    assert len({round(box["x"]) for box in left if box is not None}) == 1


def test_a_series_and_a_table_are_saved_as_csv(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    opened.draw_all()
    result = leobench.open(ka)
    own = rows(saved(page, '[data-panel="queue"] .panel-buttons button'))
    queues = result.tables.queues
    assert len(own) == queues.height
    first = queues["link"][0]
    assert [float(row["value_B"]) for row in own if row["series"] == first] == queues.filter(link=first)[
        "backlog_bytes"
    ].to_list()
    page.locator(".downloads summary").click()
    whole = saved(page, ".downloads li:has-text('messages') button")
    assert pl.read_csv(io.StringIO(whole), schema_overrides=result.tables.messages.schema).equals(
        result.tables.messages
    )


def test_series_are_switched_by_the_legend(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    chip = page.locator('[data-panel="throughput"] .chip').last
    assert any(value is not None for value in columns(page, "throughput")[-1])
    chip.click()
    assert all(value is None for value in columns(page, "throughput")[-1])


def test_a_stream_is_shown_alone(tmp_path: Path, opened: Opened) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text(QUICK + "streams = 2\n", encoding="utf-8")
    leobench.run(scenario, out=tmp_path / "two")
    page = opened.open(report.write([tmp_path / "two"], tmp_path / "two.html"))
    row = page.locator("#table-of-streams tbody tr").nth(1)
    row.click()
    pressed = page.locator('[data-panel="delay"] .chip[aria-pressed="true"]')
    expect(pressed).to_have_count(1)
    assert pressed.inner_text() == "main, s2"
    row.click()
    expect(pressed).to_have_count(2)


def test_a_run_without_flows_is_shown(ka: Path, tmp_path: Path, opened: Opened) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(ka, folder)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    (folder / "summary.json").write_text(json.dumps({**summary, "flows": [], "links": []}), encoding="utf-8")
    page = opened.open(report.write([folder], tmp_path / "bare.html"))
    opened.draw_all()
    assert page.locator('[data-panel="queue"]').count() == 1


def test_the_scenario_of_the_page_repeats_the_run(ka: Path, opened: Opened, tmp_path: Path) -> None:
    page = opened.open(ka.with_suffix(".html"))
    page.locator(".scenario summary").click()
    command = page.locator(".scenario .command code").inner_text()
    file = tmp_path / command.removeprefix("leobench run ")
    file.write_text(saved(page, ".scenario button"), encoding="utf-8")
    again = leobench.run(file)
    assert json.dumps(again.summary) == json.dumps(leobench.open(ka).summary)


def test_the_theme_changes(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.locator(".theme").click()
    assert page.evaluate(colour) != before


def test_an_endless_flow_neither_completes_nor_misses_anything(tmp_path: Path, opened: Opened) -> None:
    leobench.run(ROOT / "scenarios" / "bufferbloat.toml", 1, {"duration": "2 s"}, out=tmp_path / "bulk")
    flows = leobench.open(tmp_path / "bulk").summary["flows"]
    at = next(
        at for at, flow in enumerate(flows) if (flow["messages"], flow["undelivered_messages"]) == (1, 1)
    )
    page = opened.open(report.write([tmp_path / "bulk"], tmp_path / "bulk.html"))
    assert "COMPLETION" not in page.locator(".cards").inner_text().upper()
    heads = page.locator("#table-of-flows thead th").all_inner_texts()
    cells = page.locator("#table-of-flows tbody tr").nth(at).locator("th, td").all_inner_texts()
    assert cells[heads.index("not delivered")] == "\u2013"


def test_the_header_names_the_commit_and_words_in_backticks_are_code(
    ka: Path, tmp_path: Path, opened: Opened
) -> None:
    folder = tmp_path / "told"
    shutil.copytree(ka, folder)
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest |= {"commit": "0123abc", "validity": {"verdict": "warnings", "warnings": ["see `events` <b>"]}}
    file.write_text(json.dumps(manifest), encoding="utf-8")
    page = opened.open(report.write([folder], tmp_path / "told.html"))
    assert "commit 0123abc" in page.locator("header").inner_text()
    assert page.locator(".verdict li").inner_text() == "see events <b>"
    assert page.locator(".verdict li code").inner_text() == "events"


def test_all_charts_are_drawn_before_the_page_is_printed(ka: Path, opened: Opened) -> None:
    page = opened.open(ka.with_suffix(".html"))
    page.wait_for_selector("#series[data-read]")
    assert page.locator(".placeholder").count() > 0
    left = "() => (dispatchEvent(new Event('beforeprint')), document.querySelectorAll('.placeholder').length)"
    assert page.evaluate(left) == 0
