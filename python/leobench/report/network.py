"""The network in orbit of a run on a page: routes of links, utilisation of lasers, and drops over time."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from leobench.durations import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from leobench.report.content import Run

# Intervals in which utilisation and drops are summed up at most.
_INTERVALS = 200
# Changes of routes, and intervals of lasers, on a page at most; each takes about 50 and 10 bytes.
_MOST_CHANGES, _MOST_SHARES = 20_000, 60_000


def describe(run: Run, end_s: float, notes: list[str]) -> dict[str, Any] | None:
    """The network in orbit of a run as JSON, satellites by number; `None` if packets take no hops there."""
    import polars as pl

    if "ways" not in run.tables:
        return None
    ways = pl.read_parquet(io.BytesIO(run.tables["ways"].data), glob=False)
    satellites = _Numbers()
    routes = _routes(ways, run.manifest["scenario"]["links"], satellites, notes)
    described: dict[str, Any] = {"routes": routes, "step_s": end_s, "lasers": [], "drops": []}
    if "hops" in run.tables:
        hops = pl.read_parquet(io.BytesIO(run.tables["hops"].data), glob=False)
        step_ns = _step_ns(run.manifest["scenario"], round(end_s * 1e9))
        # A sample is about the time before it.
        hops = hops.with_columns(interval=(pl.col("t_ns") - 1) // step_ns)
        described["step_s"] = step_ns / 1e9
        described["lasers"] = _lasers(hops, step_ns, satellites, notes)
        described["drops"] = _drops(hops, satellites, _Stations(run.manifest["scenario"]))
    return described | {"satellites": list(satellites)}


class _Numbers(dict[str, int]):
    """Numbers of satellites by name, in the order in which they are asked for."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _step_ns(scenario: Mapping[str, Any], end_ns: int) -> int:
    """Nanoseconds of an interval: a multiple of that of the samples."""
    sampled = nanoseconds(scenario["record"]["interval"])
    return sampled * max(1, -(-end_ns // (sampled * _INTERVALS)))


def _routes(
    ways: pl.DataFrame, links: Mapping[str, Any], satellites: _Numbers, notes: list[str]
) -> list[dict[str, Any]]:
    """For each direction of a link: its changes, as time, stations, satellites and delay in milliseconds."""
    from_terminals = {f"{name}/{'->'.join(link['between'])}" for name, link in links.items()}
    routes: list[dict[str, Any]] = []
    left = _MOST_CHANGES
    names = ways["link"].unique(maintain_order=True)
    for number, name in enumerate(names):
        rows = ways.filter(link=name)
        left -= rows.height
        if left < 0 and routes:
            notes.append(f"The globe shows the routes of {number} of {len(names)} directions of links only.")
            break
        columns = ("t_ns", "from_station", "satellites", "to_station", "delay_ns")
        changes = [
            [
                t_ns / 1e9,
                start,
                [] if passed is None else [satellites[each] for each in passed.split("->")],
                end,
                None if delay is None else round(delay / 1e6, 3),
            ]
            for t_ns, start, passed, end, delay in rows.select(columns).iter_rows()
        ]
        routes.append({"link": name, "from_terminal": name in from_terminals, "changes": changes})
    return routes


def _lasers(hops: pl.DataFrame, step_ns: int, satellites: _Numbers, notes: list[str]) -> list[dict[str, Any]]:
    """For each pair of satellites: intervals, and the utilisation of the busier direction in each."""
    import polars as pl

    busy = (
        hops.filter(pl.col("hop").str.starts_with("laser/"))
        .group_by("hop", "interval")
        .agg(share=(pl.col("busy_ns").sum() / step_ns).clip(upper_bound=1.0))
        .filter(pl.col("share") > 0)
        .with_columns(ends=pl.col("hop").str.strip_prefix("laser/").str.split("->").list.sort())
        .group_by("ends", "interval")
        .agg(pl.col("share").max())
    )
    pairs = busy.group_by("ends").agg(
        pl.struct("interval", "share").sort_by("interval"), sum=pl.col("share").sum()
    )
    pairs = pairs.sort(["sum", pl.col("ends").list.join(" ")], descending=[True, False])
    lasers: list[dict[str, Any]] = []
    left = _MOST_SHARES
    for number, (ends, shares, _) in enumerate(pairs.iter_rows()):
        left -= len(shares)
        if left < 0 and lasers:
            notes.append(f"The globe shows the {number} busiest of {pairs.height} lasers only.")
            break
        each = [[one["interval"], round(one["share"], 3)] for one in shares]
        lasers.append({"ends": [satellites[end] for end in ends], "busy": each})
    return lasers


def _drops(hops: pl.DataFrame, satellites: _Numbers, stations: _Stations) -> list[dict[str, Any]]:
    """For each hop that dropped packets: where they waited, and how many in each interval."""
    import polars as pl

    dropped = (
        hops.filter(pl.col("dropped_packets") > 0)
        .group_by("hop", "interval")
        .agg(pl.col("dropped_packets").sum())
        .sort("hop", "interval")
    )
    packets: dict[str, list[list[int]]] = defaultdict(list)
    for hop, interval, count in dropped.iter_rows():
        packets[hop].append([interval, count])
    return [{"hop": hop, **stations.place(hop, satellites), "packets": each} for hop, each in packets.items()]


class _Stations:
    """Places of the queues of hops, by the names of hops."""

    def __init__(self, scenario: Mapping[str, Any]) -> None:
        constellation = scenario["constellation"]
        self._names = {*constellation.get("terminals", {}), *constellation.get("gateways", {})}
        self._links = {
            name: link["constellation"]["terminal"]
            for name, link in scenario["links"].items()
            if "constellation" in link
        }

    def place(self, hop: str, satellites: _Numbers) -> dict[str, Any]:
        """The satellite or the station at which packets wait for a hop."""
        kind, _, rest = hop.partition("/")
        start, _, end = rest.partition("->")
        if kind in ("laser", "down"):
            return {"satellite": satellites[start]}
        if kind == "backhaul":
            return {"station": rest.rpartition("/")[0]}
        if start in self._names:
            return {"station": start}
        if start in self._links:
            return {"station": self._links[start]}
        # The beam of a cell of several terminals.
        return {"satellite": satellites[end]} if end else {}
