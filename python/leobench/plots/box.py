"""Boxes or violins: the distribution of the values of each group and series; points if they are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.mlab import GaussianKDE

from leobench.plots import frames, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.frames import Column

# With fewer values than this, there are fewer than two below the 5 % quantile: they are drawn themselves.
FEWEST = 40

_BOXES = "box: quartiles, line: median, whiskers: 5 % to 95 %, diamond: mean"
_POINTS = "points: single values, line: median, diamond: mean"

_FILLED = 0.8
_WHISKERS = (5, 95)

# Widths of a strip of points and of its median, as shares of the room.
_STRIP, _MEDIAN = 0.5, 0.62

# Points that a marker is wide, and the most as a share of the room.
_MARKER, _SLIM = 3.2, 0.25

# Inches that a letter of a remark takes, and points that a line of it is high.
_LETTER = 0.06
_LINE = 9.0


def draw(
    frame: pl.DataFrame,
    *,
    group: Column | str,
    value: Column | str,
    series: Column | str | None = None,
    violin: bool = False,
    title: str = "",
    colours: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draws a box for every group and series, in the order of the frame.

    The box reaches from the lower to the upper quartile, with a line at the median, whiskers from the 5 % to
    the 95 % quantile, and a diamond at the mean. Fewer than 40 values are points beside each other instead,
    with the median and the mean. Missing values, such as delays of undelivered messages, are left out, and
    their share is written above.

    Args:
        frame: One row per value.
        group: Column that names the groups.
        value: Column of the values.
        series: Column that names the series; none draws one box per group.
        violin: Whether to draw the estimated density around each box; points have none.
        title: Title of the panel.
        colours: One per series.
        axes: The panel to draw in; a new figure with a legend unless given.

    Returns:
        The figure, the given panel's if there is one.

    Raises:
        InputError: If the frame is empty, lacks a column, holds values that cannot be drawn, or has more
            series than there are colours.
    """
    across, measured, by = frames.column(group), frames.column(value), frames.series_of(series)
    frames.check("box", frame, [across, by], [measured])
    figure, panel = style.begin(axes)
    groups, names = frames.levels(frame, across), frames.levels(frame, by)
    panel.set_xlim(-0.5, len(groups) - 0.5)
    factor, label = measured.scaled(frames.largest(frame, [measured]))
    if measured.log:
        panel.set_yscale("log")
    room, fills = _FILLED / len(names), frames.colours(colours, len(names), "box")
    remarks: list[tuple[float, str]] = []
    for index, (name, fill) in enumerate(zip(names, fills, strict=True)):
        rows = frames.rows(frame, by, name)
        for place, each in enumerate(groups):
            values = frames.floats(frames.rows(rows, across, each), measured.name) / factor
            at = place + (index - (len(names) - 1) / 2) * room
            known = values[np.isfinite(values)]
            _cell(panel, known, at, room, fill, violin=violin)
            if missing := 100 * (len(values) - len(known)) / max(1, len(values)):
                remarks.append((at, f"{units.number_text(missing)} % missing"))
        # Boxes have no legend of their own; a bar without height has.
        panel.bar(0, 0, color=fill, label=frames.text(name) if by else label)
    frames.name_groups(panel, groups, across, alone=axes is None)
    frames.dress(panel, frame, [measured], title, label, factor)
    _say_missing(panel, remarks, room)
    if axes is None:
        frames.finish(
            figure, panel, by, reading(frame, [each.name for each in (across, by) if each], measured.name)
        )
    return figure


def reading(frame: pl.DataFrame, keys: Sequence[str], value: str) -> str:
    """How to read a figure of this column, for the note below it: boxes, points, or both."""
    counts = frame.group_by(keys).agg(pl.col(value).is_not_null().sum())[value]
    said = {_POINTS: (counts < FEWEST).any(), _BOXES: (counts >= FEWEST).any()}
    return "; ".join(text for text, drawn in said.items() if drawn)


def _say_missing(axes: Axes, remarks: list[tuple[float, str]], room: float) -> None:
    """Writes the share of missing values above the boxes, vertically if a box is too narrow."""
    if not remarks:
        return
    across = style.inches(axes)[0] * room / (axes.get_xlim()[1] - axes.get_xlim()[0])
    longest = _LETTER * max(len(text) for _, text in remarks)
    upright = longest > across
    frames.make_room(axes, 72 * longest if upright else _LINE)
    for x, text in remarks:
        frames.remark(axes, x, text, top=True, upright=upright)


def _cell(axes: Axes, values: style.Array, at: float, room: float, fill: str, *, violin: bool) -> None:
    outline: dict[str, Any] = {"markeredgecolor": style.INK, "markeredgewidth": 0.6}
    size = min(_MARKER, _SLIM * 72 * room * style.inches(axes)[0] / np.ptp(axes.get_xlim()))
    mean = {"marker": "D", "markerfacecolor": "white", "markersize": size, **outline}
    if len(values) < FEWEST:
        if len(values):
            _points(axes, values, at, room, fill, size)
            axes.plot(at, np.mean(values), linestyle="", zorder=3, **mean)
        return
    if violin and np.ptp(values) > 0:
        heights, widths = _density(values, log=axes.get_yscale() == "log")
        reach = 0.47 * room * widths
        axes.fill_betweenx(
            heights, at - reach, at + reach, facecolor=fill, edgecolor=fill, alpha=0.45, linewidth=0.6
        )
    line = {"color": style.INK, "linewidth": 0.8}
    axes.boxplot(
        [values],
        positions=[at],
        widths=room * (0.22 if violin else 0.72),
        whis=_WHISKERS,
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": fill, "edgecolor": style.INK, "linewidth": 0.8},
        medianprops=line | {"linewidth": 1.6},
        meanprops=mean,
        whiskerprops=line,
        capprops=line,
    )


def _points(axes: Axes, values: style.Array, at: float, room: float, fill: str, size: float) -> None:
    """The values in order, spread over a strip so that equal ones are seen, and a line at their median.

    Places are those of the golden ratio: neighbours in size are far apart.
    """
    spread = (np.arange(len(values)) * (np.sqrt(5) - 1) / 2 + 0.5) % 1 - 0.5
    half = _MEDIAN * room / 2
    axes.hlines(np.median(values), at - half, at + half, color=style.INK, linewidth=1.6, zorder=2.5)
    axes.plot(
        at + _STRIP * room * spread, np.sort(values), "o", color=fill, markersize=size,
        markeredgecolor=style.INK, markeredgewidth=0.4, alpha=0.85,
    )  # fmt: skip


def _density(values: style.Array, *, log: bool) -> tuple[style.Array, style.Array]:
    """Heights and relative widths of a violin: a Gaussian kernel density, on the scale of the axis.

    The bandwidth is Scott's ("Multivariate density estimation", 1992); the violin ends where the values do.
    """
    shown = np.log10(values) if log else values
    heights = np.linspace(shown.min(), shown.max(), 200)
    widths = GaussianKDE(shown).evaluate(heights)
    return 10**heights if log else heights, widths / np.max(widths)
