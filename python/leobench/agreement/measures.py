"""Metrics of a flow that are compared, and how much they may differ."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of a flow.

    Attributes:
        name: In words.
        path: In the summary, below the flow.
        unit: As a table shows it.
        scale: What the metric is divided by for that.
        limit: How far the ratio may be from 1; None if it is only shown.
        counts: Whether it counts packets or events. A difference of less than one of them is none.
    """

    name: str
    path: str
    unit: str = ""
    scale: float = 1.0
    limit: float | None = None
    counts: bool = False


MEASURES = (
    Measure("goodput", "goodput_bps", "Mbit/s", 1e6, 0.01),
    Measure("mean delay", "delay_ms.mean", "ms", 1.0, 0.03),
    Measure("median delay", "delay_ms.p50", "ms"),
    Measure("95 % delay", "delay_ms.p95", "ms"),
    Measure("99 % delay", "delay_ms.p99", "ms"),
    Measure("lost packets", "lost_packets", "", 1.0, 0.03, counts=True),
    Measure("congestion events", "congestion_events", "", 1.0, 0.15, counts=True),
    Measure("mean window", "cwnd_bytes.mean", "kB", 1e3),
)


def limited(limits: Mapping[str, float]) -> tuple[Measure, ...]:
    """All measures, judged by these limits only."""
    return tuple(dataclasses.replace(measure, limit=limits.get(measure.path)) for measure in MEASURES)


# The table that the mean window is computed from.
WINDOWS = "transport"


def paths(flows: Iterable[str]) -> tuple[str, ...]:
    """The metrics of a campaign: those of all measures of these flows."""
    return tuple(f"flows.{flow}.{measure.path}" for flow in flows for measure in MEASURES)


def add_windows(summary: dict[str, Any], table: bytes, warm_up_s: float) -> None:
    """Adds the mean congestion window to each flow of a summary, over the samples after the warm-up.

    The window of a flow is the sum over its paths.
    """
    import polars as pl

    samples = pl.read_parquet(io.BytesIO(table), columns=["t_ns", "flow", "cwnd_bytes"], glob=False)
    means = (
        samples.filter(pl.col("t_ns") >= round(warm_up_s * 1e9))
        .group_by("flow", "t_ns")
        .agg(pl.col("cwnd_bytes").sum())
        .group_by("flow")
        .agg(pl.col("cwnd_bytes").mean())
    )
    found: dict[str, float] = dict(means.iter_rows())
    for flow in summary["flows"]:
        flow["cwnd_bytes"] = {"mean": found.get(flow["name"])}
