"""Constellations: what `leobench orbit` shows, and that a run goes through the same sky."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import cli, plots
from leobench.overrides import as_text
from leobench.plots import orbit as orbit_plots
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

HOUR = ROOT / "scenarios" / "starlink-hour.toml"
CHAIN = ROOT / "scenarios" / "maco-chain.toml"
SHORT = {"duration": "90 s"}


def test_a_run_goes_through_the_sky_that_is_shown() -> None:
    seen = leobench.survey(HOUR, overrides=SHORT)
    result = leobench.run(HOUR, overrides=SHORT | {"flows.download.source": "bulk"})
    channel = result.tables.channel.filter(pl.col("link") == "sky/pop->roof")
    # Both have whole seconds; within the outage after a handover, the run has no satellite yet.
    both = (
        seen.samples.with_columns(t_ns=(pl.col("t_s") * 1e9).cast(pl.Int64))
        .sort("t_ns")
        .join_asof(channel.sort("t_ns"), on="t_ns")
        .filter(pl.col("label") != "handover")
    )
    assert both.height > 80
    assert (both["label"] == both["satellite"]).all()
    # The link adds 8 ms.
    assert ((both["delay_ns"] / 1e6 - 8 - both["delay_ms"]).abs() < 1e-9).all()
    assert ((both["rate_bps"] / 1e6 - both["downlink_mbps"]).abs() < 1e-9).all()
    assert both["rate_bps"].n_unique() > 80
    begins = result.tables.handovers.filter(stage="begin")
    moves = seen.handovers.filter(pl.col("from").is_not_null())
    assert begins["from_link"].to_list() == moves["from"].to_list()
    assert begins["to_link"].to_list() == moves["to"].to_list()
    assert (begins["t_ns"] / 1e9).to_list() == moves["t_s"].to_list()
    (flow,) = result.summary["flows"]
    assert flow["handovers"]["count"] == moves.height > 2


def test_every_pass_contains_the_time_in_which_its_satellite_serves() -> None:
    seen = leobench.survey(HOUR, overrides=SHORT)
    served = seen.samples.group_by("satellite").agg(first=pl.col("t_s").min(), last=pl.col("t_s").max())
    passes = served.join(seen.passes, on="satellite")
    inside = passes.filter((pl.col("rise_s") <= pl.col("first")) & (pl.col("set_s") >= pl.col("last")))
    assert inside.height == served.height > 3
    assert (seen.passes["highest_deg"] >= 25 - 1e-6).all()


def test_tables_and_figures_are_written(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "sky"
    assert cli.main(["orbit", str(HOUR), "--set", "duration=90s", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("starlink-hour: 4,408 satellites, 1 terminal, 6 gateways; 2026-03-20T12:00:00")
    assert f"more passes; all of them are in {folder}/passes.csv" in said
    assert "--out" not in said
    tables = {f"{name}.csv" for name in ("passes", "handovers", "samples", "slots", "routes")}
    figures = {f"{name}.png" for name in ("sky", "ground", "routes", "offered")}
    assert {file.name for file in folder.iterdir()} == tables | figures
    seen = leobench.survey(HOUR, overrides={"duration": "90 s"})
    assert pl.read_csv(folder / "passes.csv").height == seen.passes.height
    for figure in folder.glob("*.png"):
        assert figure.read_bytes().startswith(b"\x89PNG")
    assert cli.main(["orbit", str(HOUR), "--set", "duration=90s", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["satellites"] == 4408
    assert printed["links"] == json.loads(json.dumps(seen.links()))


def test_a_chain_has_no_ground(tmp_path: Path, capsys: Capture) -> None:
    chain = ROOT / "scenarios" / "maco-chain.toml"
    assert cli.main(["orbit", str(chain), "--out", str(tmp_path / "chain")]) == 0
    assert capsys.readouterr().out.startswith("maco-chain: a chain of satellites, 1 terminal, 0 gateways; ")
    assert not (tmp_path / "chain" / "ground.png").exists()
    assert (tmp_path / "chain" / "offered.png").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"constellation.terminals.seattle.altitude": "-2 km"}, ["below ground", "seattle.altitude"]),
        ({"constellation.lowest_elevation": "89.9 deg", "duration": "2 s"}, ["sees no satellite above 89.9"]),
        ({"constellation.lowest_elevation": "100 deg"}, ["an elevation from 0 to 90 degrees"]),
        ({"constellation.satellites": {"preset": "starlnk"}}, ["did you mean `starlink`"]),
        ({"constellation.gateway_list": "none.csv"}, ["constellation.gateway_list", "no such file"]),
        ({"links.sky.constellation.terminal": "roof"}, ["no such terminal", "`seattle`"]),
        ({"constellation.policy": "hihgest"}, ["did you mean `highest`"]),
        ({"constellation.step": "0 s"}, ["constellation.step", "is zero"]),
    ],
)
@pytest.mark.parametrize("command", ["orbit", "run", "check"])
def test_bad_input_is_one_line_and_exit_code_2(
    command: str, change: dict[str, object], said: list[str], tmp_path: Path, capsys: Capture
) -> None:
    options = [word for place, value in change.items() for word in ("--set", f"{place}={as_text(value)}")]
    out = [] if command == "check" else ["--out", str(tmp_path / "out")]
    assert cli.main([command, str(HOUR), *options, *out]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "allowed: " in error
    assert all(words in error for words in said), error
    assert not (tmp_path / "out").exists()


def test_a_scenario_without_a_constellation_is_refused(quick: Path, capsys: Capture) -> None:
    assert cli.main(["orbit", str(quick)]) == 2
    assert "quick: has no constellation; allowed: " in capsys.readouterr().err
    for wrong in ("0", "-1", "nan", "inf", "1e-9"):
        assert cli.main(["orbit", str(HOUR), f"--interval={wrong}"]) == 2
        error = capsys.readouterr().err
        assert f"--interval = {wrong.replace('1e-9', '1e-09')}: is not a sampling interval" in error
        assert "allowed: 0.001 s or more" in error


def test_a_timeline_does_not_name_every_satellite() -> None:
    result = leobench.run(HOUR, overrides={"duration": "30 s", "record.interval": "100 ms"})
    figure = plots.kind("timeline")(result)
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert sorted(names) == ["every second satellite", "satellites of roof"]
    written = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert not any("starlink" in text for text in written)


# Capes by common knowledge: longitude and latitude in degrees.
CAPES = {
    "Horn": (-67.3, -56.0),
    "Good Hope": (18.5, -34.4),
    "Finisterre": (-9.3, 42.9),
    "Comorin": (77.5, 8.1),
    "Flattery": (-124.7, 48.4),
}


def test_the_map_has_the_coasts_of_the_earth() -> None:
    lines = orbit_plots.coastlines()
    points = np.concatenate(lines)
    assert (np.abs(points) <= [180, 90]).all()
    assert max(np.abs(np.diff(line[:, 0])).max() for line in lines) < 30, "a line goes around the Earth"
    for name, cape in CAPES.items():
        assert np.hypot(*(points - cape).T).min() < 0.8, name
    # The middle of the South Atlantic and of Siberia have no coast.
    for nowhere in ((-15.0, -30.0), (100.0, 60.0)):
        assert np.hypot(*(points - nowhere).T).min() > 8


def test_coasts_do_not_widen_the_map() -> None:
    figure = orbit_plots.ground(leobench.survey(HOUR, overrides={"duration": "30 s"}))
    assert figure is not None
    west, east = figure.axes[0].get_xlim()
    assert -150 < west < -122 < east < -95


def test_a_folder_is_replaced_on_request_only(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "sky"
    command = ["orbit", str(HOUR), "--set", "duration=30s", "--out", str(out)]
    assert cli.main([*command, "--export", "mahimahi"]) == 0
    assert cli.main(command) == 2
    assert f"{out}: exists already; choose another folder" in capsys.readouterr().err
    assert cli.main([*command, "--force"]) == 0
    assert not list(out.glob("*.mahimahi"))
    (out / "thesis.txt").write_text("mine", encoding="utf-8")
    assert cli.main([*command, "--force"]) == 2
    assert "holds `thesis.txt`, which leobench did not write" in capsys.readouterr().err
    assert (out / "thesis.txt").exists()
    assert not list(tmp_path.glob(".*"))


def test_outages_are_not_served() -> None:
    long = {"constellation.outage": "3 s", "duration": "10 min"}
    (blind,), (whole,) = (
        leobench.survey(HOUR, overrides=each).links() for each in (long, {"duration": "10 min"})
    )
    changes = round(blind["handovers_per_hour"] / 6)
    assert blind["served"] == pytest.approx(1 - 3 * changes / 600, abs=1e-9)
    assert whole["served"] == pytest.approx(1 - 0.04 * changes / 600, abs=1e-9)


def test_the_end_of_a_run_is_not_part_of_it() -> None:
    """The second subflow has a satellite from 15 s on, a quarter of 20 s."""
    first, second = leobench.survey(CHAIN, overrides={"duration": "20 s"}).links()
    assert [first["served"], second["served"]] == [1.0, 0.25]


def test_a_long_look_heeds_an_interrupt() -> None:
    """Ten days of it would take an hour."""
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        leobench.survey(HOUR, overrides={"duration": "240 h"})
