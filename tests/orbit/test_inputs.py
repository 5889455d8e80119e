"""Constellations from files: element sets, tracks, lists of gateways; and the rates of link budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import cli, orbit_exports
from leobench.overrides import as_text
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# One satellite that passes over the north-west of America at 12:20 (its own elements, not a real one's).
ELEMENTS = """\
ONE
1 44714U 19074B   26078.50000000  .00001000  00000-0  85000-4 0  999
2 44714  53.0540 100.0000 0001400  80.0000 280.0000 15.0639000030000
"""

SCENARIO = """\
name = "plane"
duration = "13 min"
record = { interval = "1 s" }
nodes = { plane = {}, ground = {} }

[constellation]
satellites = { elements = "one.tle" }
start = "2026-03-20T12:20:00Z"
policy = "highest"
lowest_elevation = "5 deg"
gateway_list = "gateways.csv"

[constellation.terminals.plane]
track = "track.csv"

[links.up]
between = ["plane", "ground"]
constellation.terminal = "plane"
forward = { rate = "2 Mbps" }

[links.up.constellation.downlink]
frequency = "12 GHz"
bandwidth = "50 MHz"
transmitter = { eirp = "36 dBW" }
receiver = { g_over_t = "9.2 dB/K" }

[flows.main]
transport = "udp"
from = "ground"
to = "plane"
source = { kind = "cbr", rate = "100 kbps", size = "1000 B" }
"""


def checked(line: str) -> str:
    """A line of an element set with its checksum: the sum of its digits, a minus sign counting 1."""
    if line[:2] not in ("1 ", "2 "):
        return line
    return line + str(sum(1 if c == "-" else int(c) if c.isdigit() else 0 for c in line) % 10)


def write_plane(folder: Path) -> Path:
    """Writes a scenario of a plane at 800 km/h under one satellite, and its files."""
    lines = "\n".join(checked(line) for line in ELEMENTS.splitlines())
    (folder / "one.tle").write_text(lines + "\n", encoding="utf-8")
    track = "time,latitude,longitude,altitude\n0,47.0,-123.0,10000\n780,48.5,-122.0,11000\n"
    (folder / "track.csv").write_text(track, encoding="utf-8")
    gateways = "name,latitude,longitude\nRedmond,47.674,-122.1215\nFar Away,-33.8,151.1\n"
    (folder / "gateways.csv").write_text(gateways, encoding="utf-8")
    file = folder / "plane.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


@pytest.fixture
def plane(tmp_path: Path) -> Path:
    return write_plane(tmp_path)


def test_a_satellite_passes_over_a_plane_and_a_listed_gateway(plane: Path) -> None:
    seen = leobench.survey(plane)
    (each,) = seen.passes.iter_rows(named=True)
    assert (each["terminal"], each["satellite"]) == ("plane", "ONE")
    served = seen.samples.drop_nulls("satellite")
    assert 300 < served.height < 700
    assert set(served["gateway"]) == {"Redmond"}
    result = leobench.run(plane)
    (flow,) = result.summary["flows"]
    assert 0 < flow["undelivered_messages"] < flow["messages"]
    assert flow["dropped_packets"]["down"] > 0


def test_a_moving_terminal_sees_the_satellite_elsewhere(plane: Path) -> None:
    place = {"latitude": "47 deg", "longitude": "-123 deg", "altitude": "10 km"}
    fixed = leobench.survey(plane, overrides={"constellation.terminals.plane": place})
    both = (
        leobench.survey(plane)
        .samples.join(fixed.samples, on="t_s")
        .drop_nulls(["range_km", "range_km_right"])
    )
    apart = (both["range_km"] - both["range_km_right"]).abs()
    # 180 km in 13 minutes; the satellite is never further from one than that from the other.
    assert apart[0] < 60
    assert 30 < apart.max() < 185  # type: ignore[operator]


def test_rates_follow_the_budget(plane: Path) -> None:
    rows = leobench.survey(plane).samples.drop_nulls("satellite")
    # C/N0 = EIRP + G/T - 20 log(4 pi d f / c) + 228.599 dB; the rate is Shannon's.
    spread = 20 * np.log10(4 * np.pi * rows["range_km"].to_numpy() * 1e3 * 12e9 / 299_792_458)
    expected = 36 + 9.2 - spread + 228.5992 - 10 * np.log10(50e6)
    assert np.allclose(rows["downlink_db"].to_numpy(), expected, atol=1e-3)
    shannon = 50 * np.log2(1 + 10 ** (rows["downlink_db"].to_numpy() / 10))
    assert np.allclose(rows["downlink_mbps"].to_numpy(), shannon, rtol=1e-6)
    assert (rows["uplink_mbps"] == 2.0).all()


def test_fading_and_a_cell_act_on_the_rate(plane: Path) -> None:
    at = "links.up.constellation"
    plain = leobench.survey(plane).samples.drop_nulls("satellite")
    fading = {"kind": "log_normal", "deviation": "2 dB", "correlation": "3 s"}
    faded = leobench.survey(plane, overrides={f"{at}.fading": fading}).samples.drop_nulls("satellite")
    gain = faded["downlink_db"] - plain["downlink_db"]
    # Two decibels; some hundred seconds hold about a sixth as many independent values, so 15 % either way.
    assert 1.4 < gain.std() < 2.6  # type: ignore[operator]
    cell = {"capacity": "100 Mbps", "users": 19, "load": [1.0] * 24}
    shared = leobench.survey(plane, overrides={f"{at}.cell": cell}).samples.drop_nulls("satellite")
    assert (shared["downlink_mbps"] == pl.Series([min(5.0, rate) for rate in plain["downlink_mbps"]])).all()


def test_a_policy_by_signal_needs_a_budget(plane: Path) -> None:
    snr = {"constellation.policy": {"kind": "snr", "threshold": "8 dB"}}
    assert leobench.survey(plane, overrides=snr).samples["satellite"].drop_nulls().len() > 300
    plain = {"links.up.constellation": {"terminal": "plane"}, "links.up.backward": {"rate": "5 Mbps"}}
    with pytest.raises(leobench.ScenarioError, match="`snr` needs a signal level"):
        leobench.check(plane, snr | plain)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("one.tle", "53.0540", "53.0541", "one.tle, line 3: the checksum is"),
        ("one.tle", "ONE\n1 ", "ONE\n3 ", "one.tle, line 1: expected line 1 of an element set"),
        ("gateways.csv", "47.674", "north", "gateways.csv, line 2: latitude should be a number"),
        ("gateways.csv", "name,", "station,", 'gateways.csv, line 1: no column "name"'),
        ("track.csv", "780", "0", "track.csv, line 3: time"),
        ("track.csv", "47.0,-123.0,10000", "47.0,-123.0,-10000", "is below ground"),
    ],
)
def test_files_that_are_wrong_are_refused_by_line(
    plane: Path, file: str, old: str, new: str, said: str
) -> None:
    path = plane.parent / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(leobench.ScenarioError) as caught:
        leobench.check(plane)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_old_elements_are_warned_of_and_then_refused(plane: Path) -> None:
    later = {"constellation.start": "2026-03-28T12:00:00Z", "duration": "24 h", "constellation.step": "10 s"}
    seen = leobench.survey(plane, overrides=later, interval_s=60)
    (warning,) = seen.warnings
    assert warning.startswith("one.tle: 1 of 1 satellites have elements more than 7 days from the run")
    result = leobench.run(
        plane, overrides=later | {"flows.main.source.rate": "1 kbps", "record.interval": "1 min"}
    )
    assert result.warnings[0] == warning
    with pytest.raises(leobench.ScenarioError, match="at most 30 days are allowed"):
        leobench.check(plane, {"constellation.start": "2026-05-28T12:00:00Z"})


# The same orbit with so much drag that it ends within minutes.
DECAYING = """\
FALLING
1 44715U 19074C   26078.50000000  .00001000  00000-0  90000-0 0  999
2 44715  53.0540 100.0000 0001400  80.0000 280.0000 16.4000000030000
"""


def test_decayed_satellites_are_left_out_with_a_warning(
    plane: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = plane.parent / "one.tle"
    falling = "\n".join(checked(line) for line in DECAYING.splitlines())
    file.write_text(file.read_text(encoding="utf-8") + falling + "\n", encoding="utf-8")
    out = plane.parent / "out"
    assert cli.main(["run", str(plane), "--out", str(out)]) == 0
    warning = "one.tle: 1 of 2 satellites decay before the run ends and are left out: FALLING"
    assert warning in capsys.readouterr().err
    assert warning in leobench.open(out).warnings
    assert cli.main(["run", str(plane), "--set", "constellation.satellites.on_decayed=refuse"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "one.tle, line 5: FALLING: " in line
    assert "leave it out, or use on_decayed = `skip`" in line
    with pytest.raises(leobench.ScenarioError, match="allowed: `skip`, `refuse`"):
        leobench.check(plane, {"constellation.satellites.on_decayed": "warn"})


def test_a_sky_is_looked_at_for_a_stated_time(plane: Path) -> None:
    with pytest.raises(
        leobench.ScenarioError, match=r"^duration: is required but missing; allowed: a time above zero$"
    ):
        leobench.survey(plane, overrides={"duration": None, "flows": None})


def test_exports_carry_what_the_constellation_does(plane: Path, tmp_path: Path) -> None:
    """The pass as a `schedule` channel and as a mahimahi trace, read back by leobench."""
    out = tmp_path / "out"
    fixed = {"kind": "uniform", "from": "200 ms", "to": "200 ms"}
    short = {"duration": "4 min", "constellation.outage": fixed}
    changes = [word for place, value in short.items() for word in ("--set", f"{place}={as_text(value)}")]
    options = [*changes, "--interval", "0.1", "--out", str(out)]
    assert cli.main(["orbit", str(plane), *options, "--export", "schedule", "--export", "mahimahi"]) == 0
    original = leobench.run(plane, overrides=short).tables.channel.filter(
        pl.col("link") == "up/ground->plane"
    )
    replayed = leobench.run(
        plane, overrides=replay("schedule", "out/up-backward.schedule.csv") | {"duration": "4 min"}
    )
    again = replayed.tables.channel.filter(pl.col("link") == "up/ground->plane")
    both = again.sort("t_ns").join_asof(original.sort("t_ns"), on="t_ns")
    assert (both["up"] == both["up_right"]).all()
    both = both.filter("up")
    assert both.height > 800
    assert (both["delay_ns"] - both["delay_ns_right"]).abs().max() <= 1  # type: ignore[operator]
    assert ((both["rate_bps"] - both["rate_bps_right"]).abs() <= 1).all()
    # Each line of the trace is 1,500 bytes.
    lines = (out / "up-backward.mahimahi").read_text().split()
    seconds = np.diff([*original["t_ns"] / 1e9, 240.0])
    offered = float((original["rate_bps"] * pl.Series(seconds)).sum()) / 8
    assert len(lines) * 1500 == pytest.approx(offered, rel=1e-3)
    assert [int(line) for line in lines] == sorted(int(line) for line in lines)


def replay(kind: str, file: str) -> dict[str, object]:
    """The link with a table in place of the constellation."""
    forward = {"rate": "2 Mbps"}
    link = {
        "between": ["plane", "ground"],
        "forward": forward,
        "backward": {"channel": {"kind": kind, "file": file}},
    }
    return {"constellation": None, "links.up": link}


def test_an_outage_is_in_the_export() -> None:
    hour = ROOT / "scenarios" / "starlink-hour.toml"
    seen = leobench.survey(hour, overrides={"duration": "30 s"})
    rows = orbit_exports.pieces(seen, "sky", "backward")
    silent = rows.filter(rate_bps=0)["t_ns"].to_list()
    assert silent == [12_000_000_000, 27_000_000_000]
    ends = rows.filter(pl.col("t_ns").is_in([12_040_000_000, 27_040_000_000]))
    rates = seen.samples.filter(pl.col("t_s").is_in([12.0, 27.0]))["downlink_mbps"]
    assert (ends["rate_bps"] / 1e6 - rates).abs().max() < 1e-6  # type: ignore[operator]
    assert rates.min() > 1  # type: ignore[operator]


def test_an_export_needs_a_folder(plane: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["orbit", str(plane), "--export", "schedule"]) == 2
    assert "--export: needs a folder to write to; give --out" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main(["orbit", str(plane), "--export", "kml", "--out", "x"])
    assert "kml: unknown word; allowed: `schedule`, `mahimahi`, `czml`" in capsys.readouterr().err


def test_a_campaign_warns_of_old_elements_too(plane: Path) -> None:
    text = """\
name = "old"
scenario = "plane.toml"
replicates = 2
metrics = ["flows.main.goodput_bps"]

[set]
"constellation.start" = "2026-03-28T12:00:00Z"
"constellation.step" = "10 s"
"duration" = "24 h"
"flows.main.source.rate" = "1 kbps"
"record.interval" = "1 min"

[[grid]]
"links.up.forward.rate" = ["1 Mbps"]
"""
    (plane.parent / "old.toml").write_text(text, encoding="utf-8")
    result = leobench.sweep(plane.parent / "old.toml", plane.parent / "out", workers=1)
    assert result.failures.height == 0
    warned = result.warned().filter(kind="constellation")
    assert warned["runs"].to_list() == [2]
    assert "have elements more than 7 days from the run" in warned["warning"][0]
