"""Empirical distribution functions: the share of the values below each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import frames, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.frames import Column

# Shares that readers look for.
_GUIDES = ((0.5, "median"), (0.95, "95 %"))


def draw(
    frame: pl.DataFrame,
    *,
    value: Column | str,
    series: Column | str | None = None,
    of: str = "values",
    title: str = "",
    colours: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draws the empirical distribution function of every series.

    A missing value, such as the delay of an undelivered message, counts as infinite: the curve ends below
    1, and the legend names the share.

    Args:
        frame: One row per value.
        value: Column of the values.
        series: Column that names the series, in the order of the frame.
        of: The objects counted, for the axis: "messages".
        title: Title of the panel.
        colours: One per series.
        axes: The panel to draw in; a new figure with a legend unless given.

    Returns:
        The figure, the given panel's if there is one.

    Raises:
        InputError: If the frame is empty, lacks a column, holds values that cannot be drawn, or has more
            series than there are colours.
    """
    measured, by = frames.column(value), frames.series_of(series)
    frames.check("ecdf", frame, [by], [measured])
    figure, panel = style.begin(axes)
    names = frames.levels(frame, by)
    factor, label = measured.scaled(frames.largest(frame, [measured]))
    strokes = frames.colours(colours, len(names), "ecdf")
    for index, (name, colour) in enumerate(zip(names, strokes, strict=True)):
        values = frames.floats(frames.rows(frame, by, name), measured.name) / factor
        known = np.sort(values[np.isfinite(values)])
        missing = 100 * (len(values) - len(known)) / len(values)
        entry = frames.text(name) if by else label
        panel.plot(
            *_steps(known, len(values)),
            drawstyle="steps-post",
            color=colour,
            linestyle=style.DASHES[index % len(style.DASHES)],
            linewidth=1.4,
            label=f"{entry} ({units.number_text(missing)} % missing)" if missing else entry,
        )
    _guides(panel)
    _scale(panel, log=measured.log, negative=frames.lowest(frame, [measured]) < 0)
    style.label_x(panel, label)
    style.dress(panel, title, f"share of {of} below", zero=False)
    if axes is None:
        frames.finish(figure, panel, by, "")
    return figure


def _scale(axes: Axes, *, log: bool, negative: bool) -> None:
    if log:
        axes.set_xscale("log")
        style.plain_log(axes.xaxis)
    else:
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]) if negative else 0)
    axes.set_ylim(0, 1.02)


def _guides(axes: Axes) -> None:
    """Lines at these shares, with their names beside the panel, where no curve is."""
    for share, name in _GUIDES:
        axes.axhline(share, color=style.FAINT, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0.5)
        axes.annotate(
            name,
            (1, share),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=style.SMALL,
            color=style.FAINT,
        )


def _steps(known: style.Array, count: int) -> tuple[style.Array, style.Array]:
    """Corners of the function: values and the shares reached there, from 0; thinned to what a page shows."""
    if len(known) == 0:
        return known, known
    kept = np.unique(np.linspace(0, len(known) - 1, style.COLUMNS).round().astype(np.intp))
    return np.concatenate([known[:1], known[kept]]), np.concatenate([[0.0], (kept + 1) / count])
