"""Figures of a constellation: the sky over terminals, the ground, and what links offer over time."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.orbit import Survey

    Array = style.Array

# Links in a figure; beyond, panels and colours cannot be told apart.
_MOST = 4


def _links(seen: Survey) -> list[str]:
    return seen.samples["link"].unique(maintain_order=True).to_list()[:_MOST]


def _runs(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The samples of each time that a satellite serves without a break, in order."""
    if not rows.height:
        return []
    changed = (pl.col("satellite") != pl.col("satellite").shift()).fill_null(value=True)
    gone = pl.col("satellite").is_null() != pl.col("satellite").shift().is_null()
    numbered = rows.with_columns((changed | gone).cum_sum().alias("run"))
    runs = numbered.partition_by("run", maintain_order=True)
    return [run for run in runs if run["satellite"][0] is not None]


def sky(seen: Survey) -> Figure:
    """The ways of serving satellites through the sky of a terminal: north is up, the zenith in the middle."""
    from matplotlib.figure import Figure

    links = _links(seen)
    figure = Figure(figsize=(max(4.2, 3.6 * len(links)), 4.0), layout="constrained")
    for place, link in enumerate(links, start=1):
        axes = figure.add_subplot(1, len(links), place, projection="polar")
        axes.set_theta_zero_location("N")  # type: ignore[attr-defined]
        axes.set_theta_direction(-1)  # type: ignore[attr-defined]
        axes.set_ylim(0, 90)
        axes.set_yticks([30, 60, 90], labels=["60°", "30°", ""], fontsize=style.SMALL, color=style.FAINT)
        axes.set_rlabel_position(225)  # type: ignore[attr-defined]
        axes.set_xticks(np.radians([0, 90, 180, 270]), labels=["N", "E", "S", "W"], fontsize=style.FONT)
        axes.grid(color="#dddddd", linewidth=0.6)
        runs = _runs(seen.samples.filter(link=link))
        for number, run in enumerate(runs):
            angle = np.unwrap(np.radians(run["azimuth_deg"].to_numpy()))
            colour = style.CATEGORIES[number % 6]
            distance = 90 - run["elevation_deg"].to_numpy()
            axes.plot(angle, distance, color=colour, linewidth=1.1, alpha=0.75)
            axes.plot(angle[-1:], distance[-1:], ".", color=colour, markersize=2.5)
        lowest = seen.terminals[0]["lowest_deg"] if len(seen.terminals) == 1 else None
        if lowest is not None and seen.satellites is not None:
            around = np.linspace(0, 2 * np.pi, 200)
            axes.plot(around, np.full(200, 90 - lowest), "--", color=style.FAINT, linewidth=0.8)
        title = f"Satellites that serve {link}: {len(runs)} turns, each ends with a dot"
        axes.set_title(title, fontsize=style.TITLE, color=style.INK, pad=14)
    return figure


def ground(seen: Survey) -> Figure | None:
    """The ground below the serving satellites, with terminals and gateways; none of a chain."""
    from matplotlib.figure import Figure

    rows = seen.samples.drop_nulls("latitude")
    if not rows.height:
        return None
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for colour, link in zip(style.CATEGORIES, _links(seen), strict=False):
        for number, run in enumerate(_runs(rows.filter(link=link))):
            longitude, latitude = _unbroken(run["longitude"].to_numpy(), run["latitude"].to_numpy())
            name = f"below the satellites of {link}" if number == 0 else None
            axes.plot(longitude, latitude, color=colour, linewidth=0.8, alpha=0.6, label=name)
    for places, mark, colour, name in (
        (seen.gateways, "^", style.INK, "gateways"),
        (seen.terminals, "*", style.VERMILION, "terminals"),
    ):
        if places:
            east = [_around(place["longitude"]) for place in places]
            north = [place["latitude"] for place in places]
            size = 9 if mark == "*" else 4.5
            axes.plot(east, north, mark, color=colour, markersize=size, linestyle="", label=name)
    _name(axes, seen)
    _coast(axes)
    axes.set_xlabel("longitude (degrees)", fontsize=style.FONT, color=style.INK)
    style.dress(axes, "Ground below the serving satellites", "latitude (degrees)", zero=False)
    middle = np.mean(axes.get_ylim())
    axes.set_aspect(1 / max(np.cos(np.radians(middle)), 0.2), adjustable="datalim")
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.legend(fontsize=style.SMALL, loc="best", framealpha=0.85, edgecolor="none")
    return figure


