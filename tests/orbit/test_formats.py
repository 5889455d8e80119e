"""Constellations from every format of file and with every kind of budget, through `orbit` and `run`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import cli
from leobench.overrides import as_text
from tests.orbit.test_inputs import write_plane

if TYPE_CHECKING:
    from pathlib import Path

# The element set of `write_plane` as an orbit mean-elements message (CCSDS 502.0-B-3).
MESSAGE: dict[str, Any] = {
    "OBJECT_NAME": "ONE",
    "OBJECT_ID": "2019-074B",
    "EPOCH": "2026-03-19T12:00:00.000000",
    "MEAN_MOTION": 15.0639,
    "ECCENTRICITY": 0.00014,
    "INCLINATION": 53.054,
    "RA_OF_ASC_NODE": 100.0,
    "ARG_OF_PERICENTER": 80.0,
    "MEAN_ANOMALY": 280.0,
    "EPHEMERIS_TYPE": 0,
    "CLASSIFICATION_TYPE": "U",
    "NORAD_CAT_ID": 44714,
    "ELEMENT_SET_NO": 999,
    "REV_AT_EPOCH": 30000,
    "BSTAR": 8.5e-05,
    "MEAN_MOTION_DOT": 1e-05,
    "MEAN_MOTION_DDOT": 0,
}


def as_csv() -> str:
    return ",".join(MESSAGE) + "\n" + ",".join(str(value) for value in MESSAGE.values()) + "\n"


def as_json() -> str:
    return json.dumps([MESSAGE])


def as_xml() -> str:
    def tags(*names: str) -> str:
        return "".join(f"<{name}>{MESSAGE[name]}</{name}>" for name in names)

    keplerian = ("EPOCH", "MEAN_MOTION", "ECCENTRICITY", "INCLINATION", "RA_OF_ASC_NODE")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ndm><omm id="CCSDS_OMM_VERS" version="2.0"><body><segment>'
        f"<metadata>{tags('OBJECT_NAME', 'OBJECT_ID')}<CENTER_NAME>EARTH</CENTER_NAME>"
        "<REF_FRAME>TEME</REF_FRAME><TIME_SYSTEM>UTC</TIME_SYSTEM></metadata>"
        f"<data><meanElements>{tags(*keplerian, 'ARG_OF_PERICENTER', 'MEAN_ANOMALY')}</meanElements>"
        f"<tleParameters>{tags('NORAD_CAT_ID', 'BSTAR')}</tleParameters></data>"
        "</segment></body></omm></ndm>\n"
    )


GPX = """\
<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
<trkpt lat="47.0" lon="-123.0"><ele>10000</ele><time>2026-03-20T12:20:00Z</time></trkpt>
<trkpt lat="48.5" lon="-122.0"><ele>11000</ele><time>2026-03-20T12:33:00Z</time></trkpt>
</trkseg></trk></gpx>
"""

GPX_TRACK = {"constellation.terminals.plane.track": "track.gpx"}
DOWNLINK = "links.up.constellation.downlink"


def elements(file: str) -> dict[str, Any]:
    return {"constellation.satellites": {"elements": file}}


@pytest.fixture
def plane(tmp_path: Path) -> Path:
    return write_plane(tmp_path)


def command(name: str, plane: Path, changes: dict[str, Any], *flags: str) -> int:
    options = [word for place, value in changes.items() for word in ("--set", f"{place}={as_text(value)}")]
    return cli.main([name, str(plane), *options, *flags])


@pytest.mark.parametrize(
    ("name", "text"), [("omm.csv", as_csv()), ("omm.json", as_json()), ("omm.xml", as_xml())]
)
def test_messages_give_the_sky_and_the_run_of_the_element_set(name: str, text: str, plane: Path) -> None:
    (plane.parent / name).write_text(text, encoding="utf-8")
    changes = {"constellation.satellites": {"elements": name}}
    expected, found = leobench.survey(plane), leobench.survey(plane, overrides=changes)
    assert found.passes.height == 1
    assert found.samples.equals(expected.samples)
    short: dict[str, Any] = {"duration": "6 min"}
    runs = [leobench.run(plane, overrides=short | each).summary for each in ({}, changes)]
    assert runs[0]["flows"] == runs[1]["flows"]
    assert runs[0]["flows"][0]["delay_ms"]["mean"] > 1


def test_a_gpx_track_is_the_track_of_the_table(plane: Path) -> None:
    (plane.parent / "track.gpx").write_text(GPX, encoding="utf-8")
    changes = GPX_TRACK
    expected, found = leobench.survey(plane), leobench.survey(plane, overrides=changes)
    assert found.samples.equals(expected.samples)
    assert leobench.run(plane, overrides=changes | {"duration": "5 min"}).summary["flows"][0]["messages"] > 0


def test_an_obstruction_hides_its_part_of_the_sky(plane: Path) -> None:
    """Sectors of 90 degrees: nothing below 40 degrees from north to east and from west to north."""
    open_sky = leobench.survey(plane).samples.drop_nulls("satellite")
    mask = {"constellation.terminals.plane.obstructions": ["40 deg", "0 deg", "0 deg", "40 deg"]}
    north = (pl.col("azimuth_deg") < 90) | (pl.col("azimuth_deg") > 270)
    hidden = open_sky.filter(north & (pl.col("elevation_deg") < 40))
    masked = leobench.survey(plane, overrides=mask)
    seen = masked.samples.drop_nulls("satellite")
    assert hidden.height > 50
    assert seen.height == open_sky.height - hidden.height
    assert (seen.filter(north)["elevation_deg"] >= 40).all()
    offered = leobench.run(plane, overrides=mask).tables.channel.filter(pl.col("link") == "up/plane->ground")
    assert abs(0.1 * int(offered["up"].sum()) - seen.height) < 5


def test_rates_step_with_the_table_of_dvb_s2x(plane: Path) -> None:
    table = {
        f"{DOWNLINK}.rate": {"kind": "modcod", "table": "dvb-s2x", "margin": "1 dB"},
        f"{DOWNLINK}.transmitter.eirp": "26 dBW",
    }
    rows = leobench.survey(plane, overrides=table).samples.drop_nulls("satellite").sort("downlink_db")
    rates, signal = rows["downlink_mbps"].to_numpy(), rows["downlink_db"].to_numpy()
    assert 3 < len(np.unique(rates)) < 60
    assert (np.diff(rates) >= 0).all()
    # The symbol rate is 50 / 1.2 MHz; the noise of the bandwidth is that of 1.2 times as many symbols.
    symbols, energy = 50 / 1.2, signal + 10 * np.log10(1.2)
    assert (rates < symbols * np.log2(1 + 10 ** ((energy - 1) / 10))).all()
    # The margin, the distance from Shannon's bound, and the step to the next entry: 4 dB in all, and no more.
    assert (rates > symbols * np.log2(1 + 10 ** ((energy - 4) / 10))).all()
    run = leobench.run(plane, overrides=table | {"duration": "8 min"})
    used = run.tables.channel.filter((pl.col("link") == "up/ground->plane") & pl.col("up"))["rate_bps"]
    assert set(used.unique()) <= {round(rate * 1e6) for rate in np.unique(rates)} | {0}


def test_rain_weakens_a_place_on_the_ground_and_no_plane_above_it(plane: Path) -> None:
    rain = {
        f"{DOWNLINK}.atmosphere": {
            "rain": {"rate": "42 mm/h", "zero_isotherm": "3.5 km"},
            "exceeded": "0.1 %",
        }
    }
    place = {"constellation.terminals.plane": {"latitude": "47.5 deg", "longitude": "-122.5 deg"}}

    def signal(changes: dict[str, Any]) -> pl.DataFrame:
        return leobench.survey(plane, overrides=changes).samples.drop_nulls("satellite")

    assert signal(rain)["downlink_db"].equals(signal({})["downlink_db"])
    loss = (signal(place)["downlink_db"] - signal(place | rain)["downlink_db"]).to_numpy()
    elevation = signal(place)["elevation_deg"].to_numpy()
    assert (loss > 0.5).all()
    # A path through the rain is longer the lower the satellite.
    order = np.argsort(elevation)
    assert loss[order[0]] > 1.5 * loss[order[-1]]
    dry, wet = (leobench.run(plane, overrides=place | each | {"duration": "8 min"}) for each in ({}, rain))
    means = [
        run.tables.channel.filter(pl.col("up"), link="up/ground->plane")["rate_bps"].to_numpy().mean()
        for run in (dry, wet)
    ]
    assert means[1] < 0.97 * means[0]


FAR = "name,latitude,longitude\nFar Away,-33.8,151.1\n"

WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("one.tle", as_json(), {}, "one.tle"),
    ("omm.json", "not at all", elements("omm.json"), "omm.json"),
    ("omm.json", as_csv(), elements("omm.json"), "named like JSON"),
    ("omm.xml", as_xml().replace("TEME", "EME2000"), elements("omm.xml"), "REF_FRAME should be TEME"),
    ("omm.csv", as_csv().replace("53.054", "north"), elements("omm.csv"), "line 2: INCLINATION"),
    ("omm.csv", as_csv().replace("2026-", "2025-"), elements("omm.csv"), "at most 30 days are allowed"),
    ("track.gpx", GPX.replace("</gpx>", ""), GPX_TRACK, "track.gpx, line"),
    ("track.gpx", GPX.replace("10000", "-1000"), GPX_TRACK, "is below ground"),
    ("gateways.csv", FAR, {}, "none of those that may serve it reaches a gateway"),
    ("gateways.csv", "%PDF-1.7\n", {}, 'gateways.csv, line 1: no column "name"'),
    ("none", "", {"constellation.terminals.plane.obstructions": ["89 deg"]}, "sees no satellite above"),
    ("none", "", {f"{DOWNLINK}.rate": {"kind": "modcod", "table": "dvb-s3"}}, "did you mean `dvb-s2`"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text", "changes", "said"), WRONG)
@pytest.mark.parametrize("name", ["orbit", "run"])
def test_what_is_wrong_is_refused_in_one_line(
    name: str,
    file: str,
    text: str,
    changes: dict[str, Any],
    said: str,
    plane: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (plane.parent / file).write_text(text, encoding="utf-8")
    assert command(name, plane, changes, "--out", str(plane.parent / "out")) == 2
    error = capsys.readouterr().err
    assert said in error, error
    assert "; allowed: " in error
    assert error.count("\n") == 1
    assert not (plane.parent / "out").exists()
