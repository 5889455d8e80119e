"""What a flow went through: link queue, congestion window and message delay over the state of the channel.

The content of figure 4 of Khan et al., "Realistic assessment of transport protocols performance over
LEO-based communications" (Computer Networks, 2023).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from leobench.errors import InputError
from leobench.plots import states, style

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from leobench.result import Result

# Inches: the text width of a page, and three panels that can be read at it.
_SIZE = (7.2, 6.2)

# Columns of the `transport` table in the window panel, with their names and looks.
_WINDOW_LINES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("in_flight_bytes", "in flight", {"color": style.SKY, "linewidth": 0.7}),
    ("ssthresh_bytes", "slow-start threshold", {"color": style.INK, "linewidth": 0.8, "linestyle": ":"}),
    ("cwnd_bytes", "congestion window", {"color": style.VERMILION, "linewidth": 1.2}),
)

# Room for a legend above the highest value.
_HEADROOM = 1.25

# Beyond so many streams, colours cannot be told apart.
_MOST_STREAMS = 5
_STREAM_COLOURS = (style.GREEN, style.PURPLE, style.BLUE, style.ORANGE, style.BLACK)


@dataclass(frozen=True)
class _View:
    """What is shown of a result."""

    result: Result
    flow: dict[str, Any]
    link: dict[str, Any]
    start_s: float
    end_s: float

    @property
    def scope(self) -> str:
        """What the numbers in the titles are about, where that is not what is drawn."""
        whole = self.start_s == 0 and self.end_s == self.result.summary["virtual_s"]
        return "" if whole else " (whole run)"

    def within(self, frame: pl.DataFrame, time: str) -> pl.DataFrame:
        """The rows in the time shown."""
        return frame.filter(pl.col(time).is_between(round(self.start_s * 1e9), round(self.end_s * 1e9)))


def draw(
    result: Result,
    *,
    flow: str | None = None,
    link: str | None = None,
    start_s: float | None = None,
    end_s: float | None = None,
) -> Figure:
    """Draws three panels over one time axis: link queue, congestion window and message delay.

    Args:
        result: The run.
        flow: Name of the flow; the first that is not background unless given.
        link: Name of the link direction; the one that is used most unless given.
        start_s: First second shown; the start of the run unless given.
        end_s: Last second shown; the end of the run unless given.

    Raises:
        InputError: If there is no such flow, link or time, or the run recorded no series.
    """
    view = _view(result, flow, link, start_s, end_s)
    if result.tables.queues.is_empty():
        raise InputError("timeline: the run recorded no series; run it with record.series = true")
    figure = Figure(figsize=_SIZE, layout="constrained")
    panels = figure.subplots(3, 1, sharex=True)
    _queue(panels[0], view)
    _window(panels[1], view)
    _delay(panels[2], view)

    channel = result.tables.channel.filter(pl.col("link") == view.link["name"])
    channel_states = states.of_channel(channel, result.summary["virtual_s"])
    states.paint(panels, channel_states)
    panels[2].set_xlim(view.start_s, view.end_s)
    panels[2].set_xlabel("time (s)", fontsize=style.FONT, color=style.INK)
    figure.align_ylabels(panels)
    if shown := states.legend(channel_states):
        figure.legend(
            handles=shown,
            title=f"channel of {view.link['name']}",
            loc="outside upper right",
            ncols=len(shown),
            fontsize=style.FONT - 0.5,
            title_fontsize=style.FONT - 0.5,
            frameon=False,
        )
    return figure


def _view(
    result: Result, flow: str | None, link: str | None, start_s: float | None, end_s: float | None
) -> _View:
    flows = {each["name"]: each for each in result.summary["flows"]}
    links = {each["name"]: each for each in result.summary["links"]}
    chosen_flow = _named("flow", flow, flows) or _main_flow(result, flows)
    chosen_link = _named("link", link, links) or max(
        links.values(), key=lambda each: each["utilisation"] or 0.0
    )
    last = float(result.summary["virtual_s"])
    start, end = start_s or 0.0, last if end_s is None else end_s
    if not 0 <= start < end <= last:
        raise InputError(
            f"timeline: cannot show from {start:g} s to {end:g} s; "
            f"allowed: a part of the run, from 0 s to {last:g} s"
        )
    return _View(result, chosen_flow, chosen_link, start, end)


def _named(what: str, name: str | None, known: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    if name is None or name in known:
        return known[name] if name is not None else None
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise InputError(f"--{what} = {name}: no such {what}; allowed: {_list(known)}{hint}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _main_flow(result: Result, flows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    specs = result.scenario["flows"]
    foreground = [flow for name, flow in flows.items() if not specs[name]["background"]]
    return (foreground or list(flows.values()))[0]


def _queue(axes: Axes, view: _View) -> None:
    rows = view.within(view.result.tables.queues.filter(pl.col("link") == view.link["name"]), "t_ns")
    times, backlog = _series(rows, "t_ns", "backlog_bytes")
    factor, unit = style.byte_unit(float(np.max(backlog, initial=0.0)))
    axes.plot(*style.thin(times, backlog / factor), color=style.BLUE, linewidth=1.0)
    waited = view.link["queue_delay_ms"]["mean"]
    drops = view.link["dropped_packets"]["queue"]
    details = [] if waited is None else [f"mean wait {style.millis_text(waited)}"]
    details.append(f"{drops:,} packet{'s' * (drops > 1)} dropped" if drops else "none dropped")
    style.dress(axes, f"Link queue: {', '.join(details)}{view.scope}", f"backlog ({unit})")


def _window(axes: Axes, view: _View) -> None:
    flow = view.flow
    goodput = flow["goodput_bps"]
    reached = "nothing delivered" if goodput is None else f"goodput {style.rate_text(goodput)}"
    controller = flow["transport"].upper() + (f", {flow['congestion']}" if flow["congestion"] else "")
    rows = view.within(view.result.tables.transport.filter(pl.col("flow") == flow["name"]), "t_ns")
    if rows.is_empty():
        style.dress(axes, f"Flow {flow['name']} ({controller}): {reached}", "window")
        style.say(axes, "this transport has no congestion window")
        return
    largest = float(rows.select(pl.max_horizontal("cwnd_bytes", "in_flight_bytes").max()).item())
    factor, unit = style.byte_unit(largest)
    paths = rows["path"].unique().sort().to_list()
    for path in paths:
        for column, label, look in _WINDOW_LINES:
            times, values = _series(rows.filter(pl.col("path") == path), "t_ns", column)
            if np.isnan(values).all():
                continue
            times, values = style.thin(times, values / factor)
            axes.plot(times, values, label=label if path == paths[0] else None, **look)
    # A threshold far above every window would press the window flat; the legend goes above the window.
    axes.set_ylim(0, largest / factor * _HEADROOM)
    events = flow["congestion_events"]
    reduced = {0: "never reduced", 1: "reduced once"}.get(events, f"reduced {events:,} times")
    title = f"Congestion window of {flow['name']} ({controller}): {reached}, {reduced}{view.scope}"
    style.dress(axes, title, f"window ({unit})")
    _legend(axes)


def _delay(axes: Axes, view: _View) -> None:
    flow = view.flow
    title = "Message delay, by time of creation"
    rows = view.result.tables.messages.filter(pl.col("flow") == flow["name"])
    rows = view.within(rows, "created_ns").sort("created_ns", maintain_order=True)
    if rows.is_empty():
        style.dress(axes, title, "delay")
        recorded = view.result.scenario["record"]["messages"]
        style.say(axes, "no message in this time" if recorded else "messages were not recorded")
        return
    rows = rows.with_columns(delay_s=(pl.col("delivered_ns") - pl.col("created_ns")) / 1e9)
    worst = rows["delay_s"].max()
    factor, unit = style.second_unit(float(worst) if isinstance(worst, float) else 0.0)
    names = rows["stream"].unique(maintain_order=True).sort().to_list()
    groups = [(name, rows.filter(pl.col("stream") == name)) for name in names]
    if len(names) > _MOST_STREAMS:
        groups = [(f"{len(names)} streams", rows)]
    for (name, group), colour in zip(groups, _STREAM_COLOURS, strict=False):
        times, delays = _series(group, "created_ns", "delay_s")
        few = len(times) < 100
        times, delays = style.thin(times, delays / factor)
        axes.plot(
            times,
            delays,
            color=colour,
            linewidth=0.8,
            marker="o" if few else "",
            markersize=2.5,
            label=name,
        )
    missing = rows.filter(pl.col("delivered_ns").is_null())
    if not missing.is_empty():
        times = missing["created_ns"].to_numpy() / 1e9
        axes.plot(
            times, np.full(len(times), 0.97), "|", color=style.VERMILION, markersize=5,
            transform=axes.get_xaxis_transform(), label=f"never delivered ({len(times):,})",
        )  # fmt: skip
    delay = flow["delay_ms"]
    if delay["mean"] is not None:
        title += f": mean {style.millis_text(delay['mean'])}, 95 % within {style.millis_text(delay['p95'])}"
        title += view.scope
    style.dress(axes, title, f"delay ({unit})")
    if len(groups) > 1 or not missing.is_empty():
        axes.set_ylim(0, axes.get_ylim()[1] * _HEADROOM)
        _legend(axes)


def _series(rows: pl.DataFrame, time: str, column: str) -> tuple[style.Array, style.Array]:
    """Times in seconds and values of a column, missing ones as not-a-number."""
    return (
        rows[time].to_numpy() / 1e9,
        rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
    )


def _legend(axes: Axes) -> None:
    axes.legend(
        loc="upper right",
        fontsize=style.FONT - 1,
        ncols=3,
        framealpha=0.85,
        edgecolor="none",
        borderpad=0.3,
        handlelength=1.6,
        columnspacing=1.0,
    )
