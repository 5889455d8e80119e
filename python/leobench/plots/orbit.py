"""Figures of a constellation: the sky over terminals, the ground, and what links offer over time."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.plots import offered, sky, style, turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.orbit import Survey

    Array = style.Array


def ground(seen: Survey) -> Figure | None:
    """The ground below the serving satellites, with terminals and gateways; none of a chain."""
    rows = seen.samples.drop_nulls("latitude")
    if not rows.height:
        return None
    figure = style.figure(6.4, 4.4)
    axes = figure.add_subplot()
    for colour, link in zip(style.CATEGORIES, turns.links(seen), strict=False):
        for number, run in enumerate(turns.of_rows(rows.filter(link=link))):
            longitude, latitude = _unbroken(run["longitude"].to_numpy(), run["latitude"].to_numpy())
            name = f"below the satellites of {link}" if number == 0 else "_"
            axes.plot(longitude, latitude, color=colour, linewidth=0.8, alpha=0.6, label=name)
    for places, mark, colour, name in (
        (seen.gateways, "^", style.INK, "gateways"),
        (seen.terminals, "*", style.VERMILION, "terminals"),
    ):
        if places:
            east = [around(place["longitude"]) for place in places]
            north = [place["latitude"] for place in places]
            size = 9 if mark == "*" else 4.5
            axes.plot(east, north, mark, color=colour, markersize=size, linestyle="", label=name)
    _name(axes, seen)
    coast(axes)
    style.label_x(axes, "longitude (degrees)")
    style.dress(axes, "Ground below the serving satellites", "latitude (degrees)", zero=False)
    middle = np.mean(axes.get_ylim())
    axes.set_aspect(1 / max(np.cos(np.radians(middle)), 0.2), adjustable="datalim")
    axes.grid(color="#e4e4e4", linewidth=0.6)
    style.legend(axes)
    return figure


def around(longitude: float) -> float:
    """A longitude from -180 up to 180 degrees."""
    return (longitude + 180) % 360 - 180


def _unbroken(longitude: Array, latitude: Array) -> tuple[Array, Array]:
    """A line that is lifted where it leaves the map on one side and comes in on the other."""
    breaks = np.flatnonzero(np.abs(np.diff(longitude)) > 180) + 1
    return np.insert(longitude, breaks, np.nan), np.insert(latitude, breaks, np.nan)


Point = tuple[float, float]
Piece = tuple[Point, ...]


def on_map(places: list[tuple[str, tuple[float, float]]]) -> dict[str, Point]:
    """Longitude and latitude of places by name; the core has latitudes first."""
    return {name: (longitude, latitude) for name, (latitude, longitude) in places}


def pieces(start: Point, end: Point, *, aside: float = 0.0) -> list[Piece]:
    """A line by the shorter way around, `aside` degrees to its right; in two pieces across the map's edge."""
    east = (end[0] - start[0] + 180) % 360 - 180
    far = (start[0] + east, end[1])
    along = np.array(far) - np.array(start)
    length = float(np.hypot(*along)) or 1.0
    right = (float(along[1]) / length * aside, -float(along[0]) / length * aside)
    piece = tuple((x + right[0], y + right[1]) for x, y in (start, far))
    around = [0] if -180 <= far[0] <= 180 else [0, 360 if far[0] < -180 else -360]
    return [tuple((x + shift, y) for x, y in piece) for shift in around]


def coastlines() -> list[Array]:
    """The coastlines of the Earth, each as rows of longitude and latitude in degrees."""
    text = resources.files("leobench.plots").joinpath("coastlines.txt").read_text(encoding="ascii")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [np.array([point.split(",") for point in line.split()], dtype=float) for line in lines]


def coast(axes: Axes) -> None:
    """Draws the coastlines behind all else; they do not widen the map."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(coastlines(), colors="#b0b0b0", linewidths=0.7, zorder=0.5)
    axes.add_collection(lines, autolim=False)


def _name(axes: Axes, seen: Survey) -> None:
    left, right = axes.get_xlim()
    apart = 0.04 * (right - left)
    named: list[dict[str, Any]] = []
    for place in (*seen.terminals, *(seen.gateways if len(seen.gateways) <= 8 else ())):
        if any(
            abs(place["longitude"] - other["longitude"]) < 2 * apart
            and abs(place["latitude"] - other["latitude"]) < apart / 2
            for other in named
        ):
            continue
        named.append(place)
        axes.annotate(
            place["name"],
            (around(place["longitude"]), place["latitude"]),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=style.SMALL,
            color=style.INK,
        )


FIGURES: dict[str, Callable[[Survey], Figure | None]] = {
    "sky": sky.draw,
    "ground": ground,
    "offered": offered.draw,
}
