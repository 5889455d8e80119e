"""A link whose route of its own is missing for a while."""

from __future__ import annotations

from math import acos, cos, degrees, pi, radians, sqrt
from typing import TYPE_CHECKING

import pytest

import leobench

if TYPE_CHECKING:
    from pathlib import Path

# Radii of the Earth at the equator and of the orbit in km, and the Earth's constant of gravity in km^3/s^2.
EARTH = 6378.137
ORBIT = EARTH + 1200.0
MU = 398_600.4418
# Degrees between neighbours, and between both ends of the link.
SPACING, APART = 20.0, 10.0
LOWEST = 25.0
SECONDS = 790
PACKETS_PER_S = 10

# Satellites over the equator in a row that is no ring, and one link, which takes the second route.
ROW = f"""
name = "row"
duration = "{SECONDS} s"
record.series = false
nodes = {{ home = {{}}, away = {{}} }}
[constellation]
start = "2026-01-01T00:00:00Z"
policy = "highest"
lowest_elevation = "{LOWEST} deg"
terminals.home = {{ latitude = "0 deg", longitude = "0 deg" }}
gateways.away = {{ latitude = "0 deg", longitude = "{APART} deg" }}
satellites.walker.row = {{ altitude = "1200 km", inclination = "0 deg", planes = 18, per_plane = 1 }}
[constellation.isl]
rate = "10 Mbps"
queue = {{ kind = "fifo", limit = "100 packets" }}
layout = {{ kind = "plus_grid", seam = "open" }}
routing = "disjoint"
every = "1 s"
[links.sky]
between = ["home", "away"]
constellation = {{ terminal = "home", route = "second" }}
rate = "100 Mbps"
queue = {{ kind = "fifo", limit = "100 packets" }}
[flows.main]
transport = "udp"
from = "home"
to = "away"
source = {{ kind = "cbr", size = "972 B", rate = "{972 * 8 * PACKETS_PER_S} bps" }}
"""


def test_a_link_is_down_while_its_route_is_missing(tmp_path: Path) -> None:
    """The terminal uses the nearest satellite; if the gateway sees it, both routes have no laser to share.

    Else all routes begin with the laser to the next satellite, so there is no second one. This lasts while
    the nearest satellite is further west of the terminal than the gateway sees.
    """
    file = tmp_path / "row.toml"
    file.write_text(ROW)
    summary = leobench.run(file).summary
    lowest = radians(LOWEST)
    seen = degrees(acos(EARTH * cos(lowest) / ORBIT) - lowest)
    period = 2.0 * pi * sqrt(ORBIT**3 / MU)
    degrees_per_s = 360.0 / period - 360.0 / 86_164.0905
    missing_s = (SPACING / 2.0 - (seen - APART)) / degrees_per_s
    passes = SECONDS * degrees_per_s / SPACING
    assert passes == pytest.approx(2.0, abs=0.01)
    # Each of the four beginnings and ends is noticed at the next search, up to a second later.
    expected_s = passes * missing_s
    assert summary["orbit"]["missing_routes"] == pytest.approx(expected_s, abs=4.0)
    there = summary["links"][0]
    down = there["dropped_packets"]["down"]
    assert down / PACKETS_PER_S == pytest.approx(expected_s, abs=4.0)
    assert down + there["delivered_packets"] == SECONDS * PACKETS_PER_S
