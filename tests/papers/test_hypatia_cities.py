"""The cities of two figures, which two files hold."""

from __future__ import annotations

import csv
import math
import tomllib

from leobench import papers

FOLDER = papers.paper("hypatia2020").claims.parent
LEFT_OUT_KM = 2_100


def distance_km(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The great circle between latitudes and longitudes in degrees, by the haversine."""
    (north, east), (other_north, other_east) = (tuple(map(math.radians, each)) for each in (first, second))
    part = math.sin((north - other_north) / 2) ** 2
    part += math.cos(north) * math.cos(other_north) * math.sin((east - other_east) / 2) ** 2
    return 2 * 6_371 * math.asin(math.sqrt(part))


def test_traffic_is_between_the_cities_of_the_pairs_far_from_both_ends() -> None:
    """Figure 10 leaves cities out; the others have the coordinates of `pairs.toml`."""
    sky = tomllib.loads((FOLDER / "pairs.toml").read_text("utf-8"))["constellation"]
    pairs = {
        name: (float(place["latitude"].split()[0]), float(place["longitude"].split()[0]))
        for name, place in (sky["terminals"] | sky["gateways"]).items()
    }
    with (FOLDER / "cities.csv").open(encoding="utf-8") as file:
        listed = {
            row["name"]: (float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)
        }
    ends = [pairs["rio-de-janeiro"], pairs["saint-petersburg"]]
    far = {
        name: place
        for name, place in pairs.items()
        if min(distance_km(place, end) for end in ends) > LEFT_OUT_KM
    }
    assert listed == far
    assert (len(pairs), len(far)) == (100, 92)
