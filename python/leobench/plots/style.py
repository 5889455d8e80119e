"""Common parts of all figures: colours, units and the thinning of long series."""

from __future__ import annotations

import math
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Okabe and Ito, "Color universal design" (2008): told apart by colour-blind readers too.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK = "#e69f00", "#56b4e9", "#000000"

# For series without an order: neighbours differ in lightness too, for print in grey.
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")

# How light the parts of a colour look (ITU-R BT.709), and from when on a marker is too pale for its own rim.
_LIGHTNESS, _PALE = (0.2126, 0.7152, 0.0722), 0.55

INK, FAINT = "#222222", "#777777"

# Points: all words of a figure, and numbers and remarks within panels.
FONT = 8.0
SMALL = 7.0
TITLE = FONT

# Inches that a letter of a legend or of the names along an axis takes.
LETTER = 0.065

# Inches that the sample of a line or a colour takes in a legend, and points that a row of a legend is high.
_SAMPLE, _ROW = 0.5, 1.5 * FONT

# A panel becomes wider than it is before the layout: its legend and its title may be so many times as long.
_OVERHANG, _OF_TITLE = 1.15, 1.3

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


_SCALES = {
    "B": (1.0, _BYTES),
    "bit/s": (1.0, _RATES),
    "s": (1.0, _SECONDS),
    "ms": (1e-3, _SECONDS),
    "us": (1e-6, _SECONDS),
    "ns": (1e-9, _SECONDS),
}


def scale(unit: str, largest: float) -> tuple[float, str]:
    """The divisor and the unit for values up to `largest`.

    Bytes (`B`), rates (`bit/s`) and times (`s`, `ms`, `us`, `ns`) get a suitable prefix. Others are kept.
    """
    if unit not in _SCALES:
        return 1.0, unit
    base, units = _SCALES[unit]
    size, name = _pick(largest * base, units)
    return size / base, name


def number_text(value: float) -> str:
    """A number to three digits."""
    sign, size = "-" if value < 0 else "", abs(value)
    if size >= 100 or size == int(size):
        return f"{sign}{size:.0f}"
    return sign + (f"{size:.1f}" if size >= 10 else f"{size:.2f}" if size >= 1 else f"{size:.2g}")


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


