"""The figures of one run: from Linux's counters and the packet log, or from leobench's summary and tables."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import leobench

from .link import MILLISECOND
from .segments import acknowledged, by_timers, delivered_in_order, retransmissions, segments, since
from .setups import MSS
from .shuttle import LATE_MAX_NS, LATE_P99_NS, Carried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .setups import Setup

UNDOS = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")
# Counters that have no counterpart in leobench.
OTHERS = (
    *UNDOS, "TCPSACKReorder", "TCPTSReorder", "TCPDSACKRecv", "TCPDSACKOfoRecv", "TCPLostRetransmit",
    "TCPSpuriousRTOs", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPHystartTrainDetect",
    "TCPHystartDelayDetect",
)  # fmt: skip
BACK = 1_000_000
"""Bytes after which a transfer is back from an outage."""
TIMERS = 6


@dataclass
class Figures:
    """The figures of one run by name, others that only Linux has, and reasons why the run is not usable."""

    figures: dict[str, float] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def of_linux(setup: Setup, seed: int, carried: Carried) -> Figures:
    """Those of a run of Linux's TCP."""
    counters = carried.sender["counters"]
    sent, acks = segments(carried.forward), segments(carried.backward)
    seconds = setup.duration_s - setup.start_ms(seed) / 1e3
    again = retransmissions(sent)
    figures = {
        "goodput Mbit/s": delivered_in_order(sent) * 8 / seconds / 1e6,
        "recoveries": counters["TCPSackRecovery"] + counters["TCPRenoRecovery"],
        "retransmissions": len(again),
        "undos": sum(counters[name] for name in UNDOS),
        "timeouts": counters["TCPTimeouts"],
        "tail loss probes": counters["TCPLossProbes"],
        "dropped by the queue": sum(segment.cause == "queue" for segment in sent),
        "lost on the link": sum(segment.cause == "channel" for segment in sent),
    }
    if setup.outage_ms is not None:
        sent_at = [segment.at for segment in sent if segment.payload]
        acked_at = [ack.delivered for ack in acks if ack.delivered is not None]
        figures |= _outage(setup.outage_ms, sent_at, acked_at, acknowledged(acks))
    faults = []
    if not carried.usable:
        faults.append(
            f"deliveries up to {carried.late_max_ns / 1e6:.1f} ms late,"
            f" one in a hundred by {carried.late_p99_ns / 1e6:.2f} ms;"
            f" {LATE_MAX_NS / 1e6:.0f} and {LATE_P99_NS / 1e6:.0f} ms are allowed"
        )
    if (largest := max((segment.payload for segment in sent), default=0)) != MSS:
        faults.append(f"the largest segment has {largest} bytes instead of {MSS}: check the offloads")
    if len(again) != counters["RetransSegs"]:
        faults.append(f"{counters['RetransSegs']} retransmissions counted by Linux, {len(again)} seen")
    return Figures(figures, {name: counters[name] for name in OTHERS if counters.get(name)}, faults)


def of_leobench(setup: Setup, seed: int) -> Figures:
    """Those of leobench."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "setup.toml")
        file.write_text(setup.toml(seed), encoding="utf-8")
        result = leobench.run(file, seed=seed)
    flow = result.summary["flows"][0]
    dropped = result.summary["links"][0]["dropped_packets"]
    events = result.tables.events.filter(pl.col("subject") == "main/sender")
    kinds = events["kind"].to_list()
    begun = events.filter((pl.col("kind") == "congestion") & pl.col("detail").str.starts_with("loss"))
    figures = {
        "goodput Mbit/s": flow["goodput_bps"] / 1e6,
        "recoveries": len(begun),
        "retransmissions": flow["retransmitted_packets"],
        "undos": kinds.count("undo"),
        "timeouts": kinds.count("timeout"),
        "tail loss probes": kinds.count("probe"),
        "dropped by the queue": dropped["queue"],
        "lost on the link": dropped["channel"],
    }
    if setup.outage_ms is not None:
        packets = result.tables.packets
        sent = packets.filter(
            (pl.col("link") == "path/sender->receiver")
            & (pl.col("event") == "enqueue")
            & (pl.col("size_bytes") > 100)
        )
        acks = packets.filter((pl.col("link") == "path/receiver->sender") & (pl.col("event") == "deliver"))
        totals = result.tables.transport.select("t_ns", "bytes_delivered").rows()
        figures |= _outage(setup.outage_ms, sent["t_ns"].to_list(), acks["t_ns"].to_list(), totals)
    return Figures(figures)


def _outage(
    span_ms: tuple[int, int],
    sent_at: Sequence[int],
    acked_at: Sequence[int],
    totals: Sequence[tuple[int, int]],
) -> dict[str, float]:
    """When timers sent, in seconds from the start of an outage, and when data flowed again, from its end."""
    start, end = (at * MILLISECOND for at in span_ms)
    figures: dict[str, float] = {}
    heard = min((at for at in acked_at if at >= end), default=None)
    if heard is not None:
        figures["first acknowledgement after s"] = (heard - end) / 1e9
    back = since(totals, end, BACK)
    if back is not None:
        figures["first MB acknowledged after s"] = back
    timers = by_timers(sent_at, acked_at, (start, end))
    return figures | {
        f"timer {number} at s": (at - start) / 1e9 for number, at in enumerate(timers[:TIMERS], 1)
    }
