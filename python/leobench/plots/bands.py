"""Series over time: their samples, thinned to what a page shows, and bands of dense ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.plots import style, units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Slices of time that a band is made of: a line of one point is about as wide as one of them.
SLICES = 300

# Quantiles of a band, and what it is called.
LOW, HIGH, NAME = 0.05, 0.95, "5 % to 95 %"

# A series is dense from so many samples per slice on, if it goes up and down within most slices: it travels
# several times as far as the slice is high.
_SAMPLES, _TRAVEL = 4, 2.0


def samples(rows: pl.DataFrame, time: str, column: str) -> tuple[style.Array, style.Array]:
    """Times in seconds and values of a column, missing ones as not-a-number."""
    return rows[time].to_numpy() / 1e9, rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def thin(
    times: style.Array, values: style.Array, columns: int = style.COLUMNS
) -> tuple[style.Array, style.Array]:
    """The lowest and the highest point of every one of `columns` slices of time, in order of time.

    Every point returned belongs to the series and no peak is lost, so the drawing looks like one of all
    points. Points that are not a number are gaps; one is kept per slice without numbers.
    """
    if len(times) <= 2 * columns:
        return times, values
    edges = np.linspace(times[0], times[-1], columns + 1)[1:-1]
    slices = np.split(np.arange(len(times)), np.searchsorted(times, edges, side="left"))
    kept: list[int] = []
    for indices in slices:
        if len(indices) == 0:
            continue
        slice_values = values[indices]
        if np.isnan(slice_values).all():
            kept.append(int(indices[0]))
            continue
        extremes = {int(np.nanargmin(slice_values)), int(np.nanargmax(slice_values))}
        kept.extend(int(indices[at]) for at in sorted(extremes))
    chosen = np.asarray(kept)
    return times[chosen], values[chosen]


@dataclass(frozen=True)
class Band:
    """The distribution of the samples in each slice of time; slices without samples are left out.

    Attributes:
        times: Middles of the slices, in seconds.
        lowest: The lowest sample of each.
        low: Their 5 % quantile.
        median: Their median.
        high: Their 95 % quantile.
        highest: The highest sample.
    """

    times: style.Array
    lowest: style.Array
    low: style.Array
    median: style.Array
    high: style.Array
    highest: style.Array


def of(times: style.Array, values: style.Array, slices: int = SLICES) -> Band:
    """The band of a series in order of time; values that are not a number are left out."""
    known = np.isfinite(values)
    times, values = times[known], values[known]
    first, last = (times[0], times[-1]) if len(times) else (0.0, 0.0)
    edges = np.linspace(first, last, slices + 1)
    groups = np.split(values, np.searchsorted(times, edges[1:-1], side="left"))
    full = np.array([len(group) > 0 for group in groups], dtype=bool)
    quantiles = [np.quantile(group, (0, LOW, 0.5, HIGH, 1)) for group in groups if len(group)]
    middles = (edges[1:] + edges[:-1])[full] / 2
    return Band(middles, *np.array(quantiles, dtype=np.float64).reshape(-1, 5).T)


def is_dense(values: style.Array, slices: int = SLICES) -> bool:
    """Whether the samples, in order of time, are too dense for a line."""
    known = values[np.isfinite(values)]
    size = len(known) // slices
    if size < _SAMPLES:
        return False
    groups = known[: size * slices].reshape(slices, size)
    heights = np.ptp(groups, axis=1)
    moving = heights > 0
    travels = np.abs(np.diff(groups, axis=1)).sum(axis=1)[moving]
    return bool(moving.any() and np.median(travels / heights[moving]) > _TRAVEL)


def draw(
    axes: Axes,
    times: style.Array,
    values: style.Array,
    colour: str,
    *,
    label: str = "",
    linewidth: float = 1.0,
    legend: bool = False,
    always: bool = False,
) -> bool:
    """Draws a series as a line, or, if it is dense, as a band with the median.

    Args:
        axes: The panel.
        times: Times of the samples, in seconds.
        values: The samples.
        colour: Colour of the line and the band.
        label: Name of the line.
        linewidth: Width of the line.
        legend: Whether the legend names median, band and range.
        always: Whether to draw a band, without the range, whenever there are enough samples: for several
            series in one panel.

    Returns:
        Whether it is a band.
    """
    if not (is_dense(values) or (always and len(values) >= _SAMPLES * SLICES)):
        axes.plot(*thin(times, values), color=colour, linewidth=linewidth, label=label or "_")
        return False
    band = of(times, values)
    slice_ms = 1e3 * (times[-1] - times[0]) / SLICES
    named = f"median of {units.millis_text(slice_ms)}" if legend else label
    axes.plot(band.times, band.median, color=colour, linewidth=linewidth, label=named or "_", zorder=2.5)
    shades = ((band.low, band.high, 0.45, NAME), (band.lowest, band.highest, 0.18, "lowest to highest"))
    for low, high, alpha, name in shades[: 1 if always else 2]:
        shade = {"facecolor": colour, "alpha": alpha, "linewidth": 0}
        axes.fill_between(band.times, low, high, label=name if legend else "_", **shade)  # type: ignore[arg-type]
    return True
