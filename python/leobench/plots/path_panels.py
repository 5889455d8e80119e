"""Panels of a flow with several paths: what all carry together, and a colour for each link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.plots import bands, handovers, panels, paths, rates, routes, sampling, style, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.plots.paths import Span, Track
    from leobench.plots.view import View

# Relative heights: the sum, the rate over one link, and any other panel.
SUM, LINK, OTHER = 1.75, 1.05, 1.6

# With more paths over a link, their numbers are not written.
_MOST_NUMBERS = 8

# The colour of the sum of all capacities, and the looks of areas: the rate over a link, times without a path,
# and those before its validation.
_ROOF = "#444444"
_FILLED: dict[str, Any] = {"linewidth": 0, "edgecolor": (1.0, 1.0, 1.0, 0.5), "alpha": 0.85}
_CLOSED: dict[str, Any] = {"colour": "#f6e3da", "hatch": "//", "edgecolor": "white", "linewidth": 0}
_UNPROVEN: dict[str, Any] = {"colour": "#c9c9c9", "linewidth": 0}

# A shorter part of the time shown is not in the legend.
_SEEN = 1 / 200

# Room above the highest value; that for the numbers of paths as a share of the panel.
_HEADROOM, _NUMBERS = 1.06, 0.14


def draw(view: View, over: str | None = None, *, rates_only: bool = False) -> Figure:
    """A figure of a flow with several paths: panels over one time axis.

    Args:
        view: The part of the run shown, with one flow.
        over: A link direction; only the paths over it are shown, and its queue.
        rates_only: Whether to leave out queues, windows and times.
    """
    flow = view.flows[0]
    tracks = paths.over(paths.of_flow(view.result, flow["name"]), over)
    shared = [] if rates_only else [queues if over is None else _queue, windows, round_trips]
    messages = [] if rates_only or not view.has_delays(flow) else [panels.delay]
    ratios = [SUM, *[LINK] * len(tracks), *[OTHER] * len([*shared, *messages])]
    figure, axes = style.stack(len(ratios), sum(ratios), ratios=ratios)
    waiting = iter(axes)
    total(next(waiting), view, tracks)
    for track in tracks:
        link(next(waiting), view, track)
    for panel in shared:
        panel(next(waiting), view, tracks)
    for delays in messages:
        delays(next(waiting), view)
    handovers.mark(axes, view, sampling.note([view]))
    style.time_axis(axes, view.start_s, view.end_s)
    style.key_of(figure, _entries(view, tracks))
    return figure


def _entries(view: View, tracks: Sequence[Track]) -> list[Artist]:
    """The legend: the capacity, the links, and what is seen of the lives of paths."""
    entries: list[Artist] = [style.line_entry("capacity of all paths", _ROOF, linewidth=1.4)]
    entries += [style.patch_entry(track.link, track.colour, hatch=track.hatch, **_FILLED) for track in tracks]
    spans = [span for track in tracks for span in track.spans]
    seen = _SEEN * (view.end_s - view.start_s) * 1e9
    end = round(view.result.summary["virtual_s"] * 1e9)
    if any(stop - start > seen for track in tracks for start, stop in track.closed(end)):
        entries.append(style.patch_entry("no path", **_CLOSED))
    if any(span.unproven[1] - span.unproven[0] > seen for span in spans):
        entries.append(style.patch_entry("until validated", **_UNPROVEN))
    if any(span.why for span in spans):
        look = {"linestyle": "", "marker": "X", "markersize": 5, "markeredgecolor": "white"}
        entries.append(style.line_entry("path abandoned", style.INK, **look))
    return entries


def total(axes: Axes, view: View, tracks: Sequence[Track]) -> None:
    """The rates over all links on top of each other, below the sum of their capacities."""
    flow = view.flows[0]
    step = rates.step_ns(view)
    edges = rates.edges_ns(view, step)
    each, capacity = paths.summed(view, flow["name"], tracks, edges)
    whole = np.sum(list(each.values()), axis=0)
    factor, unit = units.scale_of("bit/s", [whole, *([] if capacity is None else [capacity])])
    if capacity is not None:
        axes.stairs(capacity / factor, edges / 1e9, baseline=None, color=_ROOF, linewidth=1.2, zorder=3)
    below = np.zeros(len(edges) - 1)
    for track in tracks:
        top = below + each[track.link] / factor
        axes.stairs(
            top, edges / 1e9, baseline=below, fill=True, facecolor=track.colour, hatch=track.hatch,
            label=track.link, zorder=1.5, **_FILLED,
        )  # fmt: skip
        below = top
    style.dress(axes, _total_title(view, tracks, whole, capacity, step), f"rate ({unit})")
    if capacity is None:
        place = {"xycoords": "axes fraction", "va": "top"}
        shared = routes.may_share_satellites(view.result.scenario, flow["name"])
        why = "is that of the satellites they share" if shared else "was not recorded"
        said = f"the capacity of the paths {why}"
        axes.annotate(said, (0.01, 0.97), color=style.FAINT, fontsize=style.FONT, **place)  # type: ignore[arg-type]


def _total_title(
    view: View, tracks: Sequence[Track], whole: style.Array, capacity: style.Array | None, step: int
) -> str:
    flow = view.flows[0]
    kind = ", ".join(filter(None, (flow["transport"].upper(), flow["congestion"])))
    means = f"means of {units.millis_text(step / 1e6)}"
    if len(tracks) < len(paths.of_flow(view.result, flow["name"])):
        named = ", ".join(track.link for track in tracks)
        return f"Throughput of {flow['name']} ({kind}) over {named}, {means}"
    goodput = flow["goodput_bps"]
    said = f"goodput {units.rate_text(goodput)}{view.scope}" if goodput else "nothing delivered"
    if capacity is not None and goodput and np.any(whole) and np.any(capacity):
        active = slice(np.flatnonzero(capacity)[0], np.flatnonzero(whole)[-1] + 1)
        said += f" of {units.rate_text(float(np.mean(capacity[active])))} over {len(tracks)} links"
    return f"Throughput of {flow['name']} ({kind}): {said}, {means}"


def link(axes: Axes, view: View, track: Track) -> None:
    """The rate over one link and the capacity there, and when there is a path."""
    flow = view.flows[0]["name"]
    edges = rates.edges_ns(view, rates.step_ns(view))
    rate, offered = paths.delivered(view, flow, track, edges), paths.capacity(view, flow, track, edges)
    factor, unit = units.scale_of("bit/s", [rate, *([] if offered is None else [offered])])
    if offered is not None:
        rates.area(axes, edges, offered / factor, "_")
    rates.line(axes, edges, rate / factor, track.colour, "_")
    used = ""
    if offered is not None and np.any(offered):
        used = f": {units.rate_text(float(np.mean(rate)))} of {units.rate_text(float(np.mean(offered)))}"
        used += "" if not view.scope else " in this time"
    style.dress(axes, f"Over {track.link}{used}", f"rate ({unit})")
    _life(axes, view, track)


def _life(axes: Axes, view: View, track: Track) -> None:
    """The times without a path over a link, those before its validation, and where paths end."""
    end = round(view.result.summary["virtual_s"] * 1e9)
    for start, stop in track.closed(end):
        _shade(axes, start, stop, **_CLOSED, zorder=0.65)
    for span in track.spans:
        _shade(axes, *span.unproven, **_UNPROVEN, zorder=0.64)
        if span.why and view.start_s <= span.end_ns / 1e9 <= view.end_s:
            axes.plot(
                [span.end_ns / 1e9], [0.5], "X", transform=axes.get_xaxis_transform(), color=style.INK,
                markersize=5, markeredgecolor="white", markeredgewidth=0.6, zorder=4,
            )  # fmt: skip
    used = [span for span in track.spans if span.unproven[1] < span.end_ns]
    if len(track.spans) > 1 and len(used) <= _MOST_NUMBERS:
        _number(axes, view, used)


def _shade(axes: Axes, start_ns: int, end_ns: int, *, colour: str, **look: Any) -> None:
    axes.axvspan(start_ns / 1e9, end_ns / 1e9, facecolor=colour, **look)


def _number(axes: Axes, view: View, spans: Sequence[Span]) -> None:
    """Writes the numbers of paths where they begin, above the data."""
    style.extend(axes, _NUMBERS)
    for span in spans:
        start = max(span.start_ns / 1e9, view.start_s)
        if start < min(span.end_ns / 1e9, view.end_s):
            axes.annotate(
                f" path {span.path}", (start, 0.98), xycoords=("data", "axes fraction"), va="top",
                fontsize=style.SMALL, color=style.INK,
            )  # fmt: skip


def queues(axes: Axes, view: View, tracks: Sequence[Track]) -> None:
    """The bytes that wait before the link of each path."""
    names = [_queue_of(view, track) for track in tracks]
    rows = view.queues(names)
    factor, unit = units.scale("B", float(rows["backlog_bytes"].max() or 0))  # type: ignore[arg-type]
    for track, name in zip(tracks, names, strict=True):
        found = bands.samples(rows.filter(link=name), "t_ns", "backlog_bytes")
        _line(axes, track, found, factor)
    links = {each["name"]: each for each in view.result.summary["links"]}
    drops = [sum(links[name]["dropped_packets"].values()) for name in names]
    style.dress(axes, f"Queues: {_each(tracks, drops)} packets dropped{view.scope}", f"backlog ({unit})")
    if not rows["backlog_bytes"].max():
        axes.set_ylim(0, 1)
        style.say(axes, "empty at every sample")


def _queue(axes: Axes, view: View, _tracks: Sequence[Track]) -> None:
    """The bytes that wait before the link that was asked for."""
    panels.queue(axes, view)


def _queue_of(view: View, track: Track) -> str:
    """The link direction on the way whose queue is the longest on average."""
    links = {each["name"]: each for each in view.result.summary["links"]}
    return max(track.ways, key=lambda way: links[way]["queue_delay_ms"]["mean"] or 0.0)


def windows(axes: Axes, view: View, tracks: Sequence[Track]) -> None:
    """The congestion window of each path."""
    flow = view.flows[0]
    rows = view.within(view.transport(flow), "t_ns")
    factor, unit = units.scale("B", float(rows["cwnd_bytes"].max() or 0))  # type: ignore[arg-type]
    for track in tracks:
        for part in track.parts(rows):
            _line(axes, track, bands.samples(part, "t_ns", "cwnd_bytes"), factor)
    events = [sum(path["congestion_events"] for path in _numbers(view, track)) for track in tracks]
    title = f"Congestion windows: {_each(tracks, events)} congestion events{view.scope}"
    style.dress(axes, title, f"window ({unit})")


def round_trips(axes: Axes, view: View, tracks: Sequence[Track]) -> None:
    """The smoothed round-trip time of each path, and that with empty queues."""
    flow = view.flows[0]
    rows = view.within(view.transport(flow), "t_ns")
    table = view.result.tables.paths.filter(flow=flow["name"])
    highest = max(float(rows["srtt_ns"].max() or 0), float(table["base_rtt_ns"].max() or 0))  # type: ignore[arg-type]
    factor, unit = units.scale("s", highest / 1e9)
    dotted = False
    for track in tracks:
        for part in track.parts(rows):
            _line(axes, track, bands.samples(part, "t_ns", "srtt_ns"), factor * 1e9)
        dotted |= _without_queues(axes, view, track, table, factor)
    ends = [
        units.millis_text(path[-1]["srtt_ms"]) if path and path[-1]["srtt_ms"] else "none"
        for path in (_numbers(view, track) for track in tracks)
    ]
    title = f"Smoothed round-trip times: {_each(tracks, ends)} at the end{view.scope}"
    if dotted:
        title += "; dotted: with empty queues"
    style.dress(axes, title, f"RTT ({unit})")


def _without_queues(axes: Axes, view: View, track: Track, table: pl.DataFrame, factor: float) -> bool:
    """A dotted line of the round-trip time with empty queues; whether there is one."""
    for span, rows in zip(track.spans, track.states(table), strict=True):
        if rows.is_empty():
            continue
        times, base = bands.samples(rows, "t_ns", "base_rtt_ns")
        times, base = np.append(times, span.end_ns / 1e9), np.append(base, base[-1])
        inside = np.clip(times, view.start_s, view.end_s)
        axes.step(inside, base / 1e9 / factor, where="post", color=track.colour, linewidth=1.0, linestyle=":")
    return bool(track.spans)


def _line(axes: Axes, track: Track, found: tuple[style.Array, style.Array], factor: float) -> None:
    times, values = found
    if np.isnan(values).all():
        return
    if bands.is_dense(values):
        bands.draw(axes, times, values / factor, track.colour, always=True, linewidth=1.2)
    else:
        axes.plot(
            *bands.thin(times, values / factor), color=track.colour, linewidth=1.2, linestyle=track.dashes
        )


def _numbers(view: View, track: Track) -> list[dict[str, float]]:
    """The summaries of the paths over a link, in order."""
    of_path = {path["path"]: path for path in view.flows[0]["paths"]}
    return [of_path[span.path] for span in track.spans if span.path in of_path]


def _each(tracks: Sequence[Track], values: Sequence[object]) -> str:
    """A number of every link, with its name."""
    return ", ".join(f"{track.link} {value}" for track, value in zip(tracks, values, strict=True))
