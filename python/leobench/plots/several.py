"""Several runs in one figure: a colour for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.errors import InputError
from leobench.plots import bands, handovers, names, paths, rates, sampling, style, units, view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.view import Summary, View
    from leobench.result import Result

# Inches of a panel, and of a panel alone.
_PANEL, _ALONE = 1.95, 2.6

# More queues than this are not named.
_MOST_QUEUES = 3


@dataclass(frozen=True)
class Run:
    """A run among several.

    Attributes:
        label: Its name.
        colour: Its colour.
        view: The part of it shown.
        link: The link direction that was asked for, if any.
    """

    label: str
    colour: str
    view: View
    link: str | None = None

    @property
    def flow(self) -> Summary:
        """The flow that is shown."""
        return self.view.flows[0]


def runs(
    kind: str,
    results: Sequence[Result],
    flow: str | None,
    link: str | None,
    start_s: float | None,
    end_s: float | None,
) -> list[Run]:
    """One flow of every run, with the name and the colour of the run.

    Raises:
        InputError: If there are more runs than colours, or a run has no such flow, link or time.
    """
    colours = style.CATEGORIES
    if len(results) > len(colours):
        raise InputError(
            f"{kind}: {len(results)} runs; allowed: {len(colours)}, more cannot be told apart "
            "(run a campaign instead, and plot its folder)"
        )

    def choose(result: Result) -> View:
        view.require_flows(kind, result)
        chosen = view.choose(kind, result, flow, link, start_s, end_s)
        view.require_series(kind, result)
        return chosen.alone()

    labels = names.of_runs(results)
    views = view.of_each(results, labels, choose)
    return [
        Run(label, colour, each, link) for label, colour, each in zip(labels, colours, views, strict=False)
    ]


def figure(shown: Sequence[Run], panels: Sequence[Callable[[Axes, Sequence[Run]], None]]) -> Figure:
    """Panels over one time axis, with a legend of the runs above them."""
    made, stacked = style.stack(len(panels), 0.4 + (_PANEL if len(panels) > 1 else _ALONE) * len(panels))
    for draw_panel, axes in zip(panels, stacked, strict=True):
        draw_panel(axes, shown)
    views = [run.view for run in shown]
    handovers.mark_several(stacked, views, [run.colour for run in shown], sampling.note(views))
    style.time_axis(stacked, *view.span(views))
    style.key_of(made, [style.line_entry(run.label, run.colour, linewidth=1.6) for run in shown])
    return made


def rate(axes: Axes, shown: Sequence[Run]) -> None:
    """The throughput of the flow of every run, with the capacity if it is the same in all runs."""
    steps = [rates.step_ns(run.view) for run in shown]
    edges = [rates.edges_ns(run.view, max(steps)) for run in shown]
    offered = [paths.capacity_of(run.view, at) for run, at in zip(shown, edges, strict=True)]
    drawn = [rates.delivered(run.view, run.flow, at) for run, at in zip(shown, edges, strict=True)]
    longest = max(range(len(shown)), key=lambda at: len(edges[at]))
    name, capacity = offered[longest]
    common = capacity is not None and all(
        each is not None and np.allclose(each[:-1], capacity[: len(each) - 1]) for _, each in offered
    )
    known = [each for each in (*drawn, capacity if common else None) if each is not None]
    factor, unit = units.scale_of("bit/s", known)
    if common and capacity is not None:
        rates.area(axes, edges[longest], capacity / factor, name)
    for run, at, each in zip(shown, edges, drawn, strict=True):
        if each is not None:
            rates.line(axes, at, each / factor, run.colour, "_")
    style.dress(
        axes, f"Throughput{_whose(shown)}, means of {units.millis_text(max(steps) / 1e6)}", f"rate ({unit})"
    )
    if common:
        style.legend(axes)


def queue(axes: Axes, shown: Sequence[Run]) -> None:
    """The bytes waiting before the link of every run; before all links that its handovers lead over."""
    found, before = [], dict[str, None]()
    for run in shown:
        links = handovers.queues(run.view) if run.link is None else []
        links = links if len(links) > 1 else [run.view.link["name"]]
        before |= dict.fromkeys(links)
        rows = run.view.queues(links).group_by("t_ns", maintain_order=True).agg(pl.col("backlog_bytes").sum())
        found.append(bands.samples(rows, "t_ns", "backlog_bytes"))
    title = f"Queue of {', '.join(before)}" if len(before) <= _MOST_QUEUES else "Queues of the links in turn"
    _series(axes, shown, found, "B", title, "backlog")


def window(axes: Axes, shown: Sequence[Run]) -> None:
    """The congestion window of the flow of every run."""
    found = [_transport(run, "cwnd_bytes") for run in shown]
    _series(axes, shown, found, "B", f"Congestion window{_whose(shown)}", "window")


def delay(axes: Axes, shown: Sequence[Run]) -> None:
    """The message delays of the flow of every run; smoothed round-trip times if a run has none."""
    if all(run.view.has_delays(run.flow) for run in shown):
        found = []
        for run in shown:
            rows = run.view.within(run.view.messages(run.flow), "created_ns").sort("created_ns")
            rows = rows.with_columns(delay_ns=pl.col("delivered_ns") - pl.col("created_ns"))
            times, delays = bands.samples(rows, "created_ns", "delay_ns")
            found.append((times, delays / 1e9))
        title = f"Message delay{_whose(shown)}, by time of creation"
        _series(axes, shown, found, "s", title, "delay")
    else:
        found = [(times, trips / 1e9) for times, trips in (_transport(run, "srtt_ns") for run in shown)]
        _series(axes, shown, found, "s", f"Smoothed round-trip time{_whose(shown)}", "RTT")


def _transport(run: Run, column: str) -> tuple[style.Array, style.Array]:
    """A column of the samples of a flow, of its first path."""
    rows = run.view.within(run.view.transport(run.flow), "t_ns")
    first = rows["path"].min()
    return bands.samples(rows if first is None else rows.filter(path=first), "t_ns", column)


def _series(
    axes: Axes,
    shown: Sequence[Run],
    found: Sequence[tuple[style.Array, style.Array]],
    unit: str,
    title: str,
    label: str,
) -> None:
    factor, name = units.scale_of(unit, [values for _, values in found])
    for run, (times, values) in zip(shown, found, strict=True):
        bands.draw(axes, times, values / factor, run.colour, linewidth=1.1, always=True)
    style.dress(axes, title, f"{label} ({name})")


def _whose(shown: Sequence[Run]) -> str:
    """The flow shown, if it has the same name in all runs."""
    flows = dict.fromkeys(run.flow["name"] for run in shown)
    return f" of {', '.join(flows)}"
