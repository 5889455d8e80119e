"""The guide's table of BBR under random loss is what its campaign measures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from leobench.campaign import Campaign, run_campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "reports" / "congestion-controllers.md").read_text(encoding="utf-8")
ROW = r"^\| [\d.]+ % \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$"


@pytest.mark.slow
def test_the_table_is_what_the_campaign_measures(tmp_path: Path) -> None:
    result = run_campaign(Campaign.load(ROOT / "campaigns" / "random-loss.toml"), tmp_path / "out")
    means = result.runs.group_by("variant", maintain_order=True).agg(pl.col("value").mean() / 1e6)
    shown = [float(cell) for row in re.findall(ROW, PAGE, re.MULTILINE) for cell in row]
    assert len(shown) == 20
    assert means["value"].to_list() == pytest.approx(shown, rel=0.02, abs=0.05)
