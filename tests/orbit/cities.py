"""Scenarios of flows of datagrams between pairs of cities over Kuiper's first shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def scenario(
    head: str,
    cities: Mapping[str, tuple[float, float]],
    pairs: Iterable[tuple[str, str]],
    *,
    isl: str = "",
    rate: str = "5 Mbps",
) -> str:
    """A scenario that begins with `head`; cities have latitude and longitude, each flow the `rate`."""
    places = "".join(
        f"[nodes.{city}]\n"
        + "".join(
            f'[constellation.{kind}.{city}]\nlatitude = "{latitude} deg"\nlongitude = "{longitude} deg"\n'
            for kind in ("terminals", "gateways")
        )
        for city, (latitude, longitude) in cities.items()
    )
    links = "".join(
        f'[links.{a}-{b}]\nbetween = ["{a}", "{b}"]\nrate = "8 Mbps"\n'
        f'constellation = {{ terminal = "{a}", gateways = ["{b}"] }}\n'
        f'[flows.{a}-{b}]\ntransport = "udp"\nfrom = "{a}"\nto = "{b}"\n'
        f'source = {{ kind = "cbr", size = "972 B", rate = "{rate}" }}\n'
        for a, b in pairs
    )
    return f"""
        {head}
        [constellation]
        start = "2026-01-01T00:00:00Z"
        policy = "highest"
        lowest_elevation = "30 deg"
        isl = {{ {isl} }}
        [constellation.satellites.walker.k1]
        altitude = "630 km"
        inclination = "51.9 deg"
        planes = 34
        per_plane = 34
        {places}
        {links}
    """
