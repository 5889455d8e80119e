"""Figures of `leobench orbit`: the sky with its empty part, the map, and offers with their trends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex

import leobench
from leobench.orbit import SkyPart, Survey
from leobench.plots import offered, orbit, sky, turns
from tests.support.paths import ROOT

SCENARIOS = ROOT / "scenarios"
HOUR = SCENARIOS / "starlink-hour.toml"


@pytest.fixture(scope="module")
def seen() -> Survey:
    constant = {
        "links.sky.channel": None,
        "links.sky.rate": "60 Mbps",
        "links.sky.forward.rate": "12 Mbps",
    }
    return leobench.survey(HOUR, overrides={"duration": "10 min", **constant})


def test_the_angle_to_the_arc_is_that_of_the_core(seen: Survey) -> None:
    both = seen.slots.join(seen.samples, on=["t_s", "link"]).drop_nulls("azimuth_deg")
    assert both.height >= 30
    (terminal,) = seen.terminals
    ours = sky.arc_separation(
        terminal["latitude"], both["azimuth_deg"].to_numpy(), both["elevation_deg"].to_numpy()
    )
    # The core goes on between points of the arc and to its ends: here it has steps of a quarter of a degree.
    assert ours == pytest.approx(both["separation_deg"].to_numpy(), abs=0.05)
    assert ours.min() >= 18
    assert sky.arc_separation(85.0, np.array([180.0]), np.array([10.0])) == pytest.approx([180.0])


def test_the_sky_has_time_and_the_part_in_which_none_serves(seen: Survey) -> None:
    assert seen.skies == {"sky": SkyPart("seattle", 25.0, 18.0)}
    figure = sky.draw(seen)
    axes, bar = figure.axes
    assert bar.get_ylabel() == "time (min)"
    assert bar.get_ylim() == (0.0, 10.0)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "closer than 18° to the geostationary arc: not chosen",
        "lowest elevation, 25°",
    ]
    runs = turns.of(seen, "sky")
    ways = [line for line in axes.get_lines() if line.get_marker() == "None" and line.get_linestyle() == "-"]
    assert len(ways) == len(runs)
    colours = [to_hex(line.get_color()) for line in ways]
    assert len(set(colours)) == len(runs), "every time has a colour of its own"
    # Due south at an elevation of 35 degrees is the middle of the arc over Seattle, due north is free.
    (zone,) = axes.collections
    shaded = zone.get_paths()
    south, north = (np.pi, 55.0), (0.0, 55.0)
    assert any(path.contains_point(south) for path in shaded)
    assert not any(path.contains_point(north) for path in shaded)


def test_what_limits_the_sky_is_that_of_each_link() -> None:
    sites = leobench.survey(SCENARIOS / "starlink-sites.toml", overrides={"duration": "30 s"})
    assert set(sites.skies) == {"louvain", "kanazawa", "brisbane"}
    assert sites.skies["brisbane"] == SkyPart("brisbane", 25.0, 18.0)
    wide = {"constellation.terminals.seattle.arc": "30 deg", "duration": "30 s"}
    assert leobench.survey(HOUR, overrides=wide).skies["sky"].arc_deg == 30.0
    free = {"constellation.policy": "highest", "duration": "30 s"}
    highest = leobench.survey(HOUR, overrides=free)
    assert highest.skies["sky"] == SkyPart("seattle", 25.0, None)
    assert not sky.draw(highest).axes[0].collections
    chain = leobench.survey(SCENARIOS / "maco-chain.toml")
    assert chain.skies["first"] == SkyPart("ground", None, None)
    assert sky.draw(chain).legends == []


def test_offers_have_a_trend_and_no_panel_without_a_change(seen: Survey) -> None:
    figure = offered.draw(seen)
    delay, elevation = figure.axes
    assert delay.get_ylabel() == "delay (ms)"
    assert elevation.get_ylabel() == "elevation (°)"
    assert (
        figure.get_supxlabel()
        == "rate throughout: sky to the terminal 60 Mbit/s, sky from the terminal 12 Mbit/s"
    )
    pieces, trend = delay.get_lines()
    assert (pieces.get_label(), trend.get_label()) == ("sky", "sky, mean of 100 s")
    rows = seen.samples.select("t_s", "delay_ms").drop_nulls()
    x, y = np.asarray(trend.get_xdata(), float), np.asarray(trend.get_ydata(), float)
    for at in (0.0, 17.0, 300.0, 600.0):
        around = rows.filter(pl.col("t_s").is_between(at - 50, at + 50))["delay_ms"]
        assert y[x == at] == pytest.approx([around.mean()])


def test_few_turns_have_no_trend_and_changing_rates_a_panel() -> None:
    figure = offered.draw(leobench.survey(SCENARIOS / "maco-chain.toml"))
    assert [axes.get_ylabel() for axes in figure.axes] == ["delay (ms)", "rate (Mbit/s)", "elevation (°)"]
    assert not any("mean of" in str(line.get_label()) for axes in figure.axes for line in axes.get_lines())
    assert {line.get_drawstyle() for line in figure.axes[1].get_lines()} == {"steps-post"}


def test_a_link_that_never_changes_keeps_its_first_panel(seen: Survey) -> None:
    still = seen.samples.with_columns(delay_ms=pl.lit(5.0), elevation_deg=pl.lit(50.0))
    figure = offered.draw(replace(seen, samples=still))
    assert [axes.get_ylabel() for axes in figure.axes] == ["delay (ms)"]
    assert "elevation of the serving satellite throughout: sky 50 °" in figure.get_supxlabel()


def test_the_legend_of_the_map_is_above_it(seen: Survey) -> None:
    figure = orbit.ground(seen)
    assert figure is not None
    figure.draw_without_rendering()
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y0 >= axes.get_window_extent().y1 - 1
