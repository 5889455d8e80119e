"""Metrics of the spread of delays that no summary has: quartiles and standard deviations of messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

# The names of the metrics beside the others of a flow's or stream's `delay_ms`.
NAMES = ("p25", "p75", "sd")

_METRIC = re.compile(rf"flows\..+\.delay_ms\.({'|'.join(NAMES)})")


def among(metrics: Iterable[str]) -> bool:
    """Whether any of the metrics is one of these."""
    return any(_METRIC.fullmatch(metric) for metric in metrics)


def add(summary: dict[str, Any], messages: pl.DataFrame) -> None:
    """Adds the metrics to the summary of a run without warm-up.

    Delays are those of the messages delivered, in milliseconds; the standard deviation is theirs, not an
    estimate for others.
    """
    import polars as pl

    delivered = messages.filter(pl.col("delivered_ns").is_not_null()).select(
        "flow", "stream", delay=(pl.col("delivered_ns") - pl.col("created_ns")) / 1e6
    )
    for flow in summary["flows"]:
        of_flow = delivered.filter(flow=flow["name"])
        flow["delay_ms"].update(_of(of_flow))
        for stream in flow["streams"]:
            stream["delay_ms"].update(_of(of_flow.filter(stream=stream["name"])))


def _of(messages: pl.DataFrame) -> dict[str, float | None]:
    delay = messages["delay"]
    return {
        "p25": delay.quantile(0.25, "linear"),
        "p75": delay.quantile(0.75, "linear"),
        "sd": delay.std(0),  # type: ignore[dict-item]
    }
