"""Delay, rate and elevation of links through a constellation over time, with their trends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from leobench.plots import style, turns, units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.orbit import Survey

    Array = style.Array

# Inches of a panel.
_PANEL = 1.7

# From so many turns on, pieces need a trend; and the most that its window is of the time shown.
_MANY, _WINDOW = 20, 1 / 6

_RATES = (("downlink_mbps", "to the terminal", "-"), ("uplink_mbps", "from the terminal", "--"))


class _Line(NamedTuple):
    """A number of a link over time.

    Attributes:
        link: The link.
        name: Its name in the legend.
        values: A number per sample; not-a-number without a satellite.
        dashes: Style of its line.
        stepped: Whether it holds until it changes, as a rate.
    """

    link: str
    name: str
    values: Array
    dashes: str = "-"
    stepped: bool = False

    @property
    def constant(self) -> float | None:
        """Its only number, if it never changes."""
        first = float(self.values[0]) if len(self.values) else float("nan")
        return first if bool((self.values == first).all()) else None


def draw(seen: Survey) -> Figure:
    """Delay, rate and elevation over time, in pieces between handovers, with moving means of many pieces.

    A panel whose numbers never change is left out, and a note below has them.
    """
    changes = seen.handovers.filter(pl.col("from").is_not_null()).height
    panels = [
        (f"One-way delay, over {changes:,} handovers", "delay (ms)", _lines(seen, "delay_ms")),
        ("Rate", "rate (Mbit/s)", _rates(seen)),
        ("Elevation of the serving satellite", "elevation (°)", _lines(seen, "elevation_deg")),
    ]
    flat = [panel for panel in panels if all(line.constant is not None for line in panel[2])]
    drawn = [panel for panel in panels if panel not in flat] or panels[:1]
    figure, stacked = style.stack(len(drawn), 0.4 + _PANEL * len(drawn))
    window = _window(seen)
    for axes, (title, label, lines) in zip(stacked, drawn, strict=True):
        _panel(axes, seen, lines, window)
        style.dress(axes, title, label, zero=label.startswith("rate"))
        if len(lines) > 1 or window:
            style.legend(axes)
        if label.startswith("elevation"):
            axes.set_ylim(0, 90)
    style.time_axis(stacked, 0, seen.duration_s)
    style.note(figure, "; ".join(_constant(*panel) for panel in flat if panel not in drawn))
    return figure


def _lines(seen: Survey, column: str) -> list[_Line]:
    return [_Line(link, link, _values(seen, link, column)) for link in turns.links(seen)]


def _rates(seen: Survey) -> list[_Line]:
    """The rates of both directions of each link, once if they are the same."""
    lines = []
    for link in turns.links(seen):
        ways = [
            _Line(link, f"{link} {way}", _values(seen, link, column), dashes, stepped=True)
            for column, way, dashes in _RATES
        ]
        same = np.array_equal(ways[0].values, ways[1].values, equal_nan=True)
        lines += [ways[0]._replace(name=f"{link} both ways")] if same else ways
    return lines


def _values(seen: Survey, link: str, column: str) -> Array:
    values = seen.samples.filter(link=link)[column].cast(pl.Float64)
    return values.fill_null(float("nan")).to_numpy()


def _constant(title: str, label: str, lines: list[_Line]) -> str:
    """The numbers of a panel that never change."""
    unit = label.partition("(")[2].rstrip(")")
    found = [f"{line.name} {line.constant:g} {unit}" for line in lines if line.constant is not None]
    return f"{title.partition(',')[0].lower()} throughout: {', '.join(found)}"


def _window(seen: Survey) -> float:
    """The seconds of a moving mean; 0 if no link has enough turns for one."""
    most = max((len(turns.of(seen, link)) for link in turns.links(seen)), default=0)
    return units.step_below(seen.duration_s * _WINDOW) if most >= _MANY else 0.0


def _panel(axes: Axes, seen: Survey, lines: list[_Line], window: float) -> None:
    """The pieces of every line, and the moving means over them."""
    links = turns.links(seen)
    for line in lines:
        rows = seen.samples.filter(link=line.link)
        colour = style.CATEGORIES[links.index(line.link)]
        look: dict[str, Any] = {"color": colour, "linestyle": line.dashes, "linewidth": 1.0}
        if window:
            look |= {"alpha": 0.55, "linewidth": 0.8}
        if line.stepped:
            look["drawstyle"] = "steps-post"
        times = rows["t_s"].to_numpy()
        changed = (rows["satellite"] != rows["satellite"].shift()).fill_null(value=True)
        breaks = np.flatnonzero(changed.to_numpy())
        pieces = np.insert(times, breaks, times[breaks]), np.insert(line.values, breaks, np.nan)
        axes.plot(*pieces, label=line.name, **look)
        if window:
            trend: dict[str, Any] = {"linestyle": line.dashes, "linewidth": 1.8, "zorder": 3}
            colour = style.VERMILION if len(links) == 1 else colour
            name = f"{line.name}, mean of {window:g} s"
            axes.plot(times, moving_mean(times, line.values, window), color=colour, label=name, **trend)


def moving_mean(times: Array, values: Array, window: float) -> Array:
    """The mean of the values within half a window before and after each time; those not a number left out."""
    known = np.isfinite(values)
    sums = np.concatenate(([0.0], np.cumsum(np.where(known, values, 0.0))))
    counts = np.concatenate(([0], np.cumsum(known)))
    first = np.searchsorted(times, times - window / 2, side="left")
    last = np.searchsorted(times, times + window / 2, side="right")
    number = counts[last] - counts[first]
    return np.where(number > 0, (sums[last] - sums[first]) / np.maximum(number, 1), np.nan)
