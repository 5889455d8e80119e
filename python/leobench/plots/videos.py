"""Flows that are videos: their segments, and the times at which their viewers saw no pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from leobench.errors import InputError, allowed

if TYPE_CHECKING:
    from leobench.plots.view import Summary
    from leobench.result import Result

# Rounding of sums of seconds.
_NOTHING_S = 1e-6


def names(kind: str, result: Result, flow: str | None) -> list[str]:
    """The names of the videos of a run, or that of the one asked for.

    Raises:
        InputError: If no flow is a video, or that one is none.
    """
    videos = [each["name"] for each in result.summary["flows"] if "video" in each]
    if not videos:
        raise InputError(f"--kind = {kind}: no flow of the run is a video; allowed: a run with a `video`")
    if flow is not None and flow not in videos:
        raise InputError(f"--flow = {flow}: is no video; {allowed(flow, videos)}")
    return videos if flow is None else [flow]


def segments(result: Result, flow: Summary) -> pl.DataFrame:
    """The segments of a flow that arrived, in order, with times in seconds."""
    rows = result.tables.segments.filter(pl.col("flow") == flow["name"], pl.col("arrived_ns").is_not_null())
    seconds = {
        name: pl.col(column) / 1e9
        for name, column in {
            "asked": "t_ns",
            "arrived": "arrived_ns",
            "buffer": "buffer_ns",
            "stalled": "stalled_ns",
        }.items()
    }
    return rows.sort("segment").with_columns(**seconds)


def stalls(arrived: pl.DataFrame, stalled_s: float, end_s: float) -> list[tuple[float, float]]:
    """Times without pictures, each up to the arrival of a segment or the end of the run."""
    stalled = arrived.filter(pl.col("stalled") > 0)
    found = [(end - length, end) for end, length in stalled.select("arrived", "stalled").iter_rows()]
    lasting = stalled_s - sum(end - begin for begin, end in found)
    return [*found, (end_s - lasting, end_s)] if lasting > _NOTHING_S else found
