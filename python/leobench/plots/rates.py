"""Throughput of flows and capacity of links: means over steps of time, and their drawing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.durations import nanoseconds
from leobench.plots import handovers, routes, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import Summary, View
    from leobench.result import Result

# Steps across a figure at most.
_STEPS = 400

# Acknowledgements, and the delivery opportunities of traces, come in clumps: a step holds so many bytes on
# average, or so many samples.
_CLUMPS, _SAMPLES = 50e3, 10

# The capacity: light enough for lines of every colour before it.
_AREA, _EDGE = "#d9e3ea", "#9aaab5"


def step_ns(view: View) -> int:
    """The length of a step for the time shown, in nanoseconds: 1, 2 or 5 times a power of ten.

    It is a sample or more; one of fewer than ten samples is 1, 2 or 5 of them.
    """
    interval = nanoseconds(view.result.scenario["record"]["interval"])
    span = (view.end_s - view.start_s) * 1e9
    total = sum(_delivered_bytes(view, flow) for flow in view.flows)
    smooth = min(span * _CLUMPS / total if total else math.inf, interval * _SAMPLES)
    least = max(span / _STEPS, interval, smooth)
    unit = interval if least < interval * _SAMPLES else 10.0 ** math.floor(math.log10(least))
    return round(next(unit * each for each in (1, 2, 5, 10) if unit * each >= least * (1 - 1e-9)))


def _delivered_bytes(view: View, flow: Summary) -> int:
    """The bytes of a flow that were acknowledged, or arrived, in the time shown."""
    rows = view.within(view.transport(flow), "t_ns")
    if rows.is_empty():
        return int(view.within(view.messages(flow), "delivered_ns")["size_bytes"].sum())
    of_paths = rows.group_by("path").agg(pl.col("bytes_delivered").max() - pl.col("bytes_delivered").min())
    return int(of_paths["bytes_delivered"].sum())


def edges_ns(view: View, step: int) -> style.Array:
    """The ends of the steps that cover the time shown, in nanoseconds; the last one ends with the run."""
    last = round(view.result.summary["virtual_s"] * 1e9)
    numbers = np.arange(round(view.start_s * 1e9) // step, -(-round(view.end_s * 1e9) // step) + 1)
    return np.unique(np.minimum(numbers * step, last)).astype(np.float64)


def delivered(view: View, flow: Summary, edges: style.Array) -> style.Array | None:
    """The throughput of a flow in each step, in bits per second of application data.

    Data counts when acknowledged; for a transport without acknowledgements, when its messages arrive. None
    if neither was recorded.
    """
    samples = view.transport(flow)
    if not samples.is_empty():
        totals = samples.group_by("t_ns").agg(pl.col("bytes_delivered").sum()).sort("t_ns")
        return of_totals(totals["t_ns"].to_numpy(), totals["bytes_delivered"].to_numpy(), edges)
    arrived = view.messages(flow).filter(pl.col("delivered_ns").is_not_null()).sort("delivered_ns")
    if not view.result.scenario["record"]["messages"]:
        return None
    return of_totals(arrived["delivered_ns"].to_numpy(), arrived["size_bytes"].cum_sum().to_numpy(), edges)


def of_path(view: View, flow: Summary, edges: style.Array) -> style.Array | None:
    """The capacity of the narrowest link on the path of a flow's data in each step, in bits per second.

    Taken from the `paths` table; if a trace serves a link on the path, the lowest of the links' means.
    None if it was not recorded.
    """
    rows = view.result.tables.paths.filter(flow=flow["name"], path=0)
    if "bottleneck_bps" in rows.columns and rows.height and not rows["bottleneck_bps"].has_nulls():
        return of_steps(rows["t_ns"].to_numpy(), rows["bottleneck_bps"].cast(pl.Float64).to_numpy(), edges)
    return narrowest(view.result, routes.of_flow(view.result, flow["name"]), edges)


def of_link(result: Result, link: str, edges: style.Array) -> style.Array | None:
    """The capacity of a link direction in each step, in bits per second, none while it is down.

    None if it was not recorded.
    """
    rows = result.tables.channel.filter(link=link).sort("t_ns", maintain_order=True)
    if rows.is_empty():
        return None
    if not rows["rate_bps"].has_nulls():
        rate = rows.select(pl.col("rate_bps") * pl.col("up")).to_series().cast(pl.Float64)
        return of_steps(rows["t_ns"].to_numpy(), rate.to_numpy(), edges)
    if "opportunities" not in result.tables:
        return None
    samples = result.tables["opportunities"].filter(link=link)
    if samples.is_empty():
        return None
    return of_totals(samples["t_ns"].to_numpy(), samples["offered_bytes"].to_numpy(), edges)


def area(axes: Axes, edges: style.Array, capacity: style.Array, label: str) -> None:
    """A capacity as an area of steps between `edges` in nanoseconds."""
    axes.stairs(capacity, edges / 1e9, fill=True, color=_AREA, label=f"capacity of {label}", zorder=0.6)
    axes.stairs(capacity, edges / 1e9, color=_EDGE, linewidth=0.6, zorder=0.7)


def line(
    axes: Axes, edges: style.Array, rate: style.Array, colour: str, label: str, width: float = 1.1
) -> None:
    """A rate as a line through the middles of the steps between `edges` in nanoseconds."""
    axes.plot((edges[1:] + edges[:-1]) / 2e9, rate, color=colour, linewidth=width, label=label)


def capacity_of(view: View, edges: style.Array, link: str | None = None) -> tuple[str, style.Array | None]:
    """The name of the link or path that the flows share, and its capacity in each step, if recorded.

    It is the given link, otherwise the path if all flows shown take the same one, otherwise the link shown.
    """
    if link is not None:
        return link, of_link(view.result, link, edges)
    ways = [routes.of_flow(view.result, flow["name"]) for flow in view.flows]
    moved = bool(handovers.of_run(view.result))
    if all(way == ways[0] for way in ways):
        name = ways[0][0] if len(ways[0]) == 1 else "the path" if moved else "the narrowest link"
        return name, of_path(view, view.flows[0], edges)
    return view.link["name"], of_link(view.result, view.link["name"], edges)


def narrowest(result: Result, links: Sequence[str], edges: style.Array) -> style.Array | None:
    """The lowest capacity of several link directions in each step; None if one was not recorded."""
    found = [of_link(result, link, edges) for link in links]
    known = [each for each in found if each is not None]
    return np.min(known, axis=0) if known and len(known) == len(found) else None


def of_totals(times: style.Array, totals: style.Array, edges: style.Array) -> style.Array:
    """Bits per second in each step, from running totals in bytes."""
    before = np.searchsorted(times, edges, side="right")
    amounts = np.concatenate(([0.0], totals))[before]
    return 8 * np.diff(amounts) / (np.diff(edges) / 1e9)


def of_steps(times: style.Array, values: style.Array, edges: style.Array) -> style.Array:
    """The mean in each step of a value that holds until it changes."""
    last = max(float(edges[-1]), float(times[-1]))
    spans = np.diff(np.append(times, last).astype(np.float64))
    areas = np.concatenate(([0.0], np.cumsum(values * spans)))
    at_edges = np.interp(edges, np.append(times, last), areas)
    return np.diff(at_edges) / np.diff(edges)
