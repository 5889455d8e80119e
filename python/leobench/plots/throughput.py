"""The throughput of flows over time, beside the capacity of their path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.plots import (
    handovers,
    path_overlay,
    path_panels,
    paths,
    rates,
    sampling,
    several,
    style,
    units,
    view,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.view import Summary, View
    from leobench.result import Result

# Inches: a panel that fills a third of a page.
_HEIGHT = 2.9


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the throughput of flows beside the capacity of the narrowest link on their path.

    A flow with several paths has its sum and a panel for each.

    Args:
        result: The run.
        flow: Name of the flow; the first five that are not background unless given.
        link: Name of a link direction whose capacity is shown instead.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If there are no flows, no such flow, link or time, or the run recorded no series.
    """
    view.require_flows("throughput", result)
    chosen = view.choose("throughput", result, flow, link, start_s, end_s)
    view.require_series("throughput", result)
    if len(chosen.flows) == 1 and paths.has_several(result, chosen.flows[0]["name"]):
        return path_panels.draw(chosen, link, rates_only=True)
    figure, stacked = style.stack(1, _HEIGHT)
    panel(stacked[0], chosen, link=link)
    handovers.mark(stacked, chosen, sampling.note([chosen]))
    style.time_axis(stacked, chosen.start_s, chosen.end_s)
    return figure


def overlay(
    results: Sequence[Result],
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws the throughput of one flow of each of several runs, a colour per run.

    The capacity is shown if it is the same in all runs. The arguments are those of `draw`.

    Raises:
        InputError: If a run has no such flow, link or time, or recorded no series.
    """
    shown = several.runs("throughput", results, flow, link, start_s, end_s)
    if path_overlay.has_several(shown):
        return path_overlay.figure(shown, rates_only=True)
    return several.figure(shown, [several.rate])


def panel(axes: Axes, view: View, *, link: str | None = None) -> None:
    """The throughput of every flow, a colour each, beside the capacity of their path.

    Args:
        axes: The panel.
        view: The part of the run shown.
        link: The link direction whose capacity is shown instead.
    """
    step = rates.step_ns(view)
    edges = rates.edges_ns(view, step)
    whose, capacity = paths.capacity_of(view, edges, link)
    drawn = {flow["name"]: rates.delivered(view, flow, edges) for flow in view.flows}
    known = [each for each in (capacity, *drawn.values()) if each is not None]
    factor, unit = units.scale_of("bit/s", known)
    if capacity is not None:
        rates.area(axes, edges, capacity / factor, whose)
    alone, means = len(view.flows) == 1, f"means of {units.millis_text(step / 1e6)}"
    for flow in view.flows:
        rate = drawn[flow["name"]]
        if rate is not None:
            colour = style.VERMILION if alone else view.colour(flow)
            rates.line(axes, edges, rate / factor, colour, f"delivered ({means})" if alone else _entry(flow))
    title = (
        _title(view, capacity, drawn[view.flows[0]["name"]]) if alone else f"Throughput{view.whose}, {means}"
    )
    style.dress(axes, title, f"rate ({unit})")
    if capacity is None:
        whose = f"the capacity of {whose} was not recorded"
        place = {"xycoords": "axes fraction", "va": "top"}
        axes.annotate(whose, (0.01, 0.97), color=style.FAINT, fontsize=style.FONT, **place)  # type: ignore[arg-type]
    style.legend(axes)


def _title(view: View, capacity: style.Array | None, rate: style.Array | None) -> str:
    """The goodput of a single flow, and the capacity until its last delivery in the time shown."""
    said = (
        f"Throughput of {view.flows[0]['name']} ({kind(view.flows[0])}): {goodput(view.flows[0])}{view.scope}"
    )
    if capacity is None or rate is None or not rate.any():
        return said
    mean = float(np.mean(capacity[: np.flatnonzero(rate)[-1] + 1]))
    return f"{said} of {units.rate_text(mean)}"


def kind(flow: Summary) -> str:
    """The transport of a flow and its congestion controller."""
    return ", ".join(filter(None, (flow["transport"].upper(), flow["congestion"])))


def _entry(flow: Summary) -> str:
    """The legend entry of one flow of several."""
    return f"{flow['name']}: {units.rate_text(flow['goodput_bps'])}" if flow["goodput_bps"] else flow["name"]


def goodput(flow: Summary) -> str:
    """The goodput of a flow in words."""
    return f"goodput {units.rate_text(flow['goodput_bps'])}" if flow["goodput_bps"] else "nothing delivered"
