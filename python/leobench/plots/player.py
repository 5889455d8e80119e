"""A player over time: the bitrates that it chose beside what the path offered, its buffer, and its stalls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import counted
from leobench.plots import handovers, paths, rates, sampling, style, units, videos, view

if TYPE_CHECKING:
    import polars as pl
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
    """Draws the bitrate of each segment over the time that it took to arrive, and what the buffer held.

    Args:
        result: The run, with a flow that is a video.
        flow: Name of that flow; the first that is a video unless given.
        link: Name of a link direction whose capacity is shown; the path's narrowest unless given.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If no flow is a video, that one is none, or the run recorded no series.
    """
    chosen = view.choose("player", result, videos.names("player", result, flow)[0], link, start_s, end_s)
    view.require_series("player", result)
    (shown,) = chosen.flows
    segments = videos.segments(result, shown)
    figure, stacked = style.stack(2, _HEIGHT)
    _bitrates(stacked[0], chosen, segments, link)
    _buffer(stacked[1], shown, segments)
    for axes in stacked:
        for begin, end in videos.stalls(segments, shown["video"]["stalled_s"], result.summary["virtual_s"]):
            axes.axvspan(begin, end, color=style.VERMILION, alpha=0.25, lw=1)  # The edge shows short ones.
    handovers.mark(stacked, chosen, sampling.note([chosen]))
    style.time_axis(stacked, chosen.start_s, chosen.end_s)
    return figure


def _bitrates(axes: Axes, view: View, segments: pl.DataFrame, link: str | None) -> None:
    """A bar of the bitrate over the time of each download, above the capacity of the path."""
    edges = rates.edges_ns(view, rates.step_ns(view))
    whose, capacity = paths.capacity_of(view, edges, link)
    rungs = segments["bitrate_bps"].to_numpy().astype(np.float64)
    factor, unit = units.scale_of("bit/s", [each for each in (capacity, rungs) if each is not None])
    if capacity is not None:
        rates.area(axes, edges, capacity / factor, whose)
    asked, arrived = segments["asked"].to_numpy(), segments["arrived"].to_numpy()
    axes.hlines(rungs / factor, asked, arrived, color=style.BLUE, lw=2.5, label="bitrate, while it arrives")
    flow = view.flows[0]
    video = flow["video"]
    mean = "" if video["bitrate_bps"] is None else f", mean {video['bitrate_bps'] / factor:.2f} {unit}"
    switches = "switch" if video["switches"] == 1 else "switches"
    title = f"Bitrates of {flow['name']}{mean}, {video['switches']} {switches}"
    style.dress(axes, title, unit)
    style.legend(axes)


def _buffer(axes: Axes, flow: Summary, segments: pl.DataFrame) -> None:
    """The content of the buffer: a segment more with each arrival, and a second less each second."""
    times, held = [0.0], [0.0]
    for arrived, buffer in segments.select("arrived", "buffer").iter_rows():
        # The start-up does not play, so what is left then is what was there.
        left = max(0.0, held[-1] - (arrived - times[-1]))
        before = left if held[-1] > 0 and left < buffer else 0.0
        empty = times[-1] + held[-1]
        if held[-1] > 0 and empty < arrived:
            times.append(empty)
            held.append(0.0)
        times += [arrived, arrived]
        held += [before, buffer]
    times.append(times[-1] + held[-1])
    held.append(0.0)
    axes.plot(times, held, color=style.BLUE)
    video = flow["video"]
    stalls = f"{counted(video['stalls'], 'stall')}, {video['stalled_s']:.1f} s in all (shaded)"
    waited = stalls if video["stalls"] else "no stall"
    start = "no picture" if video["startup_s"] is None else f"first picture after {video['startup_s']:.1f} s"
    style.dress(axes, f"Buffer: {start}; {waited}", "seconds")
