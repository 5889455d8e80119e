"""The worst path of an attack over time: the rate of the path and the flow, its window, its round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.attack.space import DURATION_S
from leobench.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from leobench.attack.goals import Seen
    from leobench.attack.space import Path

# Seconds over which a goodput is averaged.
_WINDOW_S = 0.25
_NAMES = {"transfer": "short flow"}


def draw(seen: Seen, path: Path, title: str) -> Figure:
    """Draws a run over a path, with the events of the path."""
    figure, (rates, window, trips) = style.stack(3, 5.0, ratios=(2, 1, 1))
    step_s = float(seen.times[1] - seen.times[0])
    # The first sample also has what the path could carry before it.
    offered = np.append(seen.offered[1:2], seen.offered[1:]) * 8 / 1e6 / step_s
    rates.step(seen.times, offered, color=style.FAINT, linewidth=1.0, where="pre", label="path")
    rates.plot(seen.times, _mean(seen.delivered, step_s), color=style.GREEN, linewidth=1.0, label="flow")
    if seen.beside.any():
        rates.plot(
            seen.times, _mean(seen.beside, step_s), color=style.VERMILION, linewidth=1.0, label="CUBIC"
        )
    window.plot(seen.times, seen.cwnd / 1e3, color=style.BLUE, linewidth=1.0)
    trips.plot(seen.times, seen.rtt * 1e3, color=style.PURPLE, linewidth=1.0, label="flow")
    trips.plot(seen.times, seen.base_rtt * 1e3, color=style.FAINT, linewidth=1.0, label="idle path")
    for axes in (rates, window, trips):
        _shade(axes, seen)
    style.dress(rates, title, "Mbit/s")
    _mark(rates, path)
    _mark_bursts(rates, path)
    style.dress(window, "Congestion window", "kB")
    style.dress(trips, "Round-trip time", "ms")
    style.time_axis((rates, window, trips), 0.0, float(seen.times[-1]))
    style.legend(rates)
    style.legend(trips)
    return figure


def _mean(gained: NDArray[np.float64], step_s: float) -> NDArray[np.float64]:
    """Bytes per sample as a rate in Mbit/s, over the window that ends there."""
    count = max(round(_WINDOW_S / step_s), 1)
    total = np.concatenate([np.zeros(count), np.cumsum(gained)])
    mean: NDArray[np.float64] = (total[count:] - total[:-count]) * 8 / 1e6 / (count * step_s)
    return mean


def _shade(axes: Axes, seen: Seen) -> None:
    """Marks the samples in which the path carries nothing; short ones stay visible as lines."""
    closed = np.flatnonzero(seen.offered <= 0)
    step_s = float(seen.times[1] - seen.times[0])
    for run in np.split(closed, np.flatnonzero(np.diff(closed) > 1) + 1):
        if run.size and seen.times[run[-1]] > step_s:
            axes.axvspan(
                seen.times[run[0]] - step_s, seen.times[run[-1]], color=style.CLOSED, linewidth=0.8, zorder=0
            )


def _mark(axes: Axes, path: Path) -> None:
    """Writes the kinds of the events above their beginnings, on two lines so that neighbours stay legible."""
    style.extend(axes, 0.25)
    marked = sorted((event for event in path.events if event.at_s > 0), key=lambda event: event.at_s)
    for number, event in enumerate(marked):
        axes.axvline(event.at_s, color=style.INK, linewidth=0.6, linestyle=":", zorder=1)
        axes.annotate(
            _NAMES.get(event.kind, event.kind),
            (event.at_s, 0.97 - 0.09 * (number % 2)),
            xycoords=("data", "axes fraction"),
            xytext=(2, 0),
            textcoords="offset points",
            fontsize=style.SMALL,
            color=style.INK,
            va="top",
        )


def _mark_bursts(axes: Axes, path: Path) -> None:
    """Marks the bursts of a neighbour along the lower edge, and names what lasts for the whole run."""
    for train in path.of_kind("train"):
        starts = np.arange(0.0, DURATION_S, train["period"])
        axes.plot(
            starts,
            np.zeros_like(starts),
            marker="^",
            linestyle="none",
            color=style.ORANGE,
            markersize=4,
            clip_on=False,
            label=f"bursts of {train['length']:g} ms every {train['period']:g} s",
        )
    for frames in path.of_kind("frames"):
        axes.plot([], [], linestyle="none", label=f"frames of {frames['period']:g} ms")
