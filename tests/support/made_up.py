"""A made-up result: a fluid queue behind a three-state link, for tests of what reads results."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from leobench.result import Result, Tables
from leobench.summary import Summary

LINK = "lms/sat->ground"
STATES = (("line-of-sight", 60_000_000), ("moderate", 40_000_000), ("deep", 8_000_000))


def tables(end_s: float = 60.0, seed: int = 1) -> dict[str, pl.DataFrame]:
    """Every table of a run, of the columns the core writes."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, end_s, 0.01)
    changes = np.cumsum(rng.exponential(0.6, int(end_s * 4)))
    changes = np.concatenate(([0.0], changes[changes < end_s]))
    order = rng.integers(0, 3, len(changes))
    rate = np.array([STATES[at][1] for at in order])[np.searchsorted(changes, times, "right") - 1]
    window = 200_000 + 40_000 * (times % 17.0) ** 1.5
    backlog = np.zeros_like(times)
    for at in range(1, len(times)):
        backlog[at] = max(0.0, backlog[at - 1] + (38e6 - rate[at]) * 0.01 / 8)
    ns = (times * 1e9).astype(np.int64)
    flow = pl.lit("main")
    created = ns[::2]
    delays = ((backlog * 8 / rate + 0.02) * 1e9).astype(np.int64)[::2]
    return {
        "queues": pl.DataFrame({"t_ns": ns, "backlog_bytes": backlog.astype(np.int64)}).select(
            "t_ns", pl.lit(LINK).alias("link"), "backlog_bytes",
            backlog_packets=pl.col("backlog_bytes") // 1280,
        ),
        "transport": pl.DataFrame({"t_ns": ns, "cwnd_bytes": window.astype(np.int64)}).select(
            "t_ns", flow.alias("flow"), pl.lit(0).alias("path"), "cwnd_bytes",
            ssthresh_bytes=pl.when(pl.col("t_ns") < 17_000_000_000).then(None).otherwise(900_000),
            in_flight_bytes=pl.col("cwnd_bytes") * 9 // 10,
            srtt_ns=pl.Series((backlog * 8 / rate * 1e9).astype(np.int64) + 20_000_000),
            latest_rtt_ns=pl.Series((backlog * 8 / rate * 1.1e9).astype(np.int64) + 20_000_000),
            bytes_delivered=pl.col("t_ns") // 200,
        ),
        "paths": pl.DataFrame({
            "t_ns": (changes * 1e9).astype(np.int64), "bottleneck_bps": [STATES[at][1] for at in order],
        }).select(
            "t_ns", flow.alias("flow"), pl.lit(0).alias("path"), pl.lit(20_000_000).alias("base_rtt_ns"),
            "bottleneck_bps",
        ),
        "messages": pl.DataFrame({"created_ns": created, "delivered_ns": created + delays}).select(
            flow.alias("flow"), pl.lit("s1").alias("stream"),
            pl.int_range(pl.len()).alias("message"), pl.lit(1200).alias("size_bytes"),
            "created_ns", "delivered_ns",
        ),
        "channel": pl.DataFrame({
            "t_ns": (changes * 1e9).astype(np.int64),
            "rate_bps": [STATES[at][1] for at in order],
            "label": [STATES[at][0] for at in order],
        }).select(
            "t_ns", pl.lit(LINK).alias("link"), "rate_bps", pl.lit(10_000_000).alias("delay_ns"),
            pl.lit(0.0).alias("loss"), pl.lit(value=True).alias("up"), "label",
        ),
    }  # fmt: skip


def flow(name: str, **changes: Any) -> dict[str, Any]:
    """The summary of a flow."""
    delays = {"mean": 212.4, "p50": 150.0, "p95": 612.0, "p99": 803.0, "max": 900.0}
    return {
        "name": name, "transport": "quic", "congestion": "cubic", "offered_bps": 40e6, "goodput_bps": 37.9e6,
        "messages": 3000, "undelivered_messages": 0, "delay_ms": delays, "jitter_ms": 1.0,
        "rtt_ms": {"mean": 230.0, "p50": 200.0, "p95": 700.0}, "sent_packets": 230_000, "lost_packets": 23,
        "retransmitted_bytes": 27_600, "congestion_events": 3, "timeouts": 0, "spurious_losses": 0,
        "undos": 0, "ecn_marks": 0, "completion_s": 60.2, "paths": [],
        "streams": [{"name": "s1", "goodput_bps": 37.9e6, "delay_ms": delays}],
    } | changes  # fmt: skip


def link(name: str, **changes: Any) -> dict[str, Any]:
    """The summary of a link."""
    return {
        "name": name, "mean_rate_bps": 41.3e6, "utilisation": 0.93, "delivered_packets": 230_000,
        "dropped_packets": {"queue": 0, "channel": 0, "down": 0, "mtu": 0},
        "queue_delay_ms": {"mean": 180.2, "p95": 590.0},
    } | changes  # fmt: skip


def result(frames: dict[str, pl.DataFrame] | None = None, **summary: Any) -> Result:
    """A whole result."""
    frames = tables() if frames is None else frames
    described: dict[str, Any] = {
        "scenario": "made-up", "seed": 1, "engine": "virtual", "virtual_s": 60.0, "packets": 460_000,
        "flows": [flow("main")], "links": [link("lms/ground->sat", utilisation=0.02), link(LINK)],
        "fairness_jain": None,
    } | summary  # fmt: skip
    specs = {
        each["name"]: {"background": each["name"].startswith("bg"), "from": "sat", "to": "ground"}
        for each in described["flows"]
    }
    links = {
        each["name"].partition("/")[0]: {"between": ["ground", "sat"], "delay": "10 ms"}
        for each in described["links"]
    }
    manifest = {
        "scenario": {
            "name": described["scenario"],
            "warm_up": "0 ns",
            "flows": specs,
            "links": links,
            "record": {"messages": True, "interval": "10 ms"},
        },
        "validity": {"verdict": "valid", "warnings": []},
        "wall_s": 0.5,
    }
    sources = {name: lambda frame=frame: frame for name, frame in frames.items()}
    return Result(manifest, Summary(described), Tables(sources), None)


def rebuilt(other: Result, frames: dict[str, pl.DataFrame]) -> Result:
    """The same run with other tables."""
    sources = {name: lambda frame=frame: frame for name, frame in frames.items()}
    return Result(other.manifest, other.summary, Tables(sources), None)
