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
# Similarity from which a name is suggested: below it, Santander would suggest Santo André.
_NEAR = 0.9
# Cities that a message lists.
_MOST_CITIES = 6


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

    A city is also found by a name in another language, and by the first words of its name if no other
    city's name begins with them. `London,CA` names the country too.

    Raises:
        InputError: If the list has none, or several whose names begin so.
    """
    wanted, _, country = (folded(part) for part in text.partition(","))
    rows = list(_rows("cities.csv"))
    here = [row for row in rows if country in ("", folded(row["country"]))]
    found = next((row for row in here if folded(row["name"]) == wanted), None) or next(
        (row for row in here if wanted in _other_names(row)), None
    )
    if found is None:
        begun = [row for row in here if _begins(row["name"], wanted)]
        if len(begun) > 1:
            listed = ", ".join(f"`{_written(row)}`" for row in begun[:_MOST_CITIES])
            more = f", and {len(begun) - _MOST_CITIES} more" if len(begun) > _MOST_CITIES else ""
            raise InputError(f"--at {cut(text)}: several cities begin so: {listed}{more}; {_ALLOWED}")
        if not begun:
            raise InputError(
                f"--at {cut(text)}: no such city in the list, which has capitals and cities of at least "
                f"250,000 inhabitants; {_ALLOWED}{_advice(wanted, rows)}"
            )
        found = begun[0]
    return Place(f"{found['name']}, {found['country']}", *_degrees(found))


def _other_names(row: dict[str, str]) -> list[str]:
    """A city's names in other languages, folded."""
    return row["other_names"].split("|") if row["other_names"] else []


def _begins(name: str, words: str) -> bool:
    """Whether a name begins with these words, of which there is at least one."""
    wanted = words.split()
    return bool(wanted) and folded(name).replace("-", " ").split()[: len(wanted)] == wanted


def _written(row: dict[str, str]) -> str:
    """A city as `--at` takes it."""
    return f"{row['name']},{row['country']}"


def _advice(wanted: str, rows: list[dict[str, str]]) -> str:
    """The city that was perhaps meant, if one has a name that is very near."""
    known: dict[str, str] = {}
    for row in rows:
        known.setdefault(folded(row["name"]), _written(row))
    for row in rows:
        for name in _other_names(row):
            known.setdefault(name, _written(row))
    meant = nearest(wanted, known, _NEAR)
    return f"; did you mean `{known[meant]}`?" if meant else ""


def ground_stations(kind: str) -> list[Place]:
    """Starlink's sites in operation, which are of the kind `gateway` or `pop` (point of presence)."""
    rows = _rows("ground-stations.csv")
    return [Place(row["name"], *_degrees(row)) for row in rows if row["kind"] == kind]


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_LISTS / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _degrees(row: dict[str, str]) -> tuple[float, float]:
    return float(row["latitude"]), float(row["longitude"])


def folded(text: str) -> str:
    """A name without case, accents and space around it, as names are compared."""
    spread = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(char for char in spread if not unicodedata.combining(char))
