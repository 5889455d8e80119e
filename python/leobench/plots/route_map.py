"""A map of the routes of links over satellites at a time."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from leobench.plots import orbit, style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench._core import Scenario
    from leobench.orbit import Survey

NAME = "routes"
# Inches of the map.
_WIDTH, _HEIGHT = 6.4, 3.8
# Links that have a colour and an entry of the legend each; more of them share a colour.
_NAMED = len(style.CATEGORIES)


def draw(scenario: Scenario, seen: Survey, at_s: float) -> Figure | None:
    """Draws where packets of every link go at a time, over the coastlines; none of a chain.

    The way back is dashed, and drawn only where it leads over other satellites.

    Args:
        scenario: The scenario.
        seen: Its survey.
        at_s: Second of the run.
    """
    from leobench import _core

    text = _core.places_below(scenario, at_s)
    if text is None or not seen.routes.height:
        return None
    places = {kind: orbit.on_map(each) for kind, each in json.loads(text).items()}
    routes = at(seen.routes, at_s)
    figure = style.figure(_WIDTH, _HEIGHT)
    axes = figure.add_subplot()
    axes.plot(*_columns(places["satellites"].values()), ".", color="#c8c8c8", markersize=1.5, zorder=0.6)
    _draw_routes(axes, routes, places)
    stations = places["gateways"] | places["terminals"]
    axes.plot(*_columns(stations.values()), "*", color=style.INK, markersize=5, linestyle="")
    for name, place in stations.items():
        axes.annotate(name, place, xytext=(3, 3), textcoords="offset points", fontsize=style.SMALL)
    orbit.coast(axes)
    axes.set_xlim(-180, 180)
    axes.set_ylim(-75, 75)
    style.label_x(axes, "longitude (degrees)")
    title = f"Routes of links over satellites at {at_s:g} s"
    style.dress(axes, title, "latitude (degrees)", zero=False)
    axes.grid(visible=False)
    style.legend(axes)
    style.note(figure, _summary(routes))
    return figure


def at(routes: pl.DataFrame, at_s: float) -> list[dict[str, Any]]:
    """The row of each direction of a link that holds at a time."""
    rows = routes.filter(routes["t_s"] <= at_s)
    return rows.group_by("link", "direction", maintain_order=True).last().to_dicts()


def line(route: Mapping[str, Any], places: Mapping[str, Mapping[str, orbit.Point]]) -> list[orbit.Point]:
    """The points of a route from station to station, none without one."""
    if route["satellites"] is None:
        return []
    kinds = ("terminals", "gateways")
    start, end = kinds if route["direction"] == "there" else kinds[::-1]
    between = [places["satellites"][name] for name in route["satellites"].split("->")]
    return [places[start][route["from_station"]], *between, places[end][route["to_station"]]]


def _draw_routes(
    axes: Axes, routes: list[dict[str, Any]], places: Mapping[str, Mapping[str, orbit.Point]]
) -> None:
    from matplotlib.collections import LineCollection

    there = {route["link"]: route for route in routes if route["direction"] == "there"}
    several = len(there) > _NAMED
    colours = dict(zip(there, [style.BLUE] * len(there) if several else style.CATEGORIES, strict=False))
    for route in routes:
        link, points = route["link"], line(route, places)
        is_back = route["direction"] == "back"
        if not points or (is_back and _is_reverse(route, there[link])):
            continue
        name = link if not is_back and not several else "_"
        parts = [piece for ends in itertools.pairwise(points) for piece in orbit.pieces(*ends)]
        drawn = LineCollection(parts, colors=colours[link], label=name, alpha=0.7)
        drawn.set_linestyle("--" if is_back else "-")
        drawn.set_linewidth(0.8 if several else 1.4)
        axes.add_collection(drawn)
        axes.plot(*_columns(points[1:-1]), "o", color=colours[link], markersize=2.5, linestyle="")


def _is_reverse(back: Mapping[str, Any], there: Mapping[str, Any]) -> bool:
    """Whether a way back leads over the satellites of the way there."""
    if there["satellites"] is None:
        return False
    return bool(back["satellites"].split("->") == there["satellites"].split("->")[::-1])


def _columns(points: Iterable[orbit.Point]) -> tuple[list[float], list[float]]:
    both = list(points)
    return [orbit.around(east) for east, _ in both], [north for _, north in both]


def _summary(routes: list[dict[str, Any]]) -> str:
    """How many links have a route, and the longest one."""
    there = [route for route in routes if route["direction"] == "there"]
    known = [route for route in there if route["satellites"] is not None]
    text = f"{len(known)} of {len(there)} links have a route"
    if not known:
        return text
    longest = max(known, key=lambda route: route["delay_ms"])
    return f"{text}. Longest: {longest['link']}, {longest['hops']} hops, {longest['delay_ms']:.1f} ms"
