"""Grouped bars with intervals: one number per group and series.

The form of figure 5 of Khan et al., "Realistic assessment of transport protocols performance over LEO-based
communications" (Computer Networks, 2023): buffers as groups, streams as series, a panel per metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.plots import frames, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.frames import Column, Interval

# The share of a group's room that its bars fill.
_FILLED = 0.82

# Inches that a number above a bar takes.
_NUMBER = 0.33


def draw(
    frame: pl.DataFrame,
    *,
    group: Column | str,
    value: Column | str,
    series: Column | str | None = None,
    interval: Interval | None = None,
    title: str = "",
    colours: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draws grouped bars, groups and series in the order of the frame.

    A value on a logarithmic axis is drawn as a point, because the length of a bar means nothing there. A
    combination without a value says so, and a value without both bounds has no whisker.

    Args:
        frame: One row per group and series.
        group: Column that names the groups.
        value: Column of the heights.
        series: Column that names the series; none draws one bar per group.
        interval: Columns of the lower and upper ends of the whiskers.
        title: What the panel shows.
        colours: One per series; by default `style.CATEGORIES` with hatches, for print in grey.
        axes: The panel to draw in; a new figure with a legend unless given.

    Returns:
        The figure, the given panel's if there is one.

    Raises:
        InputError: If the frame is empty, lacks a column, holds something that cannot be drawn, has several
            rows for one bar, or more series than there are colours.
    """
    across, height, by = frames.column(group), frames.column(value), frames.series_of(series)
    numbers = frames.with_ends(height, interval)
    frames.check("bars", frame, [across, by], numbers)
    frames.check_once("bars", frame, [across, by])
    figure, panel = style.begin(axes)
    groups, names = frames.levels(frame, across), frames.levels(frame, by)
    factor, label = height.scaled(frames.largest(frame, numbers))
    fills = frames.colours(colours, len(names), "bars")
    width = _FILLED / len(names)
    for index, (name, fill) in enumerate(zip(names, fills, strict=True)):
        rows = frames.rows(frame, by, name)
        heights, *ends = (_in_groups(rows, each, across, groups) / factor for each in numbers)
        at = np.arange(len(groups), dtype=np.float64) + (index - (len(names) - 1) / 2) * width
        entry = frames.text(name) if by else label
        if height.log:
            marker = style.MARKERS[index % len(style.MARKERS)]
            panel.plot(at, heights, marker, color=fill, label=entry, markersize=5, zorder=3)
        else:
            hatch = "" if colours else style.HATCHES[index]
            panel.bar(
                at,
                heights,
                width * 0.94,
                color=fill,
                label=entry,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
            )
        if ends:
            _whiskers(panel, at, heights, ends)
        if _inches(panel) * width / len(groups) >= _NUMBER:
            _numbers(panel, at, heights, ends)
        for x in at[np.isnan(heights)]:
            frames.remark(panel, x, "no value")
    frames.name_groups(panel, groups, across)
    frames.dress(panel, title, label, low=frames.lowest(frame, numbers), log=height.log)
    if axes is None:
        frames.finish(figure, panel, by, f"whiskers: {interval.label}" if interval else "")
    return figure


def _inches(axes: Axes) -> float:
    """The width of a panel before its labels take their share."""
    return axes.get_position().width * float(style.begin(axes)[0].get_figwidth())


def _in_groups(rows: pl.DataFrame, number: Column, across: Column, groups: Sequence[Any]) -> style.Array:
    """The number of each group, in their order; not-a-number where there is none."""
    known = dict(zip(rows[across.name], frames.floats(rows, number.name), strict=True))
    return np.array([known.get(each, np.nan) for each in groups], np.float64)


def _whiskers(axes: Axes, at: style.Array, heights: style.Array, ends: list[style.Array]) -> None:
    low, high = ends
    whole = np.isfinite(heights) & np.isfinite(low) & np.isfinite(high)
    reach = np.stack([heights - low, high - heights])[:, whole]
    axes.errorbar(
        at[whole],
        heights[whole],
        np.maximum(reach, 0.0),
        fmt="none",
        ecolor=style.INK,
        elinewidth=0.9,
        capsize=2.0,
        capthick=0.9,
        zorder=4,
    )


def _numbers(axes: Axes, at: style.Array, heights: style.Array, ends: list[style.Array]) -> None:
    """Writes every height above its bar and whisker, below them where it is negative."""
    tops = np.fmax(heights, ends[1]) if ends else heights
    bottoms = np.fmin(heights, ends[0]) if ends else heights
    for x, height, bottom, top in zip(at, heights, bottoms, tops, strict=True):
        if np.isfinite(height):
            axes.annotate(
                style.number_text(height),
                (x, bottom if height < 0 else top),
                xytext=(0, -2 if height < 0 else 2),
                textcoords="offset points",
                ha="center",
                va="top" if height < 0 else "bottom",
                fontsize=style.FONT - 2,
                color=style.INK,
            )
