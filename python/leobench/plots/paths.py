"""The several paths of a flow, by the link that each is over.

A path that was abandoned comes back under another number, so figures tell paths apart by their links.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from leobench.durations import nanoseconds
from leobench.plots import rates, routes, style

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leobench.plots.view import View
    from leobench.result import Result

# Addresses of interfaces: every link is a network of its own, `10.x.y.0/30` by its place in the scenario.
_INTERFACES, _OF_LINK = ipaddress.ip_network("10.0.0.0/8"), 2

# A style for every dark and light colour in turn; dots are for round-trip times with empty queues.
_DASHES = tuple(dashes for dashes in style.DASHES if dashes != ":")


class Span(NamedTuple):
    """The time in which a path is over a link.

    Attributes:
        path: Number of the path.
        start_ns: When it is opened, or moves to the link.
        end_ns: When it is abandoned or moves away; the end of the run unless that was before.
        until_ns: The last time at which it may still report what was sent over the link.
        validated_ns: When the other end has answered on it; the path of the handshake needs no validation.
            `None` if never.
        why: Why it ended; empty if it went on to the end.
    """

    path: int
    start_ns: int
    end_ns: int
    until_ns: int
    validated_ns: int | None = None
    why: str = ""

    @property
    def unproven(self) -> tuple[int, int]:
        """The time in which it carries no data because the other end has not answered on it."""
        return self.start_ns, self.end_ns if self.validated_ns is None else self.validated_ns


@dataclass(frozen=True)
class Track:
    """The paths of a flow over one link, one after the other.

    Attributes:
        link: The link; of a flow with one path, the first one on its way.
        ways: The link directions that carry its data.
        colour: Its colour.
        dashes: The style of its lines, which tells them apart in grey, and beyond seven links.
        hatch: The hatch of its areas, which tells them apart in grey.
        spans: The times in which there is a path over the link, in order.
    """

    link: str
    ways: tuple[str, ...]
    colour: str
    dashes: str | tuple[int, tuple[int, ...]]
    hatch: str
    spans: tuple[Span, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the links that its data takes."""
        return tuple(way.partition("/")[0] for way in self.ways)

    def parts(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        """The rows of a table with `path` and `t_ns` while a path is over the link, path by path."""
        return [
            frame.filter(pl.col("t_ns").is_between(span.start_ns, span.end_ns, closed="left"), path=span.path)
            for span in self.spans
        ]

    def states(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        """As `parts`, of a table with a row per change: each path begins with the state that it finds."""
        found = []
        for span in self.spans:
            rows = frame.filter(pl.col("t_ns") < span.end_ns, path=span.path)
            rows = rows.with_columns(pl.col("t_ns").clip(lower_bound=span.start_ns))
            found.append(rows.unique("t_ns", keep="last", maintain_order=True))
        return found

    def closed(self, end_ns: int) -> list[tuple[int, int]]:
        """The times up to the end of the run in which there is no path over the link."""
        found, free = [], 0
        for span in self.spans:
            if span.start_ns > free:
                found.append((free, span.start_ns))
            free = max(free, span.end_ns)
        return [*found, (free, end_ns)] if free < end_ns else found

    @property
    def shares(self) -> bool:
        """Whether several paths are over the link at a time, to several addresses of the other end."""
        return any(after.start_ns < before.end_ns for before, after in pairwise(self.spans))


def of_flow(result: Result, flow: str) -> list[Track]:
    """The paths of a flow by link, in the order of the scenario; a single one if it does not have several."""
    ways = routes.of_paths(result.scenario, flow)
    end = round(result.summary["virtual_s"] * 1e9)
    if not ways:
        way = routes.of_flow(result, flow)
        link = way[0].partition("/")[0]
        return [Track(link, tuple(way), *_look(0), (Span(0, 0, end, end, 0),))]
    spans: dict[str, list[Span]] = {link: [] for link in ways}
    for link, span in _spans(result, flow, list(ways), end):
        spans.setdefault(link, []).append(span)
    return [
        Track(link, tuple(ways.get(link, ())), *_look(at), tuple(sorted(found, key=lambda each: each[1:])))
        for at, (link, found) in enumerate(spans.items())
    ]


def over(tracks: Sequence[Track], link: str | None) -> list[Track]:
    """The paths that lead over a link direction; all if none is given or none does."""
    name = link.partition("/")[0] if link else ""
    return [track for track in tracks if name in track.names] or list(tracks)


def capacity_of(view: View, edges: style.Array, link: str | None = None) -> tuple[str, style.Array | None]:
    """As that of `rates`; of flows that all take the same several paths, the sum of these."""
    every = [flow["name"] for flow in view.flows]
    ways = [routes.of_paths(view.result.scenario, name) for name in every]
    if link is not None or not ways[0] or any(way != ways[0] for way in ways):
        return rates.capacity_of(view, edges, link)
    return "all paths", summed(view, every[0], of_flow(view.result, every[0]), edges)[1]


def has_several(result: Result, flow: str) -> bool:
    """Whether a flow was to have several paths."""
    return bool(routes.of_paths(result.scenario, flow))


def _look(at: int) -> tuple[str, str | tuple[int, tuple[int, ...]], str]:
    """The colour, the line style and the hatch of a link, by its number."""
    colours, hatches = style.CATEGORIES, style.HATCHES
    return colours[at % len(colours)], _DASHES[at // 2 % len(_DASHES)], hatches[at % len(hatches)]


def _spans(result: Result, flow: str, links: Sequence[str], end_ns: int) -> Iterator[tuple[str, Span]]:
    """Every span with its link, from the events of the end that opened the connection."""
    start = nanoseconds(result.scenario["flows"][flow]["start"])
    first = Span(0, start, end_ns, end_ns, start)
    open_: dict[int, tuple[str, Span]] = {0: (_first_link(result, flow, links), first)}
    ends: dict[int, str] = {}
    for t_ns, what, link, addresses in _events(result, flow):
        number, _, word = what.partition(" ")
        if number.isdigit() and word == "opened":
            open_[int(number)] = link, Span(int(number), t_ns, end_ns, end_ns)
            ends[int(number)] = addresses
        elif number.isdigit() and word.startswith("abandoned"):
            if int(number) in open_:
                at, span = open_.pop(int(number))
                yield at, span._replace(end_ns=t_ns, why=word)
        elif what == "validated":
            for path, (at, span) in open_.items():
                if span.validated_ns is None and ends.get(path) == addresses:
                    open_[path] = at, span._replace(validated_ns=t_ns)
        elif what.startswith(("moved", "restarts")) and open_:
            path = max(open_)
            at, span = open_[path]
            yield at, span._replace(end_ns=t_ns, until_ns=t_ns, why="moved")
            open_[path] = link, Span(path, t_ns, end_ns, end_ns)
            ends[path] = addresses
    yield from open_.values()


def _first_link(result: Result, flow: str, links: Sequence[str]) -> str:
    """The link of the first path: that of the first route, or the first that was named."""
    if "routes" in result.tables:
        ways = result.tables["routes"].filter(flow=flow)["links"].drop_nulls()
        used = (link.partition("/")[0] for way in ways for link in way.split(" "))
        return next((link for link in used if link in links), links[0])
    return links[0]


def _events(result: Result, flow: str) -> Iterator[tuple[int, str, str, str]]:
    """The events of the paths of a flow: when, what, the link of the opener's address, both addresses."""
    end = "sender" if result.scenario["flows"][flow]["opened_by"] == "from" else "receiver"
    names = list(result.scenario["links"])
    rows = result.tables.events.filter(kind="path", subject=f"{flow}/{end}")
    for t_ns, detail in rows.select("t_ns", "detail").iter_rows():
        what, _, addresses = detail.rpartition(": ")
        local = addresses.partition(" to ")[0].rpartition(":")[0]
        address = ipaddress.ip_address(local.strip("[]"))
        if address.version == _INTERFACES.version and address in _INTERFACES:
            place = int(address) - int(_INTERFACES.network_address) >> _OF_LINK
            yield t_ns, what, names[place], addresses


def delivered(view: View, flow: str, track: Track, edges: style.Array) -> style.Array:
    """The rate over a link in each step between `edges`, in bits per second of acknowledged data."""
    samples = view.result.tables.transport.filter(flow=flow)
    total = np.zeros(len(edges) - 1)
    for span in track.spans:
        rows = samples.filter(path=span.path)
        before = rows.filter(pl.col("t_ns") < span.start_ns)["bytes_delivered"].max() or 0
        rows = rows.filter(pl.col("t_ns").is_between(span.start_ns, span.until_ns))
        amounts = (rows["bytes_delivered"] - before).to_numpy()
        total += rates.of_totals(rows["t_ns"].to_numpy(), amounts, edges)
    return total


def capacity(view: View, flow: str, track: Track, edges: style.Array) -> style.Array | None:
    """The capacity of a link's paths in each step between `edges`, in bits per second; none without a path.

    It is that of the narrowest link on the way. None if it was not recorded.
    """
    if track.shares:
        return _of_links(view, track, edges)
    table = view.result.tables.paths.filter(flow=flow)
    total = np.zeros(len(edges) - 1)
    for span, rows in zip(track.spans, track.states(table), strict=True):
        if rows.is_empty() or rows["bottleneck_bps"].has_nulls():
            return _of_links(view, track, edges)
        times = np.append(rows["t_ns"].to_numpy(), span.end_ns)
        values = np.append(rows["bottleneck_bps"].cast(pl.Float64).to_numpy(), 0.0)
        total += rates.of_steps(times, values, edges)
    return total


def _of_links(view: View, track: Track, edges: style.Array) -> style.Array | None:
    """The capacity of the narrowest link on the way, in the time with a path."""
    found = rates.narrowest(view.result, track.ways, edges)
    if found is None:
        return None
    end = round(view.result.summary["virtual_s"] * 1e9)
    times, values = [0.0], [1.0]
    for start, stop in track.closed(end):
        times += [start, stop]
        values += [0.0, 1.0]
    return found * rates.of_steps(np.array(times), np.array(values), edges)


def summed(
    view: View, flow: str, tracks: Sequence[Track], edges: style.Array
) -> tuple[Mapping[str, style.Array], style.Array | None]:
    """The rate over every link in each step, and the sum of the capacities, if known and if they add up."""
    each = {track.link: delivered(view, flow, track, edges) for track in tracks}
    capacities = [capacity(view, flow, track, edges) for track in tracks]
    known = [one for one in capacities if one is not None]
    if len(known) < len(capacities) or routes.may_share_satellites(view.result.scenario, flow):
        return each, None
    whole = np.sum(known, axis=0)
    # Links that all paths share, beyond those at which they part, limit the sum.
    shared = sorted(set(tracks[0].ways).intersection(*(track.ways for track in tracks[1:])))
    bound = rates.narrowest(view.result, shared, edges) if len(tracks) > 1 else None
    return each, whole if bound is None else np.minimum(whole, bound)
