"""The look of all figures, written once: colours, sizes, panels, axes, legends and notes.

A figure begins with `figure`, `panels`, `stack` or `grid`. A panel gets its title, label and frame from
`dress`, and its horizontal axis from `label_x` or `time_axis`. `legend` is the legend of one panel, `key` or
`key_of` that of all. `note` is a remark below the figure, `say` one in an empty panel. `leobench.plots.save`
saves the figure.
"""

from __future__ import annotations

import math
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    _Shared = Literal["none", "all", "row", "col"]

# Okabe and Ito, "Color universal design" (2008): told apart by colour-blind readers too.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK = "#e69f00", "#56b4e9", "#000000"

# For series without an order: neighbours differ in lightness too, for print in grey.
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")

# Of the flows of a run over time; and of flows that compete, whose lines cross.
FLOWS = (GREEN, PURPLE, BLUE, ORANGE, BLACK)
COMPETITORS = (BLUE, VERMILION, GREEN, PURPLE, BLACK)

# Of grid lines and shaded ranges; and of times and places without a link.
GRID, CLOSED = "#dddddd", "#f2b8a0"

# How light the parts of a colour look (ITU-R BT.709), and from when on a marker is too pale for its own rim.
_LIGHTNESS, _PALE = (0.2126, 0.7152, 0.0722), 0.55

INK, FAINT = "#222222", "#777777"

# Inches: the text width of a page, and a panel of two that fill it side by side.
PAGE, HALF = 7.2, 3.6

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


def figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, laid out so that labels and legends have room."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def panels(count: int = 1, *, width: float = HALF, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels side by side of a given size in inches: two fill the width of a page."""
    made = figure(max(4.8, width * count), height)
    return made, list(made.subplots(1, count, squeeze=False)[0])


def stack(
    count: int, height: float, *, ratios: Sequence[float] | None = None, same_scale: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure as wide as a page with panels one below the other, which share the horizontal axis.

    Args:
        count: The number of panels.
        height: Inches of the figure.
        ratios: Relative heights of the panels; equal unless given.
        same_scale: Whether they share the vertical axis, too.
    """
    made = figure(PAGE, height)
    grid = made.subplots(count, 1, sharex=True, sharey=same_scale, squeeze=False, height_ratios=ratios)
    return made, list(grid[:, 0])


def grid(
    rows: int, columns: int, size: tuple[float, float], *, sharex: _Shared = "none", sharey: _Shared = "none"
) -> tuple[Figure, NDArray[Any]]:
    """A figure of a width and height in inches with rows and columns of panels, which may share axes."""
    made = figure(*size)
    return made, made.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)


def begin(axes: Axes | None) -> tuple[Figure, Axes]:
    """The panel to draw in and its figure: a new one of a single panel unless given."""
    if axes is None:
        made, (axes,) = panels()
        return made, axes
    return cast("Figure", axes.figure), axes


def inches(axes: Axes) -> tuple[float, float]:
    """The width and height of a panel including its labels."""
    place, whole = axes.get_position(), begin(axes)[0]
    return place.width * whole.get_figwidth(), place.height * whole.get_figheight()


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


def plain_log(axis: Axis) -> None:
    """Labels a logarithmic axis with plain numbers: 1, 2, 5, 10, or powers of ten only over many decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def label_x(axes: Axes, text: str) -> None:
    """The label of the horizontal axis of a panel, with its unit."""
    axes.set_xlabel(text, fontsize=FONT, color=INK)


def time_axis(stacked: Sequence[Axes], start_s: float, end_s: float) -> None:
    """The horizontal axis of panels over one time, labelled below the lowest; aligns their other labels."""
    stacked[-1].set_xlim(start_s, end_s)
    label_x(stacked[-1], "time (s)")
    begin(stacked[-1])[0].align_ylabels(stacked)


def label_edges(grid: NDArray[Any], *, below: bool = True) -> None:
    """Keeps the vertical labels of a grid's first column only; if `below`, names below its last row only."""
    for axes in grid[:, 1:].flat:
        axes.set_ylabel("")
    for axes in grid[:-1].flat if below else ():
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)


def extend(axes: Axes, above: float, below: float = 0.0) -> None:
    """Extends the vertical axis by shares of its height, with room for text above and below the data."""
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.asarray(axes.get_ylim()))
    ends = np.array([low - below * (high - low), high + above * (high - low)])
    bottom, top = scale.inverted().transform(ends)
    axes.set_ylim(float(bottom), float(top))


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
    grow(axes, _ROW * (rows - 1) / 72)


def grow(axes: Axes, inches: float) -> None:
    """Makes the figure of a panel higher."""
    whole = begin(axes)[0]
    whole.set_figheight(whole.get_figheight() + inches)


def _title(axes: Axes, text: str, *, above: float = 0.0) -> None:
    """The title of a panel, so many points above the usual place."""
    axes.set_title(text, loc="left", fontsize=TITLE, color=INK, pad=4 + above)


def fill(text: str, inches: float) -> str:
    """Text of the usual size in lines of a width; words are broken only if they are longer than a line."""
    letters = max(1, int(inches / LETTER))
    lines = (textwrap.fill(line, letters, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(lines)


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


def whiskers(
    axes: Axes, at: Array, low: Array, high: Array, *, caps: Sequence[Array], behind: str | None = None
) -> None:
    """Lines from `low` to `high` with `caps` at their ends, wider than a marker.

    They are before bars and markers, on a rim of white; or behind them in the colour `behind`.
    """
    from matplotlib.patheffects import Normal, Stroke

    rim = None if behind else [Stroke(linewidth=2.2, foreground="white", alpha=0.8), Normal()]
    colour, order = behind or INK, 1.9 if behind else 4
    axes.vlines(at, low, high, color=colour, linewidth=0.9, zorder=order, path_effects=rim)
    for end in caps:
        axes.plot(at, end, "_", color=colour, markersize=6.0, markeredgewidth=0.9, zorder=order)


def line_entry(label: str, colour: str, **look: Any) -> Line2D:
    """An entry of a legend for lines of a colour."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, label=label, **look)


def patch_entry(label: str, colour: str, **look: Any) -> Patch:
    """An entry of a legend for areas of a colour."""
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, label=label, **look)


def key(figure: Figure, axes: Axes, title: str = "") -> None:
    """One legend above all panels, of the series of one of them; none for a single series."""
    handles, _ = axes.get_legend_handles_labels()
    if len(handles) > 1:
        key_of(figure, handles, title)


def key_of(figure: Figure, handles: Sequence[Artist], title: str = "", *, below: bool = False) -> None:
    """One legend of labelled artists above all panels; or below them, where its title is a remark."""
    width = float(figure.get_figwidth())
    labels = [fill(str(each.get_label()), width - _SAMPLE) for each in handles]
    made = figure.legend(
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
        made.get_title().set(fontsize=SMALL, color=FAINT)


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
