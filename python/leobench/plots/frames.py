"""Common parts of figures of frames: columns, labels and checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench.errors import InputError, allowed
from leobench.plots import style, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The lowest number of a logarithmic axis is so many times as high as where its whiskers end at most.
_BELOW = 10.0

# Degrees by which names that are too long are turned, if there are so many inches from one to the next; they
# are upright otherwise.
_SLANT, _SLANTED = 35, 0.3


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a frame and its representation in a figure.

    Attributes:
        name: Its name in the frame.
        label: Its name in the figure; its name in the frame unless given.
        unit: The unit of its numbers. Bytes, bits per second and times are shown with a fitting prefix.
        log: Whether its axis is logarithmic.
        largest: The largest number in the panels beside this one, which share its prefix.
    """

    name: str
    label: str = ""
    unit: str = ""
    log: bool = False
    largest: float = 0.0

    def scaled(self, largest: float) -> tuple[float, str]:
        """The divisor of its numbers for values up to `largest`, and the label of its axis."""
        factor, unit = units.scale(self.unit, max(largest, self.largest))
        label = self.label or self.name
        return factor, f"{label} ({unit})" if unit else label


@dataclass(frozen=True, slots=True)
class Interval:
    """Columns with the ends of an interval around each number.

    Attributes:
        low: Column of the lower ends.
        high: Column of the upper ends.
        label: Meaning of the interval, for the note below the figure.
    """

    low: str
    high: str
    label: str = "95 % confidence interval of the mean"


def column(given: Column | str) -> Column:
    """The column; a bare name stands for a column with that label."""
    return Column(given) if isinstance(given, str) else given


def series_of(given: Column | str | None) -> Column | None:
    """The column that names the series, if there is one."""
    return None if given is None else column(given)


def with_ends(number: Column, interval: Interval | None, *, log: bool) -> list[Column]:
    """A column of numbers and those of their interval ends; `log` if they must be positive."""
    names = [] if interval is None else [interval.low, interval.high]
    return [number, *(Column(name, log=log) for name in names)]


def check(kind: str, frame: pl.DataFrame, names: Sequence[Column | None], numbers: Sequence[Column]) -> None:
    """Checks that a frame can be drawn.

    Raises:
        InputError: If it is empty, a column is missing, or one of `numbers` holds anything but finite
            numbers, or a number that its logarithmic axis cannot show.
    """
    for name in [each.name for each in (*names, *numbers) if each is not None]:
        if name not in frame.columns:
            raise InputError(f"{kind}: no column `{name}`; {allowed(name, frame.columns)}")
    if frame.is_empty():
        raise InputError(f"{kind}: the frame has no rows")
    for each in numbers:
        if not frame[each.name].dtype.is_numeric():
            raise InputError(f"{kind}: column `{each.name}` holds {frame[each.name].dtype}; allowed: numbers")
        values = floats(frame, each.name)
        if np.isinf(values).any():
            raise InputError(f"{kind}: column `{each.name}` holds infinity; allowed: finite numbers or null")
        if each.log and np.any(values <= 0):
            raise InputError(
                f"{kind}: column `{each.name}` holds {np.nanmin(values):g}; "
                "allowed on a logarithmic axis: more than 0"
            )


def check_once(kind: str, frame: pl.DataFrame, columns: Sequence[Column | None]) -> None:
    """Checks that there is one row per combination of these columns.

    Raises:
        InputError: If there are two.
    """
    names = [each.name for each in columns if each is not None]
    twice = frame.filter(frame.select(names).is_duplicated())
    if not twice.is_empty():
        place = ", ".join(
            f"{name} = {value}" for name, value in twice.select(names).row(0, named=True).items()
        )
        raise InputError(f"{kind}: several rows for {place}; allowed: one, summarise them first")


def floats(frame: pl.DataFrame, name: str) -> style.Array:
    """A column's numbers; missing ones are not-a-number."""
    return frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def largest(frame: pl.DataFrame, columns: Iterable[Column]) -> float:
    """The largest magnitude in these columns; 0 if they hold no number."""
    sizes = [np.abs(floats(frame, each.name)) for each in columns]
    return float(np.max(np.nan_to_num(np.concatenate(sizes)), initial=0.0))


def lowest(frame: pl.DataFrame, columns: Iterable[Column]) -> float:
    """The lowest number in these columns, if it is below zero; else 0."""
    values = np.concatenate([floats(frame, each.name) for each in columns])
    return float(np.min(np.nan_to_num(values), initial=0.0))


