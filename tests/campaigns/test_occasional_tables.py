"""Tables in a campaign that only some runs have: those in orbit, and those of videos."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import leobench
from leobench.campaign import Campaign
from tests.support import campaigns

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CITIES, FILM = SCENARIOS / "ten-cities.toml", SCENARIOS / "film.toml"
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


def test_segments_are_kept_for_every_run(tmp_path: Path) -> None:
    """Nothing else of the campaign asks for series."""
    file = tmp_path / "segments.toml"
    file.write_text(
        f'name = "segments"\nscenario = "{FILM}"\nreplicates = 2\ntables = ["segments"]\n'
        'metrics = ["flows.film.video.bitrate_bps"]\n[set]\n"flows.film.video.length" = "40 s"\n',
        encoding="utf-8",
    )
    result = leobench.sweep(file, tmp_path / "out", workers=1)
    assert result.failures.height == 0
    kept = leobench.CampaignResult.open(tmp_path / "out").tables.segments
    assert kept.group_by("replicate").len().sort("replicate")["len"].to_list() == [10, 10]
    first = Campaign.load(file).plan()[0]
    alone = leobench.run(FILM, first.seed, first.overrides).tables.segments
    assert kept.filter(replicate=1).drop("variant", "replicate").equals(alone)


@pytest.mark.parametrize(("table", "what"), [("hops", "hops in orbit"), ("segments", "video")])
def test_runs_without_them_fail_with_the_reason(table: str, what: str, tmp_path: Path) -> None:
    file = campaigns.write(tmp_path, ('["messages", "channel"]', f'["messages", "{table}"]'))
    failures = leobench.sweep(file, tmp_path / "out", workers=1).failures
    assert failures["error"].unique().to_list() == [f"has no table `{table}`: it recorded no {what}"]
    assert failures.height == 12
