"""Recorded transfers over paths whose capacity and delay are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import leobench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BULK = {
    "transport": {"kind": "tcp", "congestion": "cubic"},
    "from": "server",
    "to": "client",
    "source": "bulk",
}


def record(
    folder: Path,
    steps: Sequence[tuple[float, float]] = ((0, 20.0),),
    *,
    seconds: float = 12.0,
    base_ms: float = 40.0,
    queue: str = "150 kB",
    flow: dict[str, Any] | None = None,
    loss: float = 0.0,
    qlog: bool = False,
    pcap: bool = False,
) -> Path:
    """Runs a flow over a path, and returns its result folder.

    Args:
        folder: Where both go.
        steps: Times in seconds and the capacity from each on, in Mbit/s.
        seconds: Of the run.
        base_ms: Round trip of the idle path.
        queue: What the bottleneck holds.
        flow: The flow; bulk data of CUBIC unless given.
        loss: Probability that the channel loses a packet.
        qlog: Whether the run writes qlogs.
        pcap: Whether it writes captures.
    """
    table = [
        {"at": f"{at} s", "rate": f"{mbps} Mbps", "delay": f"{base_ms / 2} ms", "loss": loss}
        for at, mbps in steps
    ]
    scenario = {
        "name": "known",
        "duration": f"{seconds} s",
        "nodes": {"server": {}, "client": {}},
        "links": {
            "access": {
                "between": ["server", "client"],
                "queue": {"kind": "fifo", "limit": queue},
                "forward": {"channel": {"kind": "schedule", "steps": table}},
                "backward": {"rate": "1 Gbps", "delay": f"{base_ms / 2} ms"},
            }
        },
        "flows": {"main": flow or BULK},
    }
    file = folder / "known.json"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    out = folder / "recording"
    leobench.run(file, 1, out=out, qlog=qlog, pcap=pcap)
    return out


def iperf3(recording: Path, interval_s: float = 0.1, **changed: object) -> str:
    """The JSON that an iperf3 sender with TCP_INFO would have written of a result folder of TCP."""
    import numpy as np

    rows = leobench.open(recording).tables.transport
    times = rows["t_ns"].to_numpy() / 1e9
    intervals = []
    before = 0.0
    for at in np.arange(interval_s, times[-1], interval_s):
        now = int(np.searchsorted(times, at))
        row = rows.row(now, named=True)
        written = float(row["bytes_delivered"] + row["in_flight_bytes"])
        again = float(rows["bytes_retransmitted"][now] - rows["bytes_retransmitted"][max(now - 10, 0)])
        stream = {
            "start": at - interval_s,
            "end": at,
            "bytes": written - before,
            "snd_cwnd": row["cwnd_bytes"],
            "rtt": (row["srtt_ns"] or 0) / 1e3,
            "retransmits": again / 1448,
            **changed,
        }
        before = written
        intervals.append({"streams": [{key: value for key, value in stream.items() if value is not None}]})
    start = {"timestamp": {"timesecs": 1_700_000_000}, "tcp_mss_default": 1448}
    return json.dumps({"start": start, "intervals": intervals, "end": {"sender_tcp_congestion": "cubic"}})
