"""Links over time, of a run without flows: their capacities and their queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import bands, handovers, rates, sampling, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.view import View

    Series = tuple[style.Array, style.Array]

# Inches of a panel that can be read at the width of a page.
_PANEL = 2.2


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
    shown = every[: len(style.FLOWS)] if link is None else [link]
    figure, stacked = style.stack(2, 2 * _PANEL + 0.4)
    step = rates.step_ns(view)
    left_out = (
        f" (of {len(shown)} of {len(every)} link directions)"
        if link is None and len(shown) < len(every)
        else ""
    )
    title = f"The run has no flows. Capacity, means of {units.millis_text(step / 1e6)}{left_out}"
    _panel(stacked[0], [_capacity(view, name, step) for name in shown], "bit/s", title, "rate")
    backlogs = [bands.samples(view.queues([name]), "t_ns", "backlog_bytes") for name in shown]
    _panel(stacked[1], backlogs, "B", "Queues", "backlog")
    handovers.mark(stacked, view, sampling.note([view]))
    style.time_axis(stacked, view.start_s, view.end_s)
    _key(figure, view, shown)
    return figure


def _panel(axes: Axes, found: Sequence[Series], unit: str, title: str, label: str) -> None:
    """A line per link direction; later ones are dashed, because equal lines cover each other."""
    factor, name = units.scale_of(unit, [values for _, values in found])
    for at, (times, values) in enumerate(found):
        axes.plot(
            *bands.thin(times, values / factor),
            color=style.FLOWS[at],
            linestyle=style.DASHES[at],
            linewidth=1.2,
        )
    style.dress(axes, title, f"{label} ({name})")
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


def _key(figure: Figure, view: View, shown: Sequence[str]) -> None:
    """The legend of the link directions, with the packets that each carried and dropped."""
    links = {each["name"]: each for each in view.result.summary["links"]}
    handles = []
    for at, name in enumerate(shown):
        dropped = sum(links[name]["dropped_packets"].values())
        lost = f", {dropped:,} dropped" if dropped else ""
        label = f"{name}: {links[name]['delivered_packets']:,} packets{lost}"
        handles.append(style.line_entry(label, style.FLOWS[at], linestyle=style.DASHES[at], linewidth=1.2))
    style.key_of(figure, handles)