def _around(longitude: float) -> float:
    return (longitude + 180) % 360 - 180


def _unbroken(longitude: Array, latitude: Array) -> tuple[Array, Array]:
    """A line that is lifted where it leaves the map on one side and comes in on the other."""
    breaks = np.flatnonzero(np.abs(np.diff(longitude)) > 180) + 1
    return np.insert(longitude, breaks, np.nan), np.insert(latitude, breaks, np.nan)


def coastlines() -> list[Array]:
    """The coastlines of the Earth, each as rows of longitude and latitude in degrees."""
    text = resources.files("leobench.plots").joinpath("coastlines.txt").read_text(encoding="ascii")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [np.array([point.split(",") for point in line.split()], dtype=float) for line in lines]


def _coast(axes: Axes) -> None:
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
            (_around(place["longitude"]), place["latitude"]),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=style.SMALL,
            color=style.INK,
        )


def offered(seen: Survey) -> Figure:
    """Delay, rate and elevation over time, with handovers as the steps between pieces."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    upper, middle, lower = figure.subplots(3, 1, sharex=True)
    links = _links(seen)
    for colour, link in zip(style.CATEGORIES, links, strict=False):
        rows = seen.samples.filter(link=link)
        _pieces(upper, rows, "delay_ms", colour, link)
        _rates(middle, rows, colour, link)
        _pieces(lower, rows, "elevation_deg", colour, link)
    changes = seen.handovers.filter(pl.col("from").is_not_null()).height
    style.dress(upper, f"Delay one way, over {changes:,} handovers", "delay (ms)", zero=False)
    style.dress(middle, "Rate", "rate (Mbit/s)")
    style.dress(lower, "Elevation of the serving satellite", "elevation (°)", zero=False)
    lower.set_ylim(0, 90)
    style.headroom(middle, 1.25)
    style.legend(middle)
    if len(links) > 1:
        style.headroom(upper, 1.25)
        style.legend(upper)
    style.time_axis(lower, 0, seen.duration_s)
    return figure


def _pieces(axes: Axes, rows: pl.DataFrame, column: str, colour: str, name: str) -> None:
    """A line that is lifted where another satellite serves."""
    times = rows["t_s"].to_numpy()
    values = rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    changed = (rows["satellite"] != rows["satellite"].shift()).fill_null(value=True)
    breaks = np.flatnonzero(changed.to_numpy())
    times, values = np.insert(times, breaks, times[breaks]), np.insert(values, breaks, np.nan)
    axes.plot(times, values, color=colour, linewidth=1.0, label=name)


def _rates(axes: Axes, rows: pl.DataFrame, colour: str, name: str) -> None:
    times, down, up = (rows[column].to_numpy() for column in ("t_s", "downlink_mbps", "uplink_mbps"))
    if (down == up).all():
        axes.step(times, down, where="post", color=colour, linewidth=1.0, label=f"{name} both ways")
        return
    axes.step(times, down, where="post", color=colour, linewidth=1.0, label=f"{name} to the terminal")
    looks: dict[str, Any] = {"linestyle": "--", "linewidth": 1.0}
    axes.step(times, up, where="post", color=colour, label=f"{name} from the terminal", **looks)


FIGURES: dict[str, Callable[[Survey], Figure | None]] = {"sky": sky, "ground": ground, "offered": offered}