def floor(frame: pl.DataFrame, number: Column) -> float:
    """The lower end of whiskers on a logarithmic axis: a tenth of the lowest number."""
    values = floats(frame, number.name)
    return float(np.nanmin(values)) / _BELOW if number.log and np.isfinite(values).any() else 0.0


def _end_on_ticks(axes: Axes, frame: pl.DataFrame, numbers: Sequence[Column], factor: float) -> None:
    """Ends a logarithmic axis at 1, 2 or 5 times a power of ten around the data."""
    values = np.concatenate([floats(frame, each.name) for each in numbers]) / factor
    drawn = values[np.isfinite(values) & (values > floor(frame, numbers[0]) / factor)]
    if len(drawn):
        axes.set_ylim(
            units.step_below(0.95 * float(drawn.min())), units.step_above(1.05 * float(drawn.max()))
        )
        style.plain_log(axes.yaxis)


def levels(frame: pl.DataFrame, by: Column | None) -> list[Any]:
    """The values of a column, each once, in the order of the frame; one None for no column."""
    return [None] if by is None else frame[by.name].unique(maintain_order=True).to_list()


def rows(frame: pl.DataFrame, by: Column | None, level: Any) -> pl.DataFrame:
    """The rows with this value in a column; all for no column."""
    return frame if by is None else frame.filter(pl.col(by.name).eq_missing(pl.lit(level)))


def text(level: Any) -> str:
    """A value of a column of names as text: whole numbers without a decimal point."""
    return f"{level:g}" if isinstance(level, float) else str(level)


def colours(given: Sequence[str] | None, count: int, kind: str) -> list[str]:
    """A colour for each series.

    Raises:
        InputError: If there are more series than colours.
    """
    known = style.CATEGORIES if given is None else given
    if count > len(known):
        raise InputError(
            f"{kind}: {count} series; allowed: {len(known)}, more cannot be told apart (for series "
            "that have an order, colours = style.ramp(count))"
        )
    return list(known[:count])


def dress(
    axes: Axes, frame: pl.DataFrame, numbers: Sequence[Column], title: str, label: str, factor: float
) -> None:
    """Title, label, frame and scale of a panel with numbers, divided by `factor`, on the vertical axis.

    The first column has the numbers themselves, the others the ends of their intervals.
    """
    low, log = lowest(frame, numbers), numbers[0].log
    axes.grid(axis="y", color=style.GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    if log:
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)
    elif low < 0:
        axes.axhline(0, color=style.INK, linewidth=0.6, zorder=0.5)
    style.dress(axes, title, label, zero=low >= 0 and not log)
    if log:
        _end_on_ticks(axes, frame, numbers, factor)


def name_groups(axes: Axes, groups: Sequence[Any], by: Column, *, alone: bool) -> None:
    """Writes the groups below the horizontal axis, one per unit from 0.

    Names too long to fit side by side are rotated; a figure of this panel alone grows by their height.
    """
    names = [text(each) for each in groups]
    turned, height = turn(names, style.inches(axes)[0] / len(names))
    if turned:
        look: dict[str, Any] = {"ha": "right", "va": "center" if turned == 90 else "baseline"}
        axes.set_xticks(range(len(names)), names, rotation=turned, rotation_mode="anchor", **look)
        if alone:
            style.grow(axes, height)
    else:
        axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    style.label_x(axes, by.scaled(0.0)[1] if by.label else "")


def turn(names: Sequence[str], room: float) -> tuple[int, float]:
    """The degrees by which names with so many inches each are turned, and the inches that this takes down."""
    widest = style.LETTER * max(len(line) for name in names for line in name.split("\n"))
    if widest <= room:
        return 0, 0.0
    degrees = _SLANT if room >= _SLANTED else 90
    return degrees, widest * math.sin(math.radians(degrees))


def make_room(axes: Axes, above: float, below: float = 0.0) -> None:
    """Extends the vertical axis by some points on paper, for text above and below the data."""
    height = 72 * style.inches(axes)[1]
    data = max(height - above - below, height / 2)
    style.extend(axes, above / data, below / data)


def remark(axes: Axes, x: float, text: str, *, top: bool = False, upright: bool = True) -> None:
    """Writes text at a place of the horizontal axis, at the bottom or top of the panel."""
    axes.annotate(
        text,
        (x, 1 if top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(0, -2 if top else 2),
        textcoords="offset points",
        rotation=90 if upright else 0,
        ha="center",
        va="top" if top else "bottom",
        fontsize=style.SMALL,
        color=style.FAINT,
    )


def finish(figure: Figure, axes: Axes, by: Column | None, note: str) -> None:
    """Adds the legend of the series, and a note, to a figure of one panel."""
    style.key(figure, axes, by.label if by is not None else "")
    style.note(figure, note)
