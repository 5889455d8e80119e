"""Tables in a campaign that only runs in orbit have."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import leobench
from leobench.campaign import Campaign
from tests.support import campaigns

CITIES = Path(__file__).parents[2] / "scenarios" / "ten-cities.toml"
CAMPAIGN = """\
name = "hops"
scenario = "{scenario}"
replicates = 2
metrics = ["traffic.goodput_bps"]
tables = ["hops"]

[set]
"duration" = "1 s"
"until" = "time"
"constellation.isl" = {{ rate = "10 Mbps", queue = {{ kind = "fifo", limit = "100 packets" }} }}
"constellation.ground" = {{ rate = "10 Mbps", queue = {{ kind = "fifo", limit = "100 packets" }} }}

[[grid]]
"traffic.arrivals.load" = ["10 Mbps", "30 Mbps"]
"""


def test_hops_are_kept_for_every_run(tmp_path: Path) -> None:
    """The kept rows are those of the same run outside the campaign."""
    file = tmp_path / "hops.toml"
    file.write_text(CAMPAIGN.format(scenario=CITIES), encoding="utf-8")
    result = leobench.sweep(file, tmp_path / "out", workers=1)
    hops = leobench.CampaignResult.open(tmp_path / "out").tables.hops
    assert hops.group_by("variant", "replicate").len().height == 4
    assert result.failures.height == 0
    first = Campaign.load(file).plan()[0]
    alone = leobench.run(CITIES, first.seed, {**first.overrides, "record.series": True}).tables.hops
    kept = hops.filter(pl.col("variant") == first.variant, pl.col("replicate") == 1)
    assert kept.drop("variant", "replicate").equals(alone)


def test_runs_without_hops_fail_with_the_reason(tmp_path: Path) -> None:
    file = campaigns.write(tmp_path, ('["messages", "channel"]', '["messages", "hops"]'))
    failures = leobench.sweep(file, tmp_path / "out", workers=1).failures
    assert failures["error"].unique().to_list() == ["has no table `hops`: it recorded no hops in orbit"]
    assert failures.height == 12
