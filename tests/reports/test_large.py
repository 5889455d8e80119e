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

    from tests.reports.browser import Opened

# Milliseconds from the request of the page to its drawn panels, the best of some attempts.
LONGEST_MS, ATTEMPTS = 3_000, 3


@pytest.mark.alone
def test_a_million_rows_open_within_three_seconds(tmp_path: Path, opened: Opened) -> None:
    scenario = tmp_path / "long.toml"
    long = QUICK.replace('"2 s"', '"600 s"').replace("10 Mbps", "20 Mbps").replace("5 Mbps", "13.4 Mbps")
    scenario.write_text(long, encoding="utf-8")
    leobench.run(scenario, out=tmp_path / "long")
    (run,) = gather.gather([tmp_path / "long"]).runs
    assert run.tables["messages"].rows > 1_000_000
    file = report.write([tmp_path / "long"], tmp_path / "long.html")
    times = []
    for _ in range(ATTEMPTS):
        page = opened.open(file)
        assert page.locator('[data-panel="delay"]').count() == 1
        times.append(page.evaluate("performance.getEntriesByName('ready')[0].startTime"))
    drawn = [value for value in columns(page, "delay")[1] if value is not None]
    # Few points are drawn, two for each pixel at most, and none of the extremes is missing.
    assert 1_000 < len(drawn) < 3_000
    delays = leobench.open(tmp_path / "long").summary["flows"][0]["delay_ms"]
    assert max(drawn) == pytest.approx(delays["max"] / 1e3, rel=0.01)
    assert min(times) < LONGEST_MS, times
