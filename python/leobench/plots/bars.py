"""Grouped bars with intervals: one number per group and series.

The form of figure 5 of Khan et al., "Realistic assessment of transport protocols performance over LEO-based
communications" (Computer Networks, 2023): buffers as groups, streams as series, a panel per metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.plots import frames, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.frames import Column, Interval

# The share of a group's room that its bars fill.
_FILLED = 0.82

# Inches that a number above a bar takes, and points that it is high.
_NUMBER = 0.33
_HIGH = 10.0

# Points that an arrow takes at least.
_ARROW = 14.0

_OPEN, _NONE = "arrow: no end on this axis", "no whisker: no interval"


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

    Values on a logarithmic axis are points, because the length of a bar has no meaning there. An arrow to
    the edge replaces an end of an interval that is unknown or beyond such an axis; without both ends there
    is no whisker.

    Args:
        frame: One row per group and series.
        group: Column that names the groups.
        value: Column of the heights.
        series: Column that names the series; none draws one bar per group.
        interval: Columns of the lower and upper ends of the whiskers; null where there is no bound.
        title: Title of the panel.
        colours: One per series; by default `style.CATEGORIES` with hatches, for print in grey.
        axes: The panel to draw in; a new figure with a legend unless given.

    Returns:
        The figure, the given panel's if there is one.

    Raises:
        InputError: If the frame is empty, lacks a column, holds values that cannot be drawn, has several
            rows for one bar, or more series than there are colours.
    """
    across, height, by = frames.column(group), frames.column(value), frames.series_of(series)
    numbers = frames.with_ends(height, interval, log=False)
    frames.check("bars", frame, [across, by], numbers)
    frames.check_once("bars", frame, [across, by])
    figure, panel = style.begin(axes)
    groups, names = frames.levels(frame, across), frames.levels(frame, by)
    factor, label = height.scaled(frames.largest(frame, numbers))
    fills, width = frames.colours(colours, len(names), "bars"), _FILLED / len(names)
    numbered = style.inches(panel)[0] * width / len(groups) >= _NUMBER
    for index, (name, fill) in enumerate(zip(names, fills, strict=True)):
        cells = (_in_groups(frames.rows(frame, by, name), each, across, groups) for each in numbers)
        heights, *ends = (each / factor for each in cells)
        at = np.arange(len(groups), dtype=np.float64) + (index - (len(names) - 1) / 2) * width
        look = {"color": fill, "label": frames.text(name) if by else label}
        _shapes(panel, at, heights, width, look, index if height.log or not colours else 0, log=height.log)
        if ends:
            _whiskers(panel, at, heights, ends, log=height.log, floor=frames.floor(frame, height) / factor)
        _label(panel, at, heights, ends, (4 if height.log else 2) if numbered else None)
    frames.name_groups(panel, groups, across, alone=axes is None)
    frames.dress(panel, frame, numbers, title, label, factor)
    signs = [] if interval is None else unusual(frame, height, interval)
    _leave_room(panel, numbered=numbered, arrows=_OPEN in signs, below=frames.lowest(frame, numbers) < 0)
    if axes is None:
        frames.finish(
            figure, panel, by, "; ".join([f"whiskers: {interval.label}", *signs] if interval else [])
        )
    return figure


def _shapes(
    axes: Axes,
    at: style.Array,
    heights: style.Array,
    width: float,
    look: dict[str, Any],
    index: int,
    *,
    log: bool,
) -> None:
    """The bars of a series, or points on a logarithmic axis, with the hatch or marker of this number."""
    if log:
        marker = style.MARKERS[index % len(style.MARKERS)]
        axes.plot(at, heights, marker, zorder=3, **(look | style.marker(look["color"])))
    else:
        hatch = style.HATCHES[index]
        axes.bar(at, heights, width * 0.94, hatch=hatch, edgecolor="white", linewidth=0, **look)


def _label(
    axes: Axes, at: style.Array, heights: style.Array, ends: list[style.Array], points: int | None
) -> None:
    """Writes the heights above their bars, if at all, and marks missing bars."""
    if points is not None:
        _numbers(axes, at, heights, ends, points)
    for x in at[np.isnan(heights)]:
        frames.remark(axes, x, "no value")


def _leave_room(axes: Axes, *, numbered: bool, arrows: bool, below: bool) -> None:
    """Leaves room for numbers and arrows above the bars, and below negative bars."""
    room = max(_HIGH * numbered, _ARROW * arrows)
    if room:
        frames.make_room(axes, room, room if below or (arrows and axes.get_yscale() == "log") else 0.0)


def unusual(frame: pl.DataFrame, value: Column, interval: Interval) -> list[str]:
    """A remark on unusual whiskers of a frame, for the note below its figure."""
    middle, low, high = (frames.floats(frame, each) for each in (value.name, interval.low, interval.high))
    known, ends = np.isfinite(middle), np.isfinite([low, high])
    whole = ends.all(axis=0) & ~(low <= frames.floor(frame, value) if value.log else False)
    seen = {_OPEN: known & ends.any(axis=0) & ~whole, _NONE: known & ~ends.any(axis=0)}
    return [text for text, cells in seen.items() if cells.any()]


def _in_groups(rows: pl.DataFrame, number: Column, across: Column, groups: Sequence[Any]) -> style.Array:
    """The number of each group, in their order; not-a-number where there is none."""
    known = dict(zip(rows[across.name], frames.floats(rows, number.name), strict=True))
    return np.array([known.get(each, np.nan) for each in groups], np.float64)


def _whiskers(
    axes: Axes, at: style.Array, heights: style.Array, ends: list[style.Array], *, log: bool, floor: float
) -> None:
    """Draws intervals: a cap at a known end, an arrow to the edge of the panel for an unknown one.

    On a logarithmic axis, an end below `floor` counts as unknown.
    """
    known = np.isfinite(heights) & np.isfinite(ends).any(axis=0)
    x, middle, low, high = (each[known] for each in (at, heights, *ends))
    low = np.where(low > floor, low, np.nan) if log else low
    low, high = np.minimum(low, middle), np.maximum(high, middle)
    line: dict[str, Any] = {"color": style.INK, "linewidth": 0.9}
    style.whiskers(axes, x, np.fmin(low, middle), np.fmax(high, middle), caps=(low, high))
    for end, edge in ((low, 0), (high, 1)):
        for open_x, start in zip(x[np.isnan(end)], middle[np.isnan(end)], strict=True):
            axes.annotate(
                "",
                (open_x, edge),
                xycoords=("data", "axes fraction"),
                xytext=(open_x, start),
                textcoords="data",
                arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6, **line},
                zorder=4,
            )


def _numbers(axes: Axes, at: style.Array, heights: style.Array, ends: list[style.Array], points: int) -> None:
    """Writes every height above its bar and whisker, or below them if it is negative."""
    tops = np.fmax(heights, ends[1]) if ends else heights
    bottoms = np.fmin(heights, ends[0]) if ends else heights
    for x, height, bottom, top in zip(at, heights, bottoms, tops, strict=True):
        if np.isfinite(height):
            axes.annotate(
                units.number_text(height),
                (x, bottom if height < 0 else top),
                xytext=(0, -points if height < 0 else points),
                textcoords="offset points",
                ha="center",
                va="top" if height < 0 else "bottom",
                fontsize=style.SMALL,
                color=style.INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                zorder=5,
            )
