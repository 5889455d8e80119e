"""Panels of the timeline: link queue, congestion windows, message delays, pages or round-trip times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench.plots import bands, handovers, objects, paths, style, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from leobench.plots.view import Summary, View

# Columns of the `transport` table in the window panel of a single flow, with their names and looks.
_WINDOW_LINES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("in_flight_bytes", "in flight", {"color": style.SKY, "linewidth": 0.7}),
    ("ssthresh_bytes", "slow-start threshold", {"color": style.INK, "linewidth": 0.8, "linestyle": ":"}),
    ("cwnd_bytes", "congestion window", {"color": style.VERMILION, "linewidth": 1.2}),
)

# Room above the highest value; the share of it that is added for marks of events, and their place.
_HEADROOM, _ABOVE_MARKS = 1.06, 0.12
_MARKS_AT = 0.965

# Medians of delays further apart than this share a logarithmic axis.
_FAR = 20.0

# Beyond so many streams, colours cannot be told apart.
_MOST_STREAMS = 5
_OF_LINK = ("channel", "down", "mtu", "handover")  # causes of drops that are not the queue's


def queue(axes: Axes, view: View) -> None:
    """The bytes waiting before the link; before each of the links that handovers lead over."""
    links = handovers.queues(view)
    if len(links) > 1:
        _queues(axes, view, links)
        return
    times, backlog = bands.samples(view.queues([view.link["name"]]), "t_ns", "backlog_bytes")
    factor, unit = units.scale("B", float(np.max(backlog, initial=0.0)))
    dense = bands.draw(axes, times, backlog / factor, style.BLUE, legend=True)
    waited = view.link["queue_delay_ms"]["mean"]
    drops = sum(view.link["dropped_packets"].values()) - sum(
        view.link["dropped_packets"].get(cause, 0) for cause in _OF_LINK
    )
    details = [] if waited is None else [f"mean wait {units.millis_text(waited)}"]
    details.append(f"{_count(drops, 'packet')} dropped")
    title = f"Queue of {view.link['name']}: {', '.join(details)}{view.scope}"
    style.dress(axes, title, f"backlog ({unit})")
    if dense:
        axes.set_ylim(0, float(np.max(backlog)) / factor * _HEADROOM)
    if not backlog.any():
        axes.set_ylim(0, 1)
        style.say(axes, "empty at every sample")
    _dropped(axes, view, [view.link["name"]])
    style.legend(axes)


def _queues(axes: Axes, view: View, links: Sequence[str]) -> None:
    rows = view.queues(links)
    factor, unit = units.scale("B", float(rows["backlog_bytes"].max() or 0))  # type: ignore[arg-type]
    for link, colour in zip(links, style.FLOWS, strict=False):
        times, backlog = bands.samples(rows.filter(link=link), "t_ns", "backlog_bytes")
        axes.plot(times, backlog / factor, color=colour, linewidth=0.9, label=link)
    style.dress(axes, f"Queues of the links in turn{view.scope}", f"backlog ({unit})")
    axes.set_ylim(0, axes.get_ylim()[1] or 1.0)
    _dropped(axes, view, links)
    style.legend(axes)


def _dropped(axes: Axes, view: View, links: Sequence[str]) -> None:
    """Marks the packets that these links dropped, at their exact times: those of queues, and all others."""
    if "losses" not in view.result.tables:
        return
    rows = view.within(view.result.tables["losses"].filter(pl.col("place").is_in(links)), "dropped_ns")
    foreign = pl.col("cause").is_in(_OF_LINK)
    groups = (
        (rows.filter(~foreign), style.VERMILION, "dropped by the queue"),
        (
            rows.filter(foreign),
            style.INK,
            f"dropped by {' and '.join(rows.filter(foreign)['cause'].unique().sort())}",
        ),
    )
    # The summary counts drops from the end of the warm-up on: a second count would contradict the title.
    drawn = [_mark(axes, group["dropped_ns"], colour, label) for group, colour, label in groups]
    if any(drawn):
        style.extend(axes, _ABOVE_MARKS)


def _mark(axes: Axes, times_ns: pl.Series, colour: str, label: str) -> int:
    """Marks events along the top of a panel, and returns their number."""
    if len(times_ns):
        axes.plot(
            times_ns.to_numpy() / 1e9, np.full(len(times_ns), _MARKS_AT), "|", color=colour, markersize=5,
            transform=axes.get_xaxis_transform(), label=label,
        )  # fmt: skip
    return len(times_ns)


def window(axes: Axes, view: View) -> None:
    """The congestion window of every flow; for a single flow also its bytes in flight and its threshold."""
    flows = [flow for flow in view.flows if flow["congestion"] is not None]
    frames = [view.within(view.transport(flow), "t_ns") for flow in flows]
    alone = len(view.flows) == 1
    shown = ["cwnd_bytes", "in_flight_bytes"] if alone else ["cwnd_bytes"]
    highest = [frame.select(pl.max_horizontal(shown).max()).item() for frame in frames]
    largest = float(max((value for value in highest if value is not None), default=0.0))
    factor, unit = units.scale("B", largest)
    for flow, frame in zip(flows, frames, strict=True):
        if alone:
            for column, label, look in _WINDOW_LINES:
                _paths(axes, frame, column, factor, label, look)
        else:
            look = {"color": view.colour(flow), "linewidth": 1.1}
            label = f"{flow['name']} ({flow['congestion']})"
            _paths(axes, frame, "cwnd_bytes", factor, label, look, _tracks(view, flow))
    if alone:
        events = flows[0]["congestion_events"]
        title = f"Congestion window{view.whose}: {_count(events, 'congestion event')}{view.scope}"
    else:
        title = f"Congestion windows{view.whose}"
    style.dress(axes, title, f"window ({unit})")
    # A threshold far above every window would press the window flat.
    axes.set_ylim(0, (largest / factor or 1.0) * _HEADROOM)
    style.legend(axes)


def delay(axes: Axes, view: View) -> None:
    """Objects of pages, message delays, round-trip times of files, or a remark that there are none."""
    if all("page" in flow and view.messages(flow).height for flow in view.flows):
        objects.draw(axes, view, [view.colour(flow) for flow in view.flows])
        style.legend(axes)
    elif flows := [flow for flow in view.flows if view.has_delays(flow)]:
        _message_delays(axes, view, flows)
    elif flows := [flow for flow in view.flows if view.has_rtt(flow)]:
        _round_trips(axes, view, flows)
    elif any(view.messages(flow)["delivered_ns"].is_not_null().any() for flow in view.flows):
        _message_delays(axes, view, view.flows)
    else:
        _nothing(axes, view)


def _message_delays(axes: Axes, view: View, flows: Sequence[Summary]) -> None:
    frames = [view.within(view.messages(flow), "created_ns") for flow in flows]
    rows = pl.concat(frames).sort("created_ns", maintain_order=True)
    rows = rows.with_columns(delay_s=(pl.col("delivered_ns") - pl.col("created_ns")) / 1e9)
    title, delays = _delay_title(flows), flows[0]["delay_ms"]
    if len(flows) == 1 and delays["mean"] is not None:
        title += f": mean {units.millis_text(delays['mean'])}, "
        title += f"95 % within {units.millis_text(delays['p95'])}{view.scope}"
    worst = rows["delay_s"].max()
    factor, unit = units.scale("s", float(worst) if isinstance(worst, float) else 0.0)
    groups = _groups(rows, flows, view)
    for (name, colour), group in groups.items():
        times, delays = bands.samples(group, "created_ns", "delay_s")
        if group.select(pl.struct("flow", "stream").n_unique()).item() > 1:
            # Neighbours in time are of different streams: a line between them would say nothing.
            axes.plot(times, delays / factor, ".", color=colour, markersize=2, label=name, rasterized=True)
        else:
            _line(axes, times, delays / factor, colour, name)
    lines = [*groups, *_own_delay(axes, view, factor)]
    missing = _never_delivered(axes, rows)
    _far_apart(axes, groups.values())
    style.dress(axes, title, f"delay ({unit})", zero=axes.get_yscale() == "linear")
    if rows.is_empty():
        style.say(axes, "no message was created in this time")
    elif worst is None:
        style.say(axes, "no message from this time was delivered")
    if len(lines) > 1 or missing:
        style.extend(axes, _ABOVE_MARKS if missing else 0.0)
        style.legend(axes)


def _far_apart(axes: Axes, groups: Iterable[pl.DataFrame]) -> None:
    """Makes the axis of delays logarithmic if their scales differ too much."""
    medians = [group["delay_s"].median() for group in groups]
    known = [float(each) for each in medians if isinstance(each, float) and each > 0]
    if known and max(known) > _FAR * min(known):
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)


def _delay_title(flows: Sequence[Summary]) -> str:
    if len(flows) > 1:
        return "Message delays, by time of creation"
    name = flows[0]["name"]
    return f"Message delay of {name}, by time of creation"


def _groups(rows: pl.DataFrame, flows: Sequence[Summary], view: View) -> dict[tuple[str, str], pl.DataFrame]:
    """The messages by the name and the colour of the line that shows them."""
    if len(flows) > 1:
        return {
            (flow["name"], view.colour(flow)): rows.filter(pl.col("flow") == flow["name"]) for flow in flows
        }
    names = rows["stream"].unique(maintain_order=True).sort().to_list()
    if len(names) == 1:
        return {("delivered", style.FLOWS[0]): rows}
    if len(names) > _MOST_STREAMS:
        return {(f"{len(names)} streams", style.FLOWS[0]): rows}
    return {
        (name, colour): rows.filter(pl.col("stream") == name)
        for name, colour in zip(names, style.FLOWS, strict=False)
    }


def _line(axes: Axes, times: style.Array, delays: style.Array, colour: str, name: str) -> None:
    """A line through the delays, and a marker for a message between undelivered ones."""
    few = len(times) < 100
    times, delays = bands.thin(times, delays)
    axes.plot(
        times, delays, color=colour, linewidth=0.8, marker="o" if few else "", markersize=2.5, label=name
    )
    gap = np.isnan(np.concatenate(([np.nan], delays, [np.nan])))
    lonely = ~gap[1:-1] & gap[:-2] & gap[2:]
    if not few and lonely.any():
        axes.plot(times[lonely], delays[lonely], "o", color=colour, markersize=1.5)


def _never_delivered(axes: Axes, rows: pl.DataFrame) -> int:
    """Marks the creation of undelivered messages, and returns their number."""
    created = rows.filter(pl.col("delivered_ns").is_null())["created_ns"]
    return _mark(axes, created, style.VERMILION, f"never delivered ({len(created):,})")


def _own_delay(axes: Axes, view: View, factor: float) -> list[str]:
    """The delay of the link itself, if it changes; returns its legend entry."""
    rows = view.result.tables.channel.filter(pl.col("link") == view.link["name"])
    if rows["delay_ns"].n_unique() < 2:
        return []
    label = f"{view.link['name'].partition('/')[0]} when empty"
    times, delays = bands.samples(rows, "t_ns", "delay_ns")
    _steps(axes, view, times, delays / 1e9 / factor, label)
    return [label]


def _round_trips(axes: Axes, view: View, flows: Sequence[Summary]) -> None:
    frames = [view.within(_while_active(view.transport(flow)), "t_ns") for flow in flows]
    columns = ["srtt_ns", "latest_rtt_ns"] if len(flows) == 1 else ["srtt_ns"]
    highest = [frame.select(pl.max_horizontal(columns).max()).item() for frame in frames]
    factor, unit = units.scale("s", max((value for value in highest if value), default=0) / 1e9)
    # Flows that share a bottleneck share its delay: the thinner line lies on the thicker one.
    widths = np.linspace(1.0 + 0.7 * (len(flows) - 1), 1.0, len(flows))
    for flow, frame, width in zip(flows, frames, widths, strict=True):
        if len(flows) == 1:
            look = {"color": style.SKY, "linewidth": 0.7}
            _paths(axes, frame, "latest_rtt_ns", factor * 1e9, "latest sample", look)
        look = {"color": view.colour(flow), "linewidth": width}
        name = flow["name"] if len(view.flows) > 1 else "smoothed"
        _paths(axes, frame, "srtt_ns", factor * 1e9, name, look, _tracks(view, flow))
    bases = [view.result.tables.paths.filter(flow=flow["name"], path=0) for flow in flows]
    if not any(_tracks(view, flow) for flow in flows) and all(
        base.drop("flow").equals(bases[0].drop("flow")) for base in bases
    ):
        times, base = bands.samples(bases[0], "t_ns", "base_rtt_ns")
        _steps(axes, view, times, base / 1e9 / factor, "with empty queues")
    kind = "Round-trip time" if len(flows) == 1 else "Smoothed round-trip times"
    title = f"{kind}{view.whose}"
    rtt, done = flows[0]["rtt_ms"], flows[0]["completion_s"]
    if len(flows) == 1 and rtt["mean"] is not None:
        title += f": mean {units.millis_text(rtt['mean'])}, 95 % within {units.millis_text(rtt['p95'])}"
        title += f"; all delivered at {units.number_text(done)} s" if done is not None else ""
        title += view.scope
    style.dress(axes, title, f"RTT ({unit})")
    style.legend(axes)


def _while_active(rows: pl.DataFrame) -> pl.DataFrame:
    """The samples of a transport until the last byte is acknowledged."""
    last = rows.filter(pl.col("bytes_delivered") < pl.col("bytes_delivered").max())["t_ns"].max()
    return rows if last is None else rows.filter(pl.col("t_ns") <= last)


def _nothing(axes: Axes, view: View) -> None:
    rows = pl.concat([view.within(view.messages(flow), "created_ns") for flow in view.flows])
    missing = _never_delivered(axes, rows)
    style.dress(axes, f"Message delay{view.whose}, by time of creation", "delay")
    axes.set_ylim(0, 1)
    recorded = view.result.scenario["record"]["messages"]
    created = any(view.messages(flow).height for flow in view.flows)
    said = "nothing was delivered" if created else "no message was created"
    style.say(axes, said if recorded else "messages were not recorded")
    if missing:
        style.legend(axes)


def _tracks(view: View, flow: Summary) -> list[paths.Track]:
    """The paths of a flow by link; none if it does not have several."""
    return paths.of_flow(view.result, flow["name"]) if paths.has_several(view.result, flow["name"]) else []


def _paths(
    axes: Axes,
    rows: pl.DataFrame,
    column: str,
    factor: float,
    label: str,
    look: dict[str, Any],
    tracks: Sequence[paths.Track] = (),
) -> None:
    """A line for every path of a flow; several have a style and a label for each link."""
    for at, track in enumerate(tracks):
        named = f"{label} over {track.link}"
        for part in track.parts(rows):
            times, values = bands.samples(part, "t_ns", column)
            if not np.isnan(values).all():
                dashes = style.DASHES[at % len(style.DASHES)]
                axes.plot(*bands.thin(times, values / factor), label=named, linestyle=dashes, **look)
                named = "_"
    if tracks:
        return
    for path in rows["path"].unique().sort():
        times, values = bands.samples(rows.filter(pl.col("path") == path), "t_ns", column)
        if np.isnan(values).all():
            continue
        if bands.is_dense(values):
            bands.draw(axes, times, values / factor, look["color"], label=label, linewidth=look["linewidth"])
        else:
            axes.plot(*bands.thin(times, values / factor), label=label, **look)
        label = "_"


def _steps(axes: Axes, view: View, times: style.Array, values: style.Array, label: str) -> None:
    """A piecewise constant value over the time shown."""
    before = np.flatnonzero(times <= view.start_s)
    first = int(before[-1]) if len(before) else 0
    kept = slice(first, int(np.searchsorted(times, view.end_s, "right")))
    times = np.concatenate((np.maximum(times[kept], view.start_s), [view.end_s]))
    values = np.concatenate((values[kept], values[kept][-1:]))
    axes.step(times, values, where="post", color=style.INK, linewidth=0.9, linestyle=":", label=label)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}" if number else f"no {what}s"
