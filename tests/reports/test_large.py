"""A long run opens fast: ten minutes, more than a million rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import report
from leobench.report import gather
from tests.reports.browser import columns
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import CDPSession

    from tests.reports.browser import Opened

# Seconds of processor time, all threads of the page together, from request to drawn panels: on a machine that
# does nothing else, no more time passes. A clock would count the tests that run beside this one, too.
LONGEST_S = 3.0


def spent_s(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "ProcessTime")


def test_a_million_rows_open_within_three_seconds(tmp_path: Path, opened: Opened) -> None:
    scenario = tmp_path / "long.toml"
    long = QUICK.replace('"2 s"', '"600 s"').replace("10 Mbps", "20 Mbps").replace("5 Mbps", "13.4 Mbps")
    scenario.write_text(long, encoding="utf-8")
    leobench.run(scenario, out=tmp_path / "long")
    (run,) = gather.gather([tmp_path / "long"]).runs
    assert run.tables["messages"].rows > 1_000_000
    file = report.write([tmp_path / "long"], tmp_path / "long.html")
    session = opened.page.context.new_cdp_session(opened.page)
    session.send("Performance.enable")
    page = opened.open(file)
    spent = spent_s(session)
    assert page.locator('[data-panel="delay"]').count() == 1
    drawn = [value for value in columns(page, "delay")[1] if value is not None]
    # Few points are drawn, two for each pixel at most, and none of the extremes is missing.
    assert 1_000 < len(drawn) < 3_000
    delays = leobench.open(tmp_path / "long").summary["flows"][0]["delay_ms"]
    assert max(drawn) == pytest.approx(delays["max"] / 1e3, rel=0.01)
    assert spent < LONGEST_S
