"""Routes of links over satellites: the table of `leobench orbit`, that of a run, and the map."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

import leobench
from leobench import cli
from leobench.orbit import terminal_of
from leobench.plots import orbit, route_map
from leobench.scenario import load
from tests.orbit.cities import scenario
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.orbit import Survey

    Capture = pytest.CaptureFixture[str]

HOUR = ROOT / "scenarios" / "starlink-hour.toml"
CHAIN = ROOT / "scenarios" / "maco-chain.toml"
# Latitude and longitude in degrees.
CITIES = {"tokyo": (35.69, 139.69), "lima": (-12.05, -77.04), "paris": (48.86, 2.35)}
PAIRS = (("tokyo", "lima"), ("paris", "tokyo"))
# The speed of light in km/s.
LIGHT = 299_792.458


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("routes") / "routes.toml"
    isl = 'rate = "10 Mbps", queue = { kind = "fifo", limit = "50 packets" }'
    head = 'name = "routes"\nduration = "60 s"'
    file.write_text(scenario(head, CITIES, PAIRS, isl=isl, rate="100 kbps"))
    return file


@pytest.fixture(scope="module")
def seen(file: Path) -> Survey:
    return leobench.survey(file)


def test_a_run_takes_the_routes_that_are_shown(file: Path, seen: Survey) -> None:
    ways = leobench.run(file).tables.ways
    assert ways.height > 8
    for row in ways.iter_rows(named=True):
        link, _, ends = row["link"].partition("/")
        direction = "there" if ends == link.replace("-", "->") else "back"
        (shown,) = (
            each
            for each in route_map.at(seen.routes, row["t_ns"] / 1e9)
            if (each["link"], each["direction"]) == (link, direction)
        )
        names = ("from_station", "satellites", "to_station", "hops")
        assert {name: shown[name] for name in names} == {name: row[name] for name in names}
        if shown["t_s"] == row["t_ns"] / 1e9:
            assert shown["delay_ms"] == pytest.approx(row["delay_ns"] / 1e6, abs=1e-6)


def test_routes_are_as_long_as_the_lines_between_their_satellites(file: Path, seen: Survey) -> None:
    """Positions of satellites come from elsewhere than the delays of routes; the Earth is a sphere here."""
    from leobench import _core

    text = _core.places_below(load(file, flows="optional"), 0.0)
    assert text is not None
    places = {kind: orbit.on_map(each) for kind, each in json.loads(text).items()}
    start = [row for row in route_map.at(seen.routes, 0.0) if row["satellites"] is not None]
    assert len(start) == 2 * len(PAIRS)
    for row in start:
        points = np.radians(route_map.line(row, places))
        heights = np.array([0.0, *[630.0] * (len(points) - 2), 0.0]) + 6371.0
        east, north = points.T
        ecef = heights * [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)]
        length_km = np.linalg.norm(np.diff(ecef), axis=0).sum()
        assert len(points) == row["hops"] + 3
        # Heights and latitudes are over the ellipsoid, which is off by up to 21 km.
        assert row["delay_ms"] == pytest.approx(length_km / LIGHT * 1e3, rel=0.02)


def test_a_route_without_lasers_is_the_serving_satellite() -> None:
    seen = leobench.survey(HOUR, overrides={"duration": "90 s"})
    there = seen.routes.filter(direction="there").sort("t_s")
    both = seen.samples.join_asof(there, on="t_s", by="link", suffix="_route")
    assert both.height > 80
    assert (both["satellite"] == both["satellites"]).all()
    assert (both["gateway"] == both["to_station"]).all()
    assert there["hops"].unique().to_list() == [0]
    changes = there.with_columns(pl.concat_str("satellites", "to_station"))["satellites"]
    assert (changes != changes.shift()).fill_null(value=True).all()
    back = seen.routes.filter(direction="back")
    assert (back["to_station"] == "seattle").all()
    assert leobench.survey(CHAIN).routes.height == 0, "satellites of a chain have no places"


def test_the_map_leads_from_station_to_station(file: Path, seen: Survey) -> None:
    figure = route_map.draw(load(file, flows="optional"), seen, 30.0)
    assert figure is not None
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["tokyo-lima", "paris-tokyo"]
    drawn = {one.get_label(): one for one in axes.collections if isinstance(one, LineCollection)}
    for (start, end), name in zip(PAIRS, names, strict=True):
        ends = np.concatenate([path.vertices for path in drawn[name].get_paths()])
        for latitude, longitude in (CITIES[start], CITIES[end]):
            assert np.hypot(ends[:, 0] - longitude, ends[:, 1] - latitude).min() < 1e-6
    crossing = np.concatenate([path.vertices for path in drawn["tokyo-lima"].get_paths()])
    assert np.abs(crossing[:, 0]).max() > 180, "from Tokyo to Lima, packets cross the edge of the map"


def test_routes_are_written_at_the_time_asked_for(file: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "sky"
    assert cli.main(["orbit", str(file), "--out", str(out), "--at", "30"]) == 0
    assert "routes.png" in capsys.readouterr().out
    assert pl.read_csv(out / "routes.csv").height > 8
    assert (out / "routes.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main(["orbit", str(file), "--out", str(out), "--at", "0", "--force"]) == 0
    capsys.readouterr()
    for wrong in ("61", "-1", "nan"):
        assert cli.main(["orbit", str(file), "--out", str(tmp_path / "other"), f"--at={wrong}"]) == 2
        assert f"--at = {wrong}: is no time of the run; allowed: 0 to 60 s" in capsys.readouterr().err
    assert cli.main(["orbit", str(file), "--at", "3"]) == 2
    assert "--at: needs a folder to write to; give --out" in capsys.readouterr().err


def test_links_of_traffic_have_a_terminal_and_a_sky() -> None:
    overrides = {
        "constellation.policy": "shortest",
        "constellation.isl": {"rate": "10 Mbps"},
        "duration": "2 s",
    }
    seen = leobench.survey(ROOT / "scenarios" / "ten-cities.toml", overrides=overrides)
    assert seen.skies["tokyo-sao-paulo"].terminal == "tokyo"
    assert seen.skies["sao-paulo-lagos"].terminal == "sao-paulo"
    assert set(seen.skies) == set(seen.samples["link"])


def test_places_of_traffic_may_come_from_a_list() -> None:
    assert terminal_of("sao-paulo-rio", {"links": {}}, ["sao", "sao-paulo", "rio"]) == "sao-paulo"


def test_a_path_has_no_round_trip_time_while_it_has_no_way() -> None:
    overrides = {"constellation.ground": {"rate": "50 Mbps"}, "constellation.policy": "closest"}
    paths = leobench.run(ROOT / "scenarios" / "emergency-pass.toml", overrides=overrides).tables["paths"]
    cut = paths.filter(pl.col("bottleneck_bps") == 0)
    assert cut["base_rtt_ns"].to_list() == [None] * 3
    known = set(paths["base_rtt_ns"].drop_nulls())
    assert min(known) == 40_000_000, "over the cellular link"
    assert min(known - {40_000_000}) > 95_000_000, "92 ms over nothing but the ground"


def test_an_outage_needs_handovers(capsys: Capture) -> None:
    scenario = str(ROOT / "scenarios" / "ten-cities.toml")
    free = ["--set", "constellation.policy=shortest", "--set", "constellation.outage=20 ms"]
    assert cli.main(["run", scenario, *free]) == 2
    said = capsys.readouterr().err
    assert "constellation.outage" in said
    assert "policy `shortest`, which has no handovers" in said
