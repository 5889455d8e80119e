"""A fitted link beside what was measured: quantiles, slots over time, dependence, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.fitting.checks import Checked
    from leobench.fitting.series import Floats, Quantity, Series

_BINS = 20
_LAGS_S = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60)
_ROW_INCHES = 2.3


def draw(checked: Mapping[Quantity, Checked]) -> Figure:
    """Draws a row of panels for each quantity."""
    size = (1.5 * style.PAGE, _ROW_INCHES * len(checked))
    figure, panels = style.grid(len(checked), 4, size)
    for row, each in zip(panels, checked.values(), strict=True):
        _quantiles(row[0], each)
        _slots(row[1], each)
        _autocorrelation(row[2], each)
        _transform(row[3], each)
    entries = [style.line_entry("measured", style.BLACK), style.line_entry("drawn from the fit", style.BLUE)]
    style.key_of(figure, entries)
    return figure


def _dress(axes: Axes, each: Checked, title: str, label: str, word: str, *, zero: bool = True) -> None:
    """Dresses a panel; its title tells if a check fails whose name has the word."""
    fails = any(word in check.name and not check.passed for check in each.checks)
    style.dress(axes, f"{title} (fails)" if fails else title, label, zero=zero)
    if fails:
        axes.set_title(axes.get_title("left"), loc="left", fontsize=style.TITLE, color=style.VERMILION, pad=4)


def _quantiles(axes: Axes, each: Checked) -> None:
    at = np.linspace(0.005, 0.995, 100)
    axes.plot(at, np.quantile(each.series.values, at), color=style.BLACK)
    for draw in each.draws:
        axes.plot(at, np.quantile(draw.values, at), color=style.BLUE, alpha=0.3, linewidth=0.7)
    _dress(axes, each, f"Quantiles, {each.series.quantity}", each.series.unit, "quantile")
    style.label_x(axes, "share of the samples below")


def _slots(axes: Axes, each: Checked) -> None:
    for series, colour in ((each.draws[0], style.BLUE), (each.series, style.BLACK)):
        slots, medians = _medians(series)
        axes.plot(slots, medians, ".", color=colour, markersize=2, alpha=0.7)
    _dress(axes, each, "Medians of slots", each.series.unit, "slots")
    style.label_x(axes, "slot with samples")


def _medians(series: Series) -> tuple[Floats, Floats]:
    numbers, first = np.unique(series.slots, return_index=True)
    pieces = np.split(series.values, first[1:])
    return np.arange(len(numbers), dtype=np.float64), np.array([float(np.median(piece)) for piece in pieces])


def _autocorrelation(axes: Axes, each: Checked) -> None:
    from leobench.fitting.statistics import autocorrelations

    for draw in each.draws:
        values = list(autocorrelations(draw, _LAGS_S).values())
        axes.plot(_LAGS_S, values, color=style.BLUE, alpha=0.3, linewidth=0.7)
    values = list(autocorrelations(each.series, _LAGS_S).values())
    axes.plot(_LAGS_S, values, color=style.BLACK, marker="o", markersize=3)
    axes.set_xscale("log")
    style.plain_log(axes.xaxis)
    _dress(axes, each, "Autocorrelation of 1-s means", "", "correlation", zero=False)
    style.label_x(axes, "lag (s)")


def _transform(axes: Axes, each: Checked) -> None:
    axes.hist(each.transform, _BINS, range=(0, 1), density=True, color=style.BLUE, alpha=0.6)
    axes.axhline(1, color=style.BLACK, linewidth=0.8)
    _dress(axes, each, "Transform: uniform if the model fits", "density", "transform")
    style.label_x(axes, "share of the forecast below it")
