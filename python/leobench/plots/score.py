"""Scores of a fit on data that it has not seen: error by forecast, and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from leobench.fitting.score import Row

_BINS = 10


def draw(rows: Sequence[Row]) -> Figure:
    """Draws the rows of one statistic: CRPS of each forecast, and the histogram of the first one's PIT."""
    figure, (errors, calibration) = style.panels(2)
    judged = rows[0]
    names = [row.forecast for row in rows]
    places = np.arange(len(rows))[::-1]
    colours = [style.BLUE if index == 0 else style.FAINT for index in range(len(rows))]
    errors.barh(places, [row.crps for row in rows], color=colours)
    errors.set_yticks(places, names)
    style.dress(errors, f"Error of the {judged.statistic}", "", zero=False)
    style.label_x(errors, f"mean CRPS ({judged.unit}); smaller is better")
    if judged.pit is None:
        style.say(calibration, "a point has no calibration")
        return figure
    counts, edges = np.histogram(judged.pit, _BINS, (0, 1))
    calibration.bar(
        edges[:-1], counts / len(judged.pit) * _BINS, 1 / _BINS, align="edge", color=style.BLUE, alpha=0.7
    )
    calibration.axhline(1, color=style.BLACK, linewidth=0.8, label="calibrated")
    style.dress(calibration, f"Calibration of {judged.forecast}: PIT histogram", "density")
    style.label_x(calibration, "share of the forecast below the measured value")
    style.legend(calibration)
    return figure
