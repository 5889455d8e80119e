"""Links over time, of a run without flows: their capacities and their queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from leobench.plots import handovers, rates, sampling, style
from leobench.plots.view import COLOURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import View

    Series = tuple[style.Array, style.Array]

# Inches: the text width of a page, and panels that can be read at it.
_WIDTH, _PANEL = 7.2, 2.2


def draw(view: View, link: str | None) -> Figure:
    """Draws the capacities and the queues of link directions, a colour each.

    Args:
        view: The part of the run shown, which has no flows.
        link: The only link direction to show; those that delivered the most packets unless given.
    """
    every = [
        each["name"]
        for each in sorted(view.result.summary["links"], key=lambda each: -each["delivered_packets"])
    ]
    recorded = set(view.result.tables.queues["link"])
    every = [name for name in every if name in recorded]
    shown = every[: len(COLOURS)] if link is None else [link]
    figure = Figure(figsize=(_WIDTH, 2 * _PANEL + 0.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    step = rates.step_ns(view)
    left_out = (
        f" (of {len(shown)} of {len(every)} link directions)"
        if link is None and len(shown) < len(every)
        else ""
    )
    title = f"The run has no flows. Capacity, means of {style.millis_text(step / 1e6)}{left_out}"
    _panel(
        upper,
        shown,
        lambda name: _capacity(view, name, step),
        lambda most: style.scale("bit/s", most),
        title,
        "rate",
    )
    _panel(lower, shown, lambda name: _backlog(view, name), style.byte_unit, "Queues", "backlog")
    handovers.mark([upper, lower], view, sampling.note([view]))
    style.time_axis(lower, view.start_s, view.end_s)
    figure.align_ylabels([upper, lower])
    _key(figure, view, shown)
    return figure


def _panel(
    axes: Axes,
    shown: Sequence[str],
    series: Callable[[str], Series],
    unit_of: Callable[[float], tuple[float, str]],
    title: str,
    label: str,
) -> None:
    """A line per link direction; later ones are dashed, because equal lines cover each other."""
    found = [series(name) for name in shown]
    factor, unit = unit_of(max((float(np.max(values, initial=0.0)) for _, values in found), default=0.0))
    for at, (times, values) in enumerate(found):
        axes.plot(
            *style.thin(times, values / factor), color=COLOURS[at], linestyle=style.DASHES[at], linewidth=1.2
        )
    style.dress(axes, title, f"{label} ({unit})")
    if not any(values.any() for _, values in found):
        axes.set_ylim(0, 1)
        style.say(axes, "empty at every sample" if label == "backlog" else "not recorded")


def _capacity(view: View, link: str, step: int) -> Series:
    """The capacity of a link direction, as corners of its steps; nothing if it was not recorded."""
    edges = rates.edges_ns(view, step)
    capacity = rates.of_link(view.result, link, edges)
    if capacity is None:
        return edges[:0], edges[:0]
    return np.repeat(edges, 2)[1:-1] / 1e9, np.repeat(capacity, 2)


def _backlog(view: View, link: str) -> Series:
    rows = view.within(view.result.tables.queues.filter(pl.col("link") == link), "t_ns")
    return style.samples(rows, "t_ns", "backlog_bytes")


def _key(figure: Figure, view: View, shown: Sequence[str]) -> None:
    """The legend of the link directions, with the packets that each carried and dropped."""
    from matplotlib.lines import Line2D

    links = {each["name"]: each for each in view.result.summary["links"]}
    handles, labels = [], []
    for at, name in enumerate(shown):
        look: dict[str, Any] = {"linestyle": style.DASHES[at], "linewidth": 1.2}
        handles.append(Line2D([], [], color=COLOURS[at], **look))
        dropped = sum(links[name]["dropped_packets"].values())
        lost = f", {dropped:,} dropped" if dropped else ""
        labels.append(f"{name}: {links[name]['delivered_packets']:,} packets{lost}")
    style.key_of(figure, handles, labels)
