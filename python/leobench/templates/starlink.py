"""Scenarios of Starlink: by a fit, or from a place, whose gateways and point of presence are the nearest."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from leobench.templates.places import Place, ground_stations

# A satellite at 550 km is seen at 25 degrees or more within 940 km of the point below it, so the ends of a
# bent pipe are at most 1,880 km apart. Beyond this distance, both see too few satellites.
_FARTHEST_KM = 1_500.0
# As many as the scenario starlink-hour has.
_GATEWAYS = 6
# Fibre takes detours of half the way, and light in it travels at two thirds of its speed in vacuum.
_DETOUR, _FIBRE_KM_PER_MS = 1.5, 200.0

# The fit of the scenario without a place, what it stands for, and the text of the scenario.
FIT = "starlink"
FITTED = (
    f"Starlink by the fit {FIT}: delay of a gateway in Seattle (2023), capacity and outages of a dish around "
    "Osnabrueck, Germany (2024), the largest losses that TCP allows; no satellites or handovers"
)
FITTED_TEXT = f"""\
name = "{FIT}"
description = "{FITTED}"
duration = "10 min"
record = {{ interval = "100 ms" }}

[nodes.roof]
description = "A computer behind a terminal"
[nodes.pop]
description = "A server at the gateway"

[links.sky]
between = ["roof", "pop"]
channel = {{ kind = "starlink", fit = "{FIT}" }}
queue = {{ kind = "fifo", limit = "100 ms" }}
"""

_TEXT = """\
# A download over Starlink from {place}: first generation (4,408 satellites),
# {way}, a serving satellite chosen anew every 15 s.
#
# The point of presence is the nearest of a public list, {pop} ({pop_km:,.0f} km away). Starlink may
# assign another. Rates, outage and the delay besides the geometry are ours, not measured.
name = "{name}"
description = "QUIC over Starlink from {place}"
duration = "10 min"
record = {{ interval = "100 ms" }}

[nodes.roof]
description = "A computer behind a terminal"
[nodes.pop]
description = "A server at the point of presence, {pop}"

[constellation]
satellites = {{ preset = "starlink" }}
start = "2026-03-20T12:00:00Z"
policy = "starlink"
outage = "40 ms"
{isl}
[constellation.terminals.roof]
latitude = "{latitude} deg"
longitude = "{longitude} deg"

# The nearest gateways in operation on 20 March 2026 (public list of juliensimon/starlink-viz, licence MIT).
# Delays are those of fibre to the point of presence at 1.5 times the straight way.
[constellation.gateways]
{gateways}

[links.sky]
between = ["roof", "pop"]
constellation = {{ terminal = "roof" }}
delay = "8 ms"                          # frames of the uplink, processing: what is not propagation
queue = {{ kind = "fifo", limit = "300 kB" }}
forward = {{ rate = "12 Mbps" }}
backward = {{ rate = "60 Mbps" }}

[flows.download]
transport = {{ kind = "quic", congestion = "cubic" }}
from = "pop"
to = "roof"
opened_by = "to"
source = "bulk"
"""


@dataclass(frozen=True)
class Ground:
    """The ground stations that serve a place.

    Attributes:
        gateways: The nearest gateways, the nearest first.
        pop: The nearest point of presence.
        over_lasers: Whether the gateways are too far for a bent pipe.
    """

    gateways: tuple[Place, ...]
    pop: Place
    over_lasers: bool


def ground(place: Place) -> Ground:
    """The ground stations for a place."""
    gateways = sorted(ground_stations("gateway"), key=place.distance_km)
    near = [gateway for gateway in gateways if place.distance_km(gateway) <= _FARTHEST_KM]
    pop = min(ground_stations("pop"), key=place.distance_km)
    return Ground(tuple((near or gateways)[:_GATEWAYS]), pop, over_lasers=not near)


def scenario_at(place: Place, name: str = "") -> str:
    """The text of a scenario with a terminal at a place.

    Args:
        place: Where the terminal is.
        name: The scenario's name, of which letters, digits and hyphens are kept; follows from the place if
            nothing is left of it.
    """
    stations = ground(place)
    way = "lasers to a gateway" if stations.over_lasers else "bent pipe to the nearest gateways"
    return _TEXT.format(
        place=place.name,
        name=slug(name) or slug(f"starlink {_where(place)}"),
        way=way,
        pop=stations.pop.name,
        pop_km=place.distance_km(stations.pop),
        isl="isl = {}                                # no gateway within 1,500 km\n" * stations.over_lasers,
        latitude=place.latitude,
        longitude=place.longitude,
        gateways="\n".join(_line(gateway, stations.pop) for gateway in stations.gateways),
    )


def _where(place: Place) -> str:
    """A city without its country, or the coordinates with their directions."""
    if place.name[0].isalpha():
        return place.name.rpartition(",")[0]
    north, east = "n" if place.latitude >= 0 else "s", "e" if place.longitude >= 0 else "w"
    return f"{abs(place.latitude):g}{north} {abs(place.longitude):g}{east}"


def _line(gateway: Place, pop: Place) -> str:
    delay = max(0.1, gateway.distance_km(pop) * _DETOUR / _FIBRE_KM_PER_MS)
    where = f'latitude = "{gateway.latitude} deg", longitude = "{gateway.longitude} deg"'
    return f'{slug(gateway.name)} = {{ {where}, delay = "{delay:.1f} ms" }}'


def slug(text: str) -> str:
    """A name of small letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
