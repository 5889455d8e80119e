"""A map of the lasers that carry most: lines between satellites, as dark and wide as they are used."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError, allowed
from leobench.plots import orbit, style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.result import Result

_LASER = "laser/"
# Degrees from a laser to the line of its direction: both can be seen.
_ASIDE = 0.5
# Lasers that are named on the map, if they carry anything.
_NAMED = 3
# Inches of the map.
_WIDTH, _HEIGHT = 6.4, 3.6


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws where lasers are used, and how much, over the coastlines.

    Each direction of a laser is a line of its own beside the other. Satellites are where they are in the
    middle of the time shown.

    Args:
        result: The run, whose packets take hops with queues.
        flow: Not allowed for this kind of figure, which shows what all flows together use.
        link: Not allowed either.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If the run has no such hops or no series, or there is no such time.
    """
    for name, given in (("--flow", flow), ("--link", link)):
        if given is not None:
            raise InputError(f"{name} = {given}: lasers carry the packets of all flows; allowed: no `{name}`")
    used, between = _used(result, start_s, end_s)
    places = _places(result, sum(between) / 2)
    figure = style.figure(_WIDTH, _HEIGHT)
    axes = figure.add_subplot()
    lines = _lines(used, places)
    _draw_lines(figure, axes, lines)
    orbit.coast(axes)
    axes.set_xlim(-180, 180)
    axes.set_ylim(-75, 75)
    style.label_x(axes, "longitude (degrees)")
    title = f"Lasers by the share of the time in which they send, {between[0]:g} to {between[1]:g} s"
    style.dress(axes, title, "latitude (degrees)", zero=False)
    axes.grid(visible=False)
    busiest = "; ".join(f"{name} {100 * share:.0f} %" for name, share, _ in lines[-1 : -_NAMED - 1 : -1])
    style.note(figure, f"{len(lines)} directions of lasers sent. Busiest: {busiest}")
    return figure


def _used(result: Result, start_s: float | None, end_s: float | None) -> tuple[pl.DataFrame, list[float]]:
    """Share of the time in which each laser sent, and the time shown in seconds."""
    import polars as pl

    if "hops" not in result.tables:
        raise InputError(
            "--kind = lasers: no hop of this run has a queue, or it recorded no series; "
            "allowed: a run with `constellation.isl.rate` and `record.series`"
        )
    hops = result.tables["hops"]
    last = float(result.summary.virtual_s)
    between = [0.0 if start_s is None else start_s, last if end_s is None else end_s]
    if not 0 <= between[0] < between[1] <= last:
        raise InputError(
            f"--from = {between[0]:g}, --to = {between[1]:g}: allowed: times from 0 to {last:g} s"
        )
    low, high = (round(value * 1e9) for value in between)
    rows = hops.filter(pl.col("hop").str.starts_with(_LASER), pl.col("t_ns") > low, pl.col("t_ns") <= high)
    shares = rows.group_by("hop").agg(share=pl.col("busy_ns").sum() / (high - low)).sort("share", "hop")
    if not shares.height:
        raise InputError(
            "--kind = lasers: no laser sent at that time; allowed: a time in which packets were under way"
        )
    return shares, between


def _places(result: Result, at_s: float) -> dict[str, tuple[float, float]]:
    """Longitude and latitude below each satellite at a time."""
    from leobench import _core
    from leobench.scenario import load

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(json.dumps(result.scenario), encoding="utf-8")
        text = _core.places_below(load(file, flows="optional"), at_s)
    if text is None:
        raise InputError(
            f"--kind = lasers: the satellites have no orbits; {allowed('chain', ['preset', 'walker'])}"
        )
    return orbit.on_map(json.loads(text)["satellites"])


Line = tuple[str, float, list[orbit.Piece]]


def _lines(used: pl.DataFrame, places: dict[str, tuple[float, float]]) -> list[Line]:
    """Name, share and pieces of each laser, the busiest last.

    One that crosses the edge of the map has two pieces.
    """
    lines: list[Line] = []
    for hop, share in used.iter_rows():
        name = hop.removeprefix(_LASER)
        start, _, end = name.partition("->")
        ends = (places[start], places[end])
        lines.append((name, share, orbit.pieces(*ends, aside=_ASIDE)))
    return lines


def _draw_lines(figure: Figure, axes: Axes, lines: list[Line]) -> None:
    from matplotlib.collections import LineCollection

    pieces = [piece for _, _, parts in lines for piece in parts]
    shares = np.array([share for _, share, parts in lines for _ in parts])
    drawn = LineCollection(pieces, array=100 * shares, cmap="viridis_r", linewidths=0.5 + 2.5 * shares)
    drawn.set_clim(0, max(100 * float(shares.max()), 1e-9))
    axes.add_collection(drawn)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8)
    bar.set_label("time on the wire (%)", fontsize=style.FONT)
    bar.ax.tick_params(labelsize=style.FONT)
