"""The sky over terminals: the ways of serving satellites, and the part in which none serves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from leobench.plots import style, turns

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes

    from leobench.orbit import SkyPart, Survey

    Array = style.Array

# The ellipsoid WGS84, and the radius of the geostationary orbit, in km.
_EQUATOR, _FLATTENING, _GEOSTATIONARY = 6378.137, 1 / 298.257223563, 42_164.17

# Degrees of longitude from one direction of the arc to the next, and of the sky from one tested direction to
# the next.
_ARC_STEP, _STEP = 0.25, 1.0

_TIMES = "viridis"


def draw(seen: Survey) -> Figure:
    """The ways of serving satellites through the sky, coloured by time: north is up, the zenith central."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    links = turns.links(seen)
    figure = style.figure(max(5.0, 3.8 * len(links) + 0.6), 4.6)
    long = seen.duration_s >= 600
    times = ScalarMappable(Normalize(0, seen.duration_s / (60 if long else 1)), _TIMES)
    panels = []
    for place, link in enumerate(links, start=1):
        axes = cast("PolarAxes", figure.add_subplot(1, len(links), place, projection="polar"))
        panels.append(axes)
        _dress(axes)
        _part(axes, seen, seen.skies[link])
        runs = turns.of(seen, link)
        for run in runs:
            angle = np.unwrap(np.radians(run["azimuth_deg"].to_numpy()))
            distance = 90 - run["elevation_deg"].to_numpy()
            colour = times.to_rgba(float(run["t_s"].mean()) / (60 if long else 1))  # type: ignore[arg-type]
            axes.plot(angle, distance, color=colour, linewidth=1.1)
            axes.plot(angle[-1:], distance[-1:], ".", color=colour, markersize=2.5)
        title = f"Satellites that serve {link}:\n{len(runs)} turns, each ends with a dot"
        axes.set_title(title, fontsize=style.TITLE, color=style.INK, pad=14)
    bar = figure.colorbar(times, ax=panels, shrink=0.6, pad=0.06)
    bar.set_label(f"time ({'min' if long else 's'})", fontsize=style.FONT, color=style.INK)
    bar.ax.tick_params(labelsize=style.FONT, colors=style.INK)
    _key(figure, seen, links)
    return figure


def _dress(axes: PolarAxes) -> None:
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_ylim(0, 90)
    axes.set_yticks([30, 60, 90], labels=["60°", "30°", ""], fontsize=style.SMALL, color=style.FAINT)
    axes.set_rlabel_position(225)
    axes.set_xticks(np.radians([0, 90, 180, 270]), labels=["N", "E", "S", "W"], fontsize=style.FONT)
    axes.grid(color=style.GRID, linewidth=0.6)


def _part(axes: PolarAxes, seen: Survey, part: SkyPart) -> None:
    """Shades what is too close to the geostationary arc, and draws the lowest elevation."""
    if part.arc_deg is not None:
        latitude = next(each["latitude"] for each in seen.terminals if each["name"] == part.terminal)
        azimuth, elevation = np.meshgrid(np.arange(0, 360 + _STEP, _STEP), np.arange(0, 90 + _STEP, _STEP))
        away = arc_separation(latitude, azimuth, elevation)
        place = (np.radians(azimuth), 90 - elevation)
        axes.contourf(*place, away, levels=[-1, part.arc_deg], colors=[style.CLOSED], alpha=0.5, zorder=0.5)
    if part.lowest_deg is not None:
        around = np.linspace(0, 2 * np.pi, 200)
        axes.plot(around, np.full(200, 90 - part.lowest_deg), "--", color=style.FAINT, linewidth=0.8)


def _key(figure: Figure, seen: Survey, links: list[str]) -> None:
    """The legend of the parts of the sky in which no satellite serves."""
    parts = [seen.skies[link] for link in links]
    arcs = sorted({part.arc_deg for part in parts if part.arc_deg is not None})
    lowest = sorted({part.lowest_deg for part in parts if part.lowest_deg is not None})
    entries: list[Artist] = []
    if arcs:
        said = f"closer than {_degrees(arcs)} to the geostationary arc: not chosen"
        entries.append(style.patch_entry(said, style.CLOSED, alpha=0.5, linewidth=0))
    if lowest:
        said = f"lowest elevation, {_degrees(lowest)}"
        entries.append(style.line_entry(said, style.FAINT, linewidth=0.8, linestyle="--"))
    if entries:
        style.key_of(figure, entries, below=True)


def _degrees(values: list[float]) -> str:
    return " or ".join(f"{value:g}°" for value in values)


def arc_separation(latitude: float, azimuth: Array, elevation: Array) -> Array:
    """The angles between directions and the visible arc of the geostationary satellites, all in degrees.

    Straight angles where the arc is below the horizon.
    """
    arc = _arc(math.radians(latitude))
    turn, height = np.radians(azimuth), np.radians(elevation)
    looks = np.stack((np.cos(height) * np.sin(turn), np.cos(height) * np.cos(turn), np.sin(height)), axis=-1)
    nearest = np.full(looks.shape[:-1], -1.0)
    for direction in arc:
        nearest = np.maximum(nearest, looks @ direction)
    away: Array = np.degrees(np.arccos(np.clip(nearest, -1.0, 1.0)))
    return away


def _arc(latitude: float) -> Array:
    """Directions of the geostationary orbit above the horizon: rows of east, north and up."""
    square = _FLATTENING * (2 - _FLATTENING)
    curvature = _EQUATOR / math.sqrt(1 - square * math.sin(latitude) ** 2)
    place = curvature * np.array([math.cos(latitude), 0.0, (1 - square) * math.sin(latitude)])
    longitude = np.radians(np.arange(-90, 90 + _ARC_STEP, _ARC_STEP))
    orbit = _GEOSTATIONARY * np.stack((np.cos(longitude), np.sin(longitude), 0 * longitude), axis=-1)
    axes = np.array(
        [
            [0.0, 1.0, 0.0],
            [-math.sin(latitude), 0.0, math.cos(latitude)],
            [math.cos(latitude), 0.0, math.sin(latitude)],
        ]
    )
    seen: Array = (orbit - place) @ axes.T
    directions: Array = seen / np.linalg.norm(seen, axis=1, keepdims=True)
    return directions[seen[:, 2] >= 0]
