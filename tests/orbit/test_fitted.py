"""A link through a constellation with a fit: `leobench orbit` shows and exports both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import cli
from leobench.overrides import as_text
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HOUR = ROOT / "scenarios" / "starlink-hour.toml"

# An outage of 500 ms begins with each slot. Everything else changes with steps of 100 ms.
FIT = {
    "format": "leobench-fit",
    "version": 1,
    "name": "test",
    "delay": {"process": {"floor": 18, "location": 3, "scale": 0.5, "shares": {"slot": 0.5, "fast": 0.5}}},
    "downlink": {
        "capacity": {"location": 4, "scale": 0.3, "shares": {"slot": 0.5, "fast": 0.5}},
        "loss": {"clean": 0.01, "lossy": 0.2, "to_lossy": 0.5, "to_clean": 0.5},
    },
    "outages": {"at_boundary": 1, "length": {"median_s": 0.5}},
}


@pytest.fixture
def fitted(tmp_path: Path) -> dict[str, Any]:
    """The changes of `starlink-hour` for a minute over the fit."""
    file = tmp_path / "test.json"
    file.write_text(json.dumps(FIT), encoding="utf-8")
    channel = {"kind": "starlink", "fit": str(file), "uplink_rate": "12 Mbps", "step": "100 ms"}
    link = {"between": ["roof", "pop"], "constellation": {"terminal": "seattle"}, "channel": channel}
    return {"links.sky": link, "duration": "1 min", "flows.download.source": {"kind": "bulk", "size": "1 kB"}}


def test_an_export_has_the_parts_of_the_fit(fitted: dict[str, Any], tmp_path: Path) -> None:
    """It is read back as the channel `schedule`, and offers what the link through the constellation does."""
    out = tmp_path / "out"
    changes = [word for place, value in fitted.items() for word in ("--set", f"{place}={as_text(value)}")]
    options = ["--interval", "0.1", "--export", "schedule", "--out", str(out)]
    assert cli.main(["orbit", str(HOUR), *changes, *options]) == 0
    backward = {"channel": {"kind": "schedule", "file": str(out / "sky-backward.schedule.csv")}}
    link = {"between": ["roof", "pop"], "forward": {"rate": "12 Mbps"}, "backward": backward}
    replayed = leobench.run(HOUR, overrides=fitted | {"links.sky": link, "constellation": None})
    original = leobench.run(HOUR, overrides=fitted)
    both = channel(replayed).join_asof(channel(original), on="t_ns", suffix="_of_both")
    assert both.height > 500
    assert (both["up"] == both["up_of_both"]).all()
    down = both.filter(~pl.col("up"))
    assert (down["t_ns"] // 500_000_000).unique().to_list() == [24, 54, 84, 114]
    for column, most in {"rate_bps": 1, "delay_ns": 1, "loss": 1e-6}.items():
        up = both.filter("up")
        assert ((up[column] - up[f"{column}_of_both"]).abs() <= most).all(), column
    assert both["loss"].n_unique() == 3, "clean, lossy, and an outage"


def channel(run: leobench.Result) -> pl.DataFrame:
    """States of the downlink over time."""
    rows = run.tables.channel.filter(link="sky/pop->roof")
    return rows.select("t_ns", "rate_bps", "delay_ns", "loss", "up").sort("t_ns")
