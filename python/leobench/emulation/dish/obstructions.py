"""The map of a terminal's obstructions, in the form that user terminals give theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# Rows and columns of a map, as user terminals have them. North is up and east is right, and the distance from
# the middle is the angle from the zenith.
SIZE = 123
# The values of a direction that is free, one that is hidden, and one that the terminal does not use.
FREE, HIDDEN, UNUSED = 1.0, 0.0, -1.0


@dataclass(frozen=True)
class Map:
    """The sky of a terminal.

    Attributes:
        values: A value for each cell, row by row.
        lowest_deg: The lowest elevation that the terminal uses.
    """

    values: tuple[float, ...]
    lowest_deg: float

    @property
    def size(self) -> int:
        """The number of rows, which is that of columns."""
        return SIZE

    @property
    def used(self) -> int:
        """The number of cells that the terminal uses."""
        return sum(value != UNUSED for value in self.values)

    @property
    def hidden_share(self) -> float:
        """The share of those that are hidden."""
        return sum(value == HIDDEN for value in self.values) / max(self.used, 1)


def map_of(terminal: dict[str, Any], lowest_deg: float) -> Map:
    """That of a terminal of a resolved scenario, with the lowest elevation at which it uses satellites."""
    sectors = [_degrees(angle) for angle in terminal.get("obstructions", [])]
    dish = terminal.get("dish")
    middle = (SIZE - 1) / 2
    values = []
    for row in range(SIZE):
        for column in range(SIZE):
            north, east = middle - row, column - middle
            elevation = 90 - math.hypot(north, east) / middle * (90 - lowest_deg)
            azimuth = math.degrees(math.atan2(east, north)) % 360
            if elevation < lowest_deg or (dish is not None and not _reaches(dish, azimuth, elevation)):
                values.append(UNUSED)
            elif sectors and elevation < sectors[int(azimuth / 360 * len(sectors)) % len(sectors)]:
                values.append(HIDDEN)
            else:
                values.append(FREE)
    return Map(tuple(values), lowest_deg)


def boresight(terminal: dict[str, Any]) -> tuple[float, float] | None:
    """Azimuth and elevation of a tilted dish, in degrees."""
    dish = terminal.get("dish")
    return (_degrees(dish["azimuth"]), _degrees(dish["elevation"])) if dish is not None else None


def _reaches(dish: dict[str, str], azimuth: float, elevation: float) -> bool:
    """Whether a direction is within the reach of a tilted dish: the law of cosines on the sphere."""
    ours, its = math.radians(elevation), math.radians(_degrees(dish["elevation"]))
    apart = math.radians(azimuth - _degrees(dish["azimuth"]))
    cosine = math.sin(ours) * math.sin(its) + math.cos(ours) * math.cos(its) * math.cos(apart)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) <= _degrees(dish["reach"])


def _degrees(angle: str) -> float:
    """The number of a resolved angle, which is in degrees."""
    return float(angle.split(maxsplit=1)[0])
