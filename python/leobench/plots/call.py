"""A call over time: the rate of its picture beside what the path offered, and when each frame was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.errors import InputError, allowed, counted
from leobench.plots import handovers, paths, rates, sampling, style, units, view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.view import Summary, View
    from leobench.result import Result

# Inches of both panels.
_HEIGHT = 2.2


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the rate of the frames that arrived, the time from capture to screen of each, and the freezes.

    Args:
        result: The run, with a flow that is a call with a picture.
        flow: Name of that flow; the first that is one unless given.
        link: Name of a link direction whose capacity is shown; the path's narrowest unless given.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If no flow is such a call, that one is none, or the run recorded no series.
    """
    calls = [each["name"] for each in result.summary["flows"] if each.get("call", {}).get("picture")]
    if not calls:
        raise InputError(
            "--kind = call: no flow of the run is a call with a picture; allowed: a run with a `call`"
        )
    if flow is not None and flow not in calls:
        raise InputError(f"--flow = {flow}: is no call with a picture; {allowed(flow, calls)}")
    chosen = view.choose("call", result, flow or calls[0], link, start_s, end_s)
    view.require_series("call", result)
    (shown,) = chosen.flows
    frames = _frames(result, shown)
    figure, stacked = style.stack(2, _HEIGHT)
    _rates(stacked[0], chosen, frames, link)
    _delays(stacked[1], chosen, frames)
    style.time_axis(stacked, chosen.start_s, chosen.end_s)
    handovers.mark(stacked, chosen, sampling.note([chosen]))
    return figure


def _frames(result: Result, flow: Summary) -> pl.DataFrame:
    """The frames of a flow in order.

    Raises:
        InputError: If none is recorded: nothing of the picture arrived.
    """
    name = flow["name"]
    known = "frames" in result.tables
    frames = result.tables.frames.filter(pl.col("flow") == name).sort("frame") if known else None
    if frames is None or frames.is_empty():
        raise InputError(
            f"--kind = call: no frame of flow {name} arrived, so there is no picture to draw; allowed: "
            "a call with frames, or `--kind timeline`, which shows what became of its packets"
        )
    return frames


def _rates(axes: Axes, view: View, frames: pl.DataFrame, link: str | None) -> None:
    """The rate of complete frames, by the time at which they were complete, above the path's capacity."""
    edges = rates.edges_ns(view, rates.step_ns(view))
    whose, capacity = paths.capacity_of(view, edges, link)
    complete = frames.drop_nulls("complete_ns")
    bits, _ = np.histogram(complete["complete_ns"], bins=edges, weights=8.0 * complete["bytes"].to_numpy())
    arrived = bits / (np.diff(edges) / 1e9)
    factor, unit = units.scale_of("bit/s", [each for each in (capacity, arrived) if each is not None])
    if capacity is not None:
        rates.area(axes, edges, capacity / factor, whose)
    axes.stairs(arrived / factor, edges / 1e9, color=style.BLUE, lw=1.4, label="complete frames")
    flow = view.flows[0]
    mean = f"{flow['call']['received_bps'] / factor:.2f} {unit}"
    style.dress(axes, f"Picture of {flow['name']}: {mean} with voice and headers", unit)
    style.legend(axes)


def _delays(axes: Axes, view: View, frames: pl.DataFrame) -> None:
    """The time from capture to screen of each frame, late ones apart, and the frames that nobody saw."""
    seen = frames.drop_nulls("rendered_ns").with_columns(
        captured=pl.col("t_ns") / 1e9, delay=(pl.col("rendered_ns") - pl.col("t_ns")) / 1e6
    )
    for late, colour, label in ((False, style.BLUE, "in time"), (True, style.VERMILION, "late")):
        rows = seen.filter(pl.col("late") == late)
        if not rows.is_empty():
            axes.plot(rows["captured"], rows["delay"], ".", ms=2.5, color=colour, label=label)
    unseen = frames.filter(pl.col("rendered_ns").is_null())["t_ns"] / 1e9
    if not unseen.is_empty():
        axes.plot(unseen, np.zeros(len(unseen)), "x", ms=3, color=style.FAINT, label="not rendered")
    picture = view.flows[0]["call"]["picture"]
    count = picture["freezes"]
    frozen = f"{counted(count, 'freeze')}, {picture['frozen_s'] or 0:.1f} s in all"
    waited = frozen if count else "no freeze" if seen.height else "no picture"
    style.dress(axes, f"Time from the camera to the screen; {waited}", "ms")
    style.legend(axes)
