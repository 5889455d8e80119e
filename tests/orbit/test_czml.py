"""A constellation as CZML: read by the library czml3, and the places in it by our own computation."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from czml3.core import Document, Packet

import leobench
from leobench import cli
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.orbit import Survey

HOUR = ROOT / "scenarios" / "starlink-hour.toml"
FLAGS = ["--set", "duration=3 min", "--interval", "1", "--export", "czml"]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Three minutes of Starlink over Seattle."""
    out = tmp_path_factory.mktemp("czml") / "sky"
    assert cli.main(["orbit", str(HOUR), *FLAGS, "--out", str(out)]) == 0
    read = json.loads((out / "starlink-hour.czml").read_text(encoding="utf-8"))
    assert isinstance(read, list)
    return read


@pytest.fixture(scope="module")
def seen() -> Survey:
    return leobench.survey(HOUR, overrides={"duration": "3 min"})


def of_kind(document: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [packet for packet in document if packet["id"].startswith(f"{kind}/")]


def seconds(document: list[dict[str, Any]], packet: dict[str, Any]) -> tuple[float, float]:
    """The interval in which a packet is there, in seconds from the start."""
    start = datetime.fromisoformat(document[0]["clock"]["currentTime"])
    begin, end = (datetime.fromisoformat(text) for text in packet["availability"].split("/"))
    return (begin - start).total_seconds(), (end - start).total_seconds()


def test_czml3_knows_every_property(document: list[dict[str, Any]]) -> None:
    """It refuses properties that CZML does not have, and values of other types."""
    packets = [Packet(**packet) for packet in document]
    assert Document(packets=packets).packets[0].id == "document"
    with pytest.raises(ValueError, match="polylin"):
        Packet(**{**document[-1], "polylin": {}})


def test_names_are_unique_and_references_lead_somewhere(document: list[dict[str, Any]]) -> None:
    names = [packet["id"] for packet in document]
    assert len(names) == len(set(names))
    assert names[0] == "document"
    links = of_kind(document, "link")
    assert len(links) >= 12
    by_name = {packet["id"]: packet for packet in document}
    for link in links:
        references = link["polyline"]["positions"]["references"]
        ends = [reference.removesuffix("#position") for reference in references]
        assert [end.split("/")[0] for end in ends] == ["terminal", "satellite", "gateway"]
        begin, end = seconds(document, link)
        rise, sets = seconds(document, by_name[ends[1]])
        assert rise <= begin < end <= sets


def test_every_satellite_in_view_is_there_while_it_is(document: list[dict[str, Any]], seen: Survey) -> None:
    shown = sorted((packet["name"], *seconds(document, packet)) for packet in of_kind(document, "satellite"))
    passes = seen.passes.sort("satellite", "rise_s").select("satellite", "rise_s", "set_s").rows()
    assert len(shown) == len(passes) > 49
    for one, other in zip(shown, passes, strict=True):
        assert one[0] == other[0]
        assert one[1:] == pytest.approx(other[1:], abs=2e-6)


def test_positions_are_those_of_the_samples(document: list[dict[str, Any]], seen: Survey) -> None:
    """The range from terminal to satellite, interpolated as CZML says, is that of the survey."""
    (terminal,) = of_kind(document, "terminal")
    here = np.array(terminal["position"]["cartesian"])
    compared = 0
    for packet in of_kind(document, "satellite"):
        points = np.array(packet["position"]["cartesian"]).reshape(-1, 4)
        rows = seen.samples.filter(pl.col("satellite") == packet["name"])
        for row in rows.iter_rows(named=True):
            nearest = np.sort(np.argsort(np.abs(points[:, 0] - row["t_s"]), kind="stable")[:6])
            there = lagrange(points[nearest], row["t_s"])
            assert float(np.linalg.norm(there - here)) / 1e3 == pytest.approx(row["range_km"], abs=0.002)
            compared += 1
    assert compared == 181


def lagrange(points: np.ndarray[Any, Any], at: float) -> np.ndarray[Any, Any]:
    times, total = points[:, 0], np.zeros(3)
    for number, time in enumerate(times):
        others = np.delete(times, number)
        total += points[number, 1:] * np.prod((at - others) / (time - others))
    return total


def test_gateways_lie_where_the_scenario_says(document: list[dict[str, Any]]) -> None:
    gateways = of_kind(document, "gateway")
    assert len(gateways) == 6
    places = leobench.survey(HOUR, overrides={"duration": "2 s"}).gateways
    for packet, place in zip(gateways, places, strict=True):
        x, y, z = packet["position"]["cartesian"]
        assert packet["name"] == place["name"]
        assert np.degrees(np.arctan2(y, x)) == pytest.approx(place["longitude"], abs=1e-6)
        # On the ellipsoid, z / (1 - e^2) is the foot of the vertical (WGS84, e^2 = 0.00669438).
        latitude = np.degrees(np.arctan2(z / (1 - 0.00669437999), np.hypot(x, y)))
        assert latitude == pytest.approx(place["latitude"], abs=1e-5)


def test_a_plane_moves(tmp_path: Path) -> None:
    (tmp_path / "track.csv").write_text(
        "time,latitude,longitude,altitude\n0,47.0,-123.0,10000\n120,47.2,-122.9,10000\n", encoding="utf-8"
    )
    text = HOUR.read_text(encoding="utf-8").replace(
        'latitude = "47.66 deg"\nlongitude = "-122.31 deg"\naltitude = "60 m"', 'track = "track.csv"'
    )
    (tmp_path / "plane.toml").write_text(text, encoding="utf-8")
    flags = ["--set", "duration=2 min", "--export", "czml", "--out", str(tmp_path / "out")]
    assert cli.main(["orbit", str(tmp_path / "plane.toml"), *flags]) == 0
    read = json.loads((tmp_path / "out" / "starlink-hour.czml").read_text(encoding="utf-8"))
    (terminal,) = of_kind(read, "terminal")
    points = np.array(terminal["position"]["cartesian"]).reshape(-1, 4)
    assert points[:, 0].tolist() == [0, 30, 60, 90, 120]
    # 0.2 degrees north and 0.1 degrees east.
    moved = np.hypot(0.2 * 111.19, 0.1 * 111.32 * np.cos(np.radians(47.1)))
    assert np.linalg.norm(points[-1, 1:] - points[0, 1:]) / 1e3 == pytest.approx(moved, rel=0.01)


def test_a_chain_has_no_czml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = ROOT / "scenarios" / "maco-chain.toml"
    assert cli.main(["orbit", str(chain), "--export", "czml", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "--export czml: a chain of satellites has no place on the Earth; allowed: " in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
