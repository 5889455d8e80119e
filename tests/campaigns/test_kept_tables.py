"""Campaigns that keep a single table: it has the rows of a run that records everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import leobench
from leobench.campaign import Campaign
from leobench.folder import TABLES
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

SCENARIO = ROOT / "scenarios" / "trace.toml"
CAMPAIGN = """\
name = "single"
scenario = "{scenario}"
replicates = 1
metrics = ["flows.upload.goodput_bps"]
tables = ["{table}"]

[set]
"duration" = "3 s"
"""
EVERYTHING = {"record.messages": True, "record.series": True, "record.packets": True}
# Tables without rows in any run of this scenario.
EMPTY = {"handovers"}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> leobench.Result:
    run = planned(tmp_path_factory.mktemp("single"), "messages").plan()[0]
    return leobench.run(SCENARIO, run.seed, {**run.overrides, **EVERYTHING})


def planned(folder: Path, table: str) -> Campaign:
    file = folder / "single.toml"
    file.write_text(CAMPAIGN.format(scenario=SCENARIO, table=table), encoding="utf-8")
    return Campaign.load(file)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_alone_has_its_rows(table: str, tmp_path: Path, everything: leobench.Result) -> None:
    run = planned(tmp_path, table).plan()[0]
    kept: pl.DataFrame = getattr(leobench.run(SCENARIO, run.seed, run.overrides).tables, table)
    assert kept.equals(getattr(everything.tables, table))
    assert (kept.height == 0) == (table in EMPTY)
