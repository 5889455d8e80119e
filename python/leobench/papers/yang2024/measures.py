"""The metrics that the claims of Yang et al. 2024 need beyond a run's summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from leobench.papers.yang2024 import series

if TYPE_CHECKING:
    import polars as pl

    from leobench.campaign import CampaignResult

# When the file of Figs. 12 and 13 starts, in seconds.
START_S = 5.0

TRANSFER = ("transfer_s",)
SERIES = (
    "window", "window_total", "peak_window", "peak_total", "late_peak_window", "late_peak_total",
    "window_before_handover", "throughput_bps", "peak_bps", "early_peak_bps", "late_bps", "shared_over_tcp",
    "shared_over_all_tcp", "disjoint_over_tcp", "disjoint_over_all_tcp", "handover_interval_s",
    "sharing_interval_s", "delay_p95_ms", "congestion_losses", "start_recovery_ms", "avoidance_recovery_ms",
    "new_path_rtts", "validations_at_handovers",
)  # fmt: skip


def of_series(result: CampaignResult) -> pl.DataFrame:
    """The measures of Figs. 8 to 11 of each run; `SERIES` names them.

    `congestion_losses`: reductions of the window, or recoveries if a model of the path sets it.
    """
    import polars as pl

    events = result.runs.filter(metric="flows.upload.congestion_events").select(*series.KEYS, "value")
    recoveries = {(variant, replicate): value for variant, replicate, value in events.iter_rows()}
    validations = {row[:2]: row[2:] for row in _validations(result).iter_rows()}
    rows = []
    for run in series.runs(result):
        found = {
            **series.window_measures(run),
            **series.throughput_measures(run),
            **series.chain_measures(run),
            **series.delay_measures(run),
            **series.recovery_measures(run),
        }
        by_model = not set(run.paths[0].phase) & {"avoidance", "recovery"}
        found["congestion_losses"] = recoveries[run.key] if by_model else series.reductions(run)
        took_ns, again = validations.get(run.key, (None, None))
        found["new_path_rtts"] = math.nan if took_ns is None else took_ns / 100e6
        found["validations_at_handovers"] = math.nan if again is None else float(again)
        rows += [(*run.key, metric, value) for metric, value in found.items()]
    schema = {"variant": pl.String, "replicate": pl.Int64, "metric": pl.String, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row")
    return frame.with_columns(
        pl.col("replicate").cast(result.runs.schema["replicate"]), pl.col("value").fill_nan(None)
    )


def _validations(result: CampaignResult) -> pl.DataFrame:
    """By run, nanoseconds from opening to validation of a path, and validations without an opening."""
    import polars as pl

    steps = result.tables.events.filter(kind="path", subject="upload/sender")
    opened = pl.col("detail").str.contains("opened")
    validated = pl.col("detail").str.contains("validated")
    found = steps.group_by(series.KEYS, maintain_order=True).agg(
        took_ns=pl.col("t_ns").filter(validated).min() - pl.col("t_ns").filter(opened).min(),
        again=validated.sum().cast(pl.Int64) - opened.sum().cast(pl.Int64),
    )
    return found.drop_nulls()


def of_transfer(result: CampaignResult) -> pl.DataFrame:
    """The measure of Figs. 12 and 13: seconds from the start of the file to its last byte."""
    import polars as pl

    done = result.runs.filter(metric="flows.upload.completion_s")
    return done.select(*series.KEYS, metric=pl.lit("transfer_s"), value=pl.col("value") - START_S)
