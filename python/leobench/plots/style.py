"""What the figures share: colours, units, and drawing a long series without drawing every point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Okabe and Ito, "Color universal design" (2008): told apart by colour-blind readers too.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK = "#e69f00", "#56b4e9", "#000000"

INK, FAINT = "#222222", "#777777"
FONT = 8.5
TITLE = 9.0

# More columns than a page has dots would show nothing more.
COLUMNS = 1_500

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))


def _pick(largest: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next((unit for unit in units if largest >= unit[0]), units[-1])


def byte_unit(largest: float) -> tuple[float, str]:
    """The unit for sizes up to `largest` bytes: its bytes and its name."""
    return _pick(largest, _BYTES)


def second_unit(largest: float) -> tuple[float, str]:
    """The unit for times up to `largest` seconds: its seconds and its name."""
    return _pick(largest, _SECONDS)


def rate_text(bps: float) -> str:
    """A rate in bits per second with its unit, to three digits."""
    factor, name = _pick(bps, _RATES)
    return f"{_three_digits(bps / factor)} {name}"


def millis_text(millis: float) -> str:
    """A time in milliseconds with its unit, to three digits."""
    factor, name = second_unit(millis / 1e3)
    return f"{_three_digits(millis / 1e3 / factor)} {name}"


def _three_digits(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def thin(times: Array, values: Array, columns: int = COLUMNS) -> tuple[Array, Array]:
    """The lowest and the highest point of every one of `columns` slices of time, in order of time.

    Every point returned is one of the series, and no peak is lost, so the drawing looks as if nothing
    had been left out. Points that are not a number are gaps; one is kept per slice that has nothing else.
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


def dress(axes: Axes, title: str, label: str) -> None:
    """Title, label and frame of a panel; values start at zero."""
    axes.set_title(title, loc="left", fontsize=TITLE, color=INK, pad=4)
    axes.set_ylabel(label, fontsize=FONT, color=INK)
    axes.tick_params(labelsize=FONT - 0.5, colors=INK, width=0.6, length=3)
    axes.set_ylim(bottom=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_linewidth(0.6)


def say(axes: Axes, text: str) -> None:
    """Words in the middle of a panel that has nothing to draw."""
    axes.text(
        0.5,
        0.5,
        text,
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=FONT,
        color=FAINT,
    )
    axes.set_yticks([])
