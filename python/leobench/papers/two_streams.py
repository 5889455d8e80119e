"""Measures and names shared by papers on stream schedulers: a flow `main` with streams `fast` and `slow`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.overrides import as_text
from leobench.papers.words import Word

if TYPE_CHECKING:
    import polars as pl

    from leobench.campaign import CampaignResult

KEYS = ("variant", "replicate")
STREAMS = ("fast", "slow")

# Buffers that differ by at most this much count as equal: ten messages.
_CLOSE_BYTES = 10_000

# The schedulers as campaigns write them; one without parameters keeps its name.
_SCHEDULERS: dict[str, dict[str, object]] = {
    "fq, no surplus": {"kind": "fq", "surplus": "none"},
    "wfq": {"kind": "wfq", "weights": [2, 1]},
    "wfq, no surplus": {"kind": "wfq", "weights": [2, 1], "surplus": "none"},
    "stbp, batches": {"kind": "stbp", "per": "batch", "slot": "50 ms"},
}

# Rates of the fast stream, of two thirds of the load, and the loads as shares of 45 Mbit/s.
_LOADS = {"15 Mbps": "50 %", "24 Mbps": "80 %", "30 Mbps": "100 %"}

# Delays whose quantiles campaigns may contain.
_QUANTILES = {
    "delay": "flows.main.delay_ms",
    **{stream: f"flows.main.streams.{stream}.delay_ms" for stream in STREAMS},
}

SCHEDULER = Word(
    "flows.main.transport.scheduler",
    "scheduler",
    {as_text(written): name for name, written in _SCHEDULERS.items()},
)
LOAD = Word("flows.main.streams.0.source.rate", "load", _LOADS)
INTERRUPTION = Word("links.isl.channel.off", "interruption")
CONTROLLER = Word("flows.main.transport.congestion", "controller")
APPLICATION = Word("flows.main.application", "application")
WORDS = (SCHEDULER, LOAD, INTERRUPTION, CONTROLLER, APPLICATION)


def delay_measures(result: CampaignResult) -> pl.DataFrame:
    """How the delays of the two streams compare in each run.

    `fast`, `slow`: the mean delay of each in milliseconds. `delay_imbalance`: the larger of the two over the
    smaller, less 1. `delay_spread_ms`, `fast_spread_ms`, `slow_spread_ms`: 95 % quantile less median, of all
    messages, and of those of each stream where the campaign has both quantiles.
    """
    import polars as pl

    wide = result.runs.pivot("metric", index=list(KEYS), values="value")
    fast, slow = (pl.col(f"flows.main.streams.{stream}.delay_ms.mean") for stream in STREAMS)
    measured = wide.select(
        *KEYS,
        fast=fast,
        slow=slow,
        delay_imbalance=pl.max_horizontal(fast, slow) / pl.min_horizontal(fast, slow) - 1,
        **{
            f"{name}_spread_ms": pl.col(f"{of}.p95") - pl.col(f"{of}.p50")
            for name, of in _QUANTILES.items()
            if f"{of}.p95" in wide.columns
        },
    )
    return _long(measured)


def buffer_measures(result: CampaignResult) -> pl.DataFrame:
    """How the application buffers of the two streams compare over the time of each run.

    `buffer_imbalance`: mean size of the difference over the mean of the sum: 0 where they are always equal,
    1/3 where one is twice the other, 1 where one is always empty. `sojourn_imbalance`, `head_imbalance`: the
    same of the sum of the ages of waiting messages, and of the age of the oldest.
    `buffer_difference`: mean size of the difference, in bytes.
    `buffers_close_share`: share of the time in which they differ by no more than ten messages.
    """
    import polars as pl

    def imbalance(column: str) -> pl.Expr:
        ours, other = pl.col(column), pl.col(f"{column}_slow")
        return (ours - other).abs().mean() / (ours + other).mean()

    compared = pl.col("backlog_bytes", "sojourn_sum_ns", "head_age_ns").cast(pl.Float64).fill_null(0)
    samples = result.tables.streams.select(*KEYS, "t_ns", "stream", compared)
    fast, slow = (samples.filter(stream=stream).drop("stream") for stream in STREAMS)
    difference = (pl.col("backlog_bytes") - pl.col("backlog_bytes_slow")).abs()
    measured = (
        fast.join(slow, on=[*KEYS, "t_ns"], suffix="_slow")
        .group_by(KEYS, maintain_order=True)
        .agg(
            buffer_imbalance=imbalance("backlog_bytes"),
            sojourn_imbalance=imbalance("sojourn_sum_ns"),
            head_imbalance=imbalance("head_age_ns"),
            buffer_difference=difference.mean(),
            buffers_close_share=(difference <= _CLOSE_BYTES).mean(),
        )
    )
    return _long(measured)


def _long(measured: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    long = measured.unpivot(index=list(KEYS), variable_name="metric", value_name="value")
    return long.with_columns(pl.when(pl.col("value").is_finite()).then(pl.col("value")))