def dress(axes: Axes, title: str, label: str, *, zero: bool = True) -> None:
    """Title, label and frame of a panel; by default values start at zero."""
    _title(axes, fill(title, _OF_TITLE * inches(axes)[0]))
    axes.set_ylabel(label, fontsize=FONT, color=INK)
    axes.tick_params(labelsize=FONT, colors=INK, width=0.6, length=3)
    if zero:
        axes.set_ylim(bottom=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_linewidth(0.6)


def panels(count: int = 1, *, width: float = 3.6, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels side by side of a given size in inches: two fill the width of a page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(4.8, width * count), height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def begin(axes: Axes | None) -> tuple[Figure, Axes]:
    """The panel to draw in and its figure: a new one of a single panel unless given."""
    if axes is None:
        figure, (axes,) = panels()
        return figure, axes
    return cast("Figure", axes.figure), axes


def inches(axes: Axes) -> tuple[float, float]:
    """The width and height of a panel including its labels."""
    place, figure = axes.get_position(), begin(axes)[0]
    return place.width * figure.get_figwidth(), place.height * figure.get_figheight()


def plain_log(axis: Axis) -> None:
    """Labels a logarithmic axis with plain numbers: 1, 2, 5, 10, or powers of ten only over many decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def time_axis(axes: Axes, start_s: float, end_s: float) -> None:
    """The horizontal axis of the lowest panel over time."""
    axes.set_xlim(start_s, end_s)
    axes.set_xlabel("time (s)", fontsize=FONT, color=INK)


def headroom(axes: Axes, factor: float) -> None:
    """Extends the vertical axis by a factor, with room for a legend at the top."""
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.asarray(axes.get_ylim()))
    top = scale.inverted().transform(np.array([low + factor * (high - low)]))
    axes.set_ylim(top=float(top[0]))


def samples(rows: pl.DataFrame, time: str, column: str) -> tuple[Array, Array]:
    """Times in seconds and values of a column, missing ones as not-a-number."""
    return rows[time].to_numpy() / 1e9, rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def legend(axes: Axes) -> None:
    """The legend of a panel between its title and its data, none without named artists.

    The figure grows by its rows beyond the first one.
    """
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    width = _OVERHANG * inches(axes)[0]
    labels = [fill(label, width - _SAMPLE) for label in labels]
    columns = _key_columns(labels, width)
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.0,
        borderpad=0.2,
        ncols=columns,
        fontsize=FONT,
        frameon=False,
        handlelength=1.6,
        columnspacing=1.0,
    )
    rows = _key_rows(labels, columns)
    _title(axes, axes.get_title(loc="left"), above=_ROW * rows)
    figure = begin(axes)[0]
    figure.set_figheight(figure.get_figheight() + _ROW * (rows - 1) / 72)


def _title(axes: Axes, text: str, *, above: float = 0.0) -> None:
    """The title of a panel, so many points above the usual place."""
    axes.set_title(text, loc="left", fontsize=TITLE, color=INK, pad=4 + above)


def fill(text: str, inches: float) -> str:
    """Text of the usual size in lines of a width; words are broken only if they are longer than a line."""
    letters = max(1, int(inches / LETTER))
    lines = (textwrap.fill(line, letters, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(lines)


def step_below(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten that is not above a value above zero."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(step * power for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))


def step_above(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten that is not below a value above zero."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(min(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))


def marker(colour: str, size: float = 5.0) -> dict[str, Any]:
    """The style of a marker: pale inside, so that a whisker through it is visible, with a dark rim."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    light = float(rgb @ _LIGHTNESS) > _PALE
    return {
        "color": colour,
        "markerfacecolor": tuple(rgb if light else 1 - 0.35 * (1 - rgb)),
        "markeredgecolor": tuple(rgb * 0.6 if light else rgb),
        "markeredgewidth": 1.0,
        "markersize": size,
    }


def whiskers(axes: Axes, at: Array, low: Array, high: Array, *, caps: Sequence[Array]) -> None:
    """Lines from `low` to `high` with `caps` at their ends, wider than a marker and on a rim of white."""
    from matplotlib.patheffects import Normal, Stroke

    rim = [Stroke(linewidth=2.2, foreground="white", alpha=0.8), Normal()]
    axes.vlines(at, low, high, color=INK, linewidth=0.9, zorder=4, path_effects=rim)
    for end in caps:
        axes.plot(at, end, "_", color=INK, markersize=6.0, markeredgewidth=0.9, zorder=4)


def key(figure: Figure, axes: Axes, title: str = "") -> None:
    """One legend above all panels, of the series of one of them; none for a single series."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) > 1:
        key_of(figure, handles, labels, title)


def key_of(
    figure: Figure,
    handles: Sequence[Artist],
    labels: Sequence[str],
    title: str = "",
    *,
    below: bool = False,
) -> None:
    """One legend of these entries above all panels; or below them, where its title is a remark."""
    width = float(figure.get_figwidth())
    labels = [fill(label, width - _SAMPLE) for label in labels]
    legend = figure.legend(
        handles,
        labels,
        title=title or None,
        loc="outside lower center" if below else "outside upper center",
        ncols=_key_columns(labels, width),
        fontsize=FONT,
        title_fontsize=FONT,
        frameon=False,
        handlelength=2.2,
        columnspacing=1.4,
    )
    if below:
        legend.get_title().set(fontsize=SMALL, color=FAINT)


def _key_columns(labels: Sequence[str], inches: float) -> int:
    """The number of legend entries that fit side by side, down to one; fewer if that takes no more rows."""
    for columns in range(len(labels), 1, -1):
        longest = [max(map(_letters, each)) for each in _in_columns(labels, columns)]
        if sum(_SAMPLE + LETTER * letters for letters in longest) <= inches:
            return math.ceil(len(labels) / math.ceil(len(labels) / columns))
    return 1


def _key_rows(labels: Sequence[str], columns: int) -> int:
    """The number of lines of a legend."""
    return max(sum(1 + label.count("\n") for label in each) for each in _in_columns(labels, columns))


def _in_columns(labels: Sequence[str], columns: int) -> list[Sequence[str]]:
    """The labels of each column of a legend: Matplotlib fills one after the other, the first ones longer."""
    least, more = divmod(len(labels), columns)
    ends = [column * least + min(column, more) for column in range(columns + 1)]
    return [labels[start:end] for start, end in pairwise(ends)]


def _letters(label: str) -> int:
    return max(map(len, label.split("\n")))


def note(figure: Figure, text: str) -> None:
    """A remark below all panels, such as the meaning of the whiskers or the number of runs."""
    if text:
        figure.supxlabel(text, fontsize=SMALL, color=FAINT, x=0.99, ha="right")


def ramp(count: int) -> list[str]:
    """Colours for `count` series with an order: shades of blue, from light to dark."""
    light, dark = np.array([0.72, 0.86, 0.96]), np.array([0.01, 0.19, 0.38])
    steps = np.linspace(0.0, 1.0, count) if count > 1 else [0.6]
    return ["#" + "".join(f"{round(255 * c):02x}" for c in light + (dark - light) * step) for step in steps]


def say(axes: Axes, text: str) -> None:
    """Text in the middle of an empty panel."""
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
