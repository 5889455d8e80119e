"""Measures of a session as the authors' scripts take them: without its first fifth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from leobench.campaign import CampaignResult

NAMES = ("bitrate_mbps", "switches", "behind_s", "stalled_percent")

TARGET = "flows.stream.video.live.latency"
_KEYS = ("variant", "replicate")
_LATENCY = "flows.stream.video.latency_s"
_LEFT_OUT = 0.2


def of_sessions(result: CampaignResult) -> pl.DataFrame:
    """The measures of each run.

    `bitrate_mbps` and `switches`: mean bitrate of segments, and how often it changes, after the first fifth.
    `stalled_percent`: time without pictures in them, by their length.
    `behind_s`: how far the viewer was behind the target of latency on average, over the whole session.
    """
    import polars as pl

    order = pl.col("segment")
    rows = result.tables.segments.sort(*_KEYS, "segment")
    rows = rows.filter(order >= _LEFT_OUT * (order.max().over(*_KEYS) + 1))
    measured = rows.group_by(_KEYS, maintain_order=True).agg(
        bitrate_mbps=pl.col("bitrate_bps").mean() / 1e6,
        switches=(pl.col("bitrate_bps").diff() != 0).sum(),
        stalled_percent=100 * pl.col("stalled_ns").sum() / (pl.col("t_ns").max() - pl.col("t_ns").min()),
    )
    target = pl.col(TARGET).str.strip_suffix(" s").cast(pl.Float64)
    behind = result.runs.filter(metric=_LATENCY).select(*_KEYS, behind_s=pl.col("value") - target)
    joined = measured.join(behind, on=_KEYS)
    values = joined.unpivot(index=list(_KEYS), variable_name="metric", value_name="value")
    return values.with_columns(pl.col("value").cast(pl.Float64))
