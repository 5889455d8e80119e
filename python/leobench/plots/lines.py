"""Lines with bands: a number as a function of a swept parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import frames, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.frames import Column, Interval

# How far apart the whiskers of two series are, as a share of the axis; and of all series, as a share of the
# shortest step between swept values.
_APART, _SPREAD = 0.012, 0.5

# What intervals are drawn as: without and with whiskers.
_INTERVALS = ("bands", "whiskers")

# Up to so many swept values, the axis marks them and nothing between.
_MOST_TICKS = 8


def draw(  # noqa: PLR0913 (everything a figure can be asked for, by name)
    frame: pl.DataFrame,
    *,
    x: Column | str,
    y: Column | str,
    series: Column | str | None = None,
    interval: Interval | None = None,
    whiskers: bool = False,
    title: str = "",
    colours: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draws a line with a marker at every swept value, and a band, for every series.

    A missing value interrupts the line; missing bounds interrupt the band.

    Args:
        frame: One row per swept value and series.
        x: Column of the swept values.
        y: Column of the numbers.
        series: Column that names the series, in the order of the frame.
        interval: Columns of the lower and upper ends of the bands or whiskers.
        whiskers: Whether intervals are whiskers instead of bands, with series slightly offset.
        title: Title of the panel.
        colours: One per series.
        axes: The panel to draw in; a new figure with a legend unless given.

    Returns:
        The figure, the given panel's if there is one.

    Raises:
        InputError: If the frame is empty, lacks a column, holds values that cannot be drawn, has several
            rows for one point, or more series than there are colours.
    """
    swept, number, by = frames.column(x), frames.column(y), frames.series_of(series)
    numbers = frames.with_ends(number, interval, log=False)
    frames.check("lines", frame, [by], [swept, *numbers])
    frames.check_once("lines", frame, [swept, by])
    figure, panel = style.begin(axes)
    names = frames.levels(frame, by)
    strokes, floor = frames.colours(colours, len(names), "lines"), frames.floor(frame, number)
    factor, label = number.scaled(frames.largest(frame, numbers))
    swept_factor, swept_label = swept.scaled(frames.largest(frame, [swept]))
    swept_values = np.unique(frames.floats(frame, swept.name)) / swept_factor
    apart = 0.0 if swept.log else _apart(swept_values, len(names))
    for index, (name, colour) in enumerate(zip(names, strokes, strict=True)):
        rows = frames.rows(frame, by, name).sort(swept.name)
        at = frames.floats(rows, swept.name) / swept_factor
        values, *ends = (frames.floats(rows, each.name) / factor for each in numbers)
        if whiskers:
            at = at + (index - (len(names) - 1) / 2) * apart
        if ends:
            # Beyond its lower end, a logarithmic axis has no place.
            low = np.maximum(ends[0], floor / factor) if number.log else ends[0]
            _interval(panel, at, low, ends[1], colour, whiskers=whiskers)
        _line(panel, at, values, colour, index, frames.text(name) if by else label)
    _axis(panel, swept_values, swept_label, log=swept.log)
    frames.dress(panel, frame, numbers, title, label, factor)
    if axes is None:
        frames.finish(figure, panel, by, f"{_INTERVALS[whiskers]}: {interval.label}" if interval else "")
    return figure


def _apart(swept: style.Array, series: int) -> float:
    """The distance between the whiskers of two series."""
    if len(swept) == 1:
        return 0.0
    return min(_APART * float(np.ptp(swept)), _SPREAD * float(np.min(np.diff(swept))) / max(1, series - 1))


def _line(axes: Axes, at: style.Array, values: style.Array, colour: str, index: int, label: str) -> None:
    """A line with a marker at every value, in the style of this series."""
    axes.plot(
        at,
        values,
        **style.marker(colour, 4.0),
        linestyle=style.DASHES[index % len(style.DASHES)],
        linewidth=1.3,
        marker=style.MARKERS[index % len(style.MARKERS)],
        label=label,
    )


def _interval(
    axes: Axes, at: style.Array, low: style.Array, high: style.Array, colour: str, *, whiskers: bool
) -> None:
    """Intervals as a band, or as whiskers behind the markers."""
    if not whiskers:
        axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        return
    style.whiskers(axes, at, low, high, caps=(low, high), behind=colour)


def _axis(axes: Axes, swept: style.Array, label: str, *, log: bool) -> None:
    """The horizontal axis, with a tick for each of a few swept values."""
    if log:
        axes.set_xscale("log")
        style.plain_log(axes.xaxis)
    style.label_x(axes, label)
    if len(swept) <= _MOST_TICKS:
        axes.set_xticks(swept, [f"{value:g}" for value in swept])
        axes.set_xticks([], minor=True)
