"""A flow of a result folder as a transfer: the sampled state of its sender, and the scenario it ran in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from leobench.attribution.causes import size_bytes
from leobench.campaign import sharing
from leobench.errors import InputError, allowed
from leobench.fitting.replay.transfer import Transfer

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.result import Result

# Bytes of headers: IPv4, UDP, TCP, and its option for timestamps.
_IP, _UDP, _TCP, _TIMESTAMPS = 20, 8, 20, 12
# UDP payload of a full QUIC packet.
_QUIC_PAYLOAD = 1252.0
# Parts of a constellation whose queues are not those of its links.
_SHARED_QUEUES = ("satellite", "ground", "beam", "isl")


def read(folder: Path, flow: str | None) -> Transfer:
    """The flow of a result folder; the first with a congestion controller unless it is named.

    Raises:
        InputError: If the folder has no such flow, or did not sample its sender.
    """
    from leobench import api

    result = api.open(folder)
    flows = result.scenario["flows"]
    able = [name for name, each in flows.items() if _kind(each) in ("tcp", "quic")]
    if flow is not None and flow not in flows:
        raise InputError(f"--flow {flow}: {folder} has no such flow; {allowed(flow, flows)}")
    chosen = flow or next(iter(able), None)
    if chosen is None or chosen not in able:
        raise InputError(f"{folder}: has no flow of TCP or QUIC, whose sender a replay follows")
    rows = result.tables.transport.filter(pl.col("flow") == chosen)
    if rows.is_empty():
        raise InputError(f"{folder}: has no samples of {chosen}; run it with record.series = true")
    if rows["path"].n_unique() > 1:
        raise InputError(f"{folder}: {chosen} had several paths; a replay follows one")
    return _transfer(folder, result, chosen, rows)


def _transfer(folder: Path, result: Result, name: str, rows: pl.DataFrame) -> Transfer:
    flow = result.scenario["flows"][name]
    sent, held = _factors(flow["transport"])

    def series(column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()

    acknowledged = series("bytes_sent") - series("in_flight_bytes")
    fresh = np.diff(acknowledged, prepend=np.nan) != 0.0
    rtt = np.where(fresh, series("latest_rtt_ns") / 1e9, np.nan)
    summary = result.flows[name]
    own = {
        "goodput_mbps": None if summary.goodput_bps is None else summary.goodput_bps / 1e6,
        "delay_p50_ms": summary.delay_ms.p50,
        "delay_p95_ms": summary.delay_ms.p95,
        "rtt_p50_ms": summary.rtt_ms.p50,
        "rtt_p95_ms": summary.rtt_ms.p95,
        "completion_s": summary.completion_s,
        "lost_share": summary.lost_packets / summary.sent_packets if summary.sent_packets else None,
    }
    template = {key: value for key, value in flow.items() if key not in ("on_forecast", "forecast")}
    return Transfer(
        name=str(folder),
        start_s=_start_s(result.scenario),
        times=series("t_ns") / 1e9,
        sent=series("bytes_sent") * sent,
        in_flight=series("in_flight_bytes") * held,
        lost=series("bytes_lost") * held,
        rtt_s=rtt,
        queue_limit=_queue_limit(result, name),
        template={"name": name, **template},
        own={key: value for key, value in own.items() if value is not None},
        queue=_queue(result, name, rows["t_ns"], float(np.nanmin(rtt))),
    )


def _kind(flow: dict[str, Any]) -> str:
    transport = flow["transport"]
    return str(transport["kind"] if isinstance(transport, dict) else transport)


def _factors(transport: dict[str, Any]) -> tuple[float, float]:
    """IP bytes per byte sent, and per byte in flight, of full packets.

    TCP counts what it sends with its header, and what is in flight without; QUIC both as UDP payload.
    """
    if transport["kind"] == "tcp":
        header = _TCP + _TIMESTAMPS * bool(transport["timestamps"])
        mss = size_bytes(transport["mss"])
        whole = mss + header + _IP
        return whole / (mss + header), whole / mss
    share = (_QUIC_PAYLOAD + _UDP + _IP) / _QUIC_PAYLOAD
    return share, share


def _start_s(scenario: dict[str, Any]) -> float:
    """UNIX seconds of the start; that of virtual time is 0."""
    from datetime import datetime

    start = scenario.get("constellation", {}).get("start")
    return 0.0 if start is None else datetime.fromisoformat(start).timestamp()


def _links(result: Result, name: str) -> list[str]:
    """The links that the data of a flow takes, if it has one way and all queues are those of its links."""
    scenario = result.scenario
    flow, links = scenario["flows"][name], scenario["links"]
    found = sharing.way(scenario, flow["from"], flow["to"])
    others = any(scenario.get("constellation", {}).get(part) for part in _SHARED_QUEUES)
    for link, _ in found:
        if others and "constellation" in links[link]:
            return []
        if sharing.way(scenario, flow["from"], flow["to"], frozenset([link])):
            return []
    return [
        f"{link}/{sender}->{next(end for end in links[link]['between'] if end != sender)}"
        for link, sender in found
    ]


def _queue(
    result: Result, name: str, times: pl.Series, base_s: float
) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Bytes that waited at the links of a flow at these times; `None` if that was not sampled.

    A packet reaches the queues behind the first link up to a round trip after it was sent. With several
    links, the most that waits by then counts.
    """
    links = _links(result, name)
    sampled = result.tables.queues.filter(pl.col("link").is_in(links))
    if sampled.is_empty():
        return None
    sums = sampled.group_by("t_ns").agg(pl.col("backlog_bytes").sum().cast(pl.Float64)).sort("t_ns")
    waits = sums["backlog_bytes"]
    if len(links) > 1:
        ahead = int(1e9 * base_s / float(np.median(np.diff(sums["t_ns"].to_numpy())))) + 2
        waits = waits.reverse().rolling_max(ahead, min_samples=1).reverse()
    joined = times.to_frame().join(sums.with_columns(waits), on="t_ns", how="left", maintain_order="left")
    return joined["backlog_bytes"].fill_null(float("nan")).to_numpy()


def _queue_limit(result: Result, name: str) -> float | None:
    """Bytes of the queue at the only link of a flow that dropped for it, or that it has."""
    drops = result.tables.losses.filter((pl.col("flow") == name) & (pl.col("cause") == "queue"))
    places = drops["place"].drop_nulls().unique().to_list() or _links(result, name)
    if len(places) != 1:
        return None
    link, _, direction = str(places[0]).partition("/")
    table = result.scenario["links"].get(link)
    if table is None:
        return None
    side = "forward" if direction == "->".join(table["between"]) else "backward"
    queue = table.get(side, {}).get("queue") or table.get("queue") or {}
    limit = queue.get("limit") if isinstance(queue, dict) else None
    if not isinstance(limit, str):
        return None
    number, unit = limit.split()
    if unit.startswith("packet"):
        return float(number) * size_bytes(table["mtu"])
    return size_bytes(limit) if unit.endswith("B") else None
