"""Places on the Earth: cities, and Starlink's gateways and points of presence.

`lists/README.md` states the sources.
"""

from __future__ import annotations

import csv
import math
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.errors import InputError, cut, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTS = Path(__file__).parent / "lists"
# Mean radius of the Earth in kilometres (IUGG).
_EARTH_KM = 6371.0088

_ALLOWED = (
    "allowed: degrees such as `48.14,11.58` (south and west negative), "
    "or a city such as `Munich` or `London,CA`"
)


@dataclass(frozen=True)
class Place:
    """A place, in degrees."""

    name: str
    latitude: float
    longitude: float

    def distance_km(self, other: Place) -> float:
        """Kilometres to another place along a great circle of a spherical Earth (haversine formula)."""
        here, there = math.radians(self.latitude), math.radians(other.latitude)
        east = math.radians(other.longitude - self.longitude)
        chord = math.sin((there - here) / 2) ** 2 + math.cos(here) * math.cos(there) * math.sin(east / 2) ** 2
        return 2 * _EARTH_KM * math.asin(math.sqrt(min(chord, 1.0)))


def place(text: str) -> Place:
    """The place meant by `48.14,11.58` or by the name of a city.

    Raises:
        InputError: If it is neither.
    """
    parts = text.split(",")
    try:
        degrees = [float(part) for part in parts]
    except ValueError:
        return city(text)
    if len(degrees) != 2 or not (abs(degrees[0]) <= 90 and abs(degrees[1]) <= 180):
        raise InputError(
            f"--at {cut(text)}: is no latitude from -90 to 90 and longitude from -180 to 180; {_ALLOWED}"
        )
    return Place(f"{degrees[0]:g}, {degrees[1]:g}", degrees[0], degrees[1])


def city(text: str) -> Place:
    """The largest city of this name, in any case, with or without accents.

    `London,CA` names the country too.

    Raises:
        InputError: If the list has none.
    """
    wanted, _, country = (_folded(part) for part in text.partition(","))
    names: dict[str, str] = {}
    for row in _rows("cities.csv"):
        names.setdefault(_folded(row["name"]), row["name"])
        if _folded(row["name"]) == wanted and country in ("", _folded(row["country"])):
            return Place(f"{row['name']}, {row['country']}", *_degrees(row))
    meant = nearest(wanted, names)
    advice = f"; did you mean `{names[meant]}`?" if meant else ""
    raise InputError(f"--at {cut(text)}: no such city in the list; {_ALLOWED}{advice}")


def ground_stations(kind: str) -> list[Place]:
    """Starlink's sites in operation, which are of the kind `gateway` or `pop` (point of presence)."""
    rows = _rows("ground-stations.csv")
    return [Place(row["name"], *_degrees(row)) for row in rows if row["kind"] == kind]


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_LISTS / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _degrees(row: dict[str, str]) -> tuple[float, float]:
    return float(row["latitude"]), float(row["longitude"])


def _folded(text: str) -> str:
    """A name without case, accents and space around it."""
    spread = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(char for char in spread if not unicodedata.combining(char))
