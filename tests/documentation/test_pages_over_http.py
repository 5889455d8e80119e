"""The guide to applications says what its campaign over versions of HTTP measures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from leobench import sweep
from leobench.campaign import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CAMPAIGN = ROOT / "campaigns" / "pages-over-http.toml"
ROWS = {"fading only": "", "1 % loss, too": "-loss"}


def test_the_campaign_is_sound() -> None:
    assert len(Campaign.load(CAMPAIGN).plan()) == 7 * 40


@pytest.mark.slow
def test_the_table_of_versions_of_http(tmp_path: Path) -> None:
    runs = sweep(CAMPAIGN, tmp_path / "results").runs
    runs = runs.filter(pl.col("metric") == "flows.web.page.completion_s")
    means = dict(runs.group_by("variant").agg(pl.col("value").mean()).iter_rows())
    page = (ROOT / "docs" / "howto" / "model-an-application.md").read_text(encoding="utf-8")
    for row, suffix in ROWS.items():
        (cells,) = re.findall(rf"^\| {row} \| (.*) \|$", page, re.MULTILINE)
        for version, cell in zip(("http3", "http2", "http1"), cells.split(" | "), strict=True):
            assert f"{means[version + suffix]:.2f} s" == cell, (row, version)
    assert f"HTTP/3 takes {means['http3-large-loss']:.2f} s." in page
