"""Measures and names shared by papers on stream schedulers: a flow `main` with streams `fast` and `slow`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.overrides import as_text
from leobench.papers.words import Word

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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

# Of all messages, and of those of each stream: where a campaign has their delays.
_DELAYS = {
    "delay": "flows.main.delay_ms",
    **{stream: f"flows.main.streams.{stream}.delay_ms" for stream in STREAMS},
}

# Slots over which the authors' code sums sojourn times.
_SLOT_NS = 50_000_000

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


DELAYS = ("fast", "slow", "delay_imbalance")
JITTER = ("stream_jitter_ms",)
SPREADS = (*(f"{name}_spread_ms" for name in _DELAYS), "delay_iqr_ms", "delay_sd_ms")
SHARES = tuple(f"{stream}_share_bps" for stream in STREAMS)
BUFFERS = (
    "buffer_imbalance",
    "sojourn_imbalance",
    "head_imbalance",
    "buffer_difference",
    "buffers_close_share",
)
SOJOURNS = ("batch_sojourn_imbalance",)


def delay_measures(result: CampaignResult) -> pl.DataFrame:
    """How delays and throughputs of the two streams compare in each run: `DELAYS`, and some of the others.

    `fast`, `slow`: the mean delay of each in milliseconds. `delay_imbalance`: the larger of the two over the
    smaller, less 1. Where the campaign has what they need, of all messages (`delay`) and of each stream:
    `delay_spread_ms`: 95 % quantile less median; `delay_iqr_ms`: interquartile range; `delay_sd_ms`: standard
    deviation. `fast_share_bps`: the throughput of a stream over the time to the last delivery of both.
    `stream_jitter_ms`: the mean jitter of the streams.
    """
    import polars as pl

    wide = result.runs.pivot("metric", index=list(KEYS), values="value")
    fast, slow = (pl.col(f"{_DELAYS[stream]}.mean") for stream in STREAMS)
    measured = {
        "fast": fast,
        "slow": slow,
        "delay_imbalance": pl.max_horizontal(fast, slow) / pl.min_horizontal(fast, slow) - 1,
        "stream_jitter_ms": pl.mean_horizontal(f"flows.main.streams.{stream}.jitter_ms" for stream in STREAMS)
        if f"flows.main.streams.{STREAMS[0]}.jitter_ms" in wide.columns
        else None,
    }
    for name, of in _DELAYS.items():
        column = {kind: f"{of}.{kind}" for kind in ("p25", "p50", "p75", "p95", "sd")}
        measured[f"{name}_spread_ms"] = _difference(wide, column["p95"], column["p50"])
        measured[f"{name}_iqr_ms"] = _difference(wide, column["p75"], column["p25"])
        measured[f"{name}_sd_ms"] = pl.col(column["sd"]) if column["sd"] in wide.columns else None
    for stream in STREAMS:
        count = f"flows.main.streams.{stream}.messages"
        if count in wide.columns:
            share = pl.col(count) / pl.col("flows.main.messages") * pl.col("flows.main.goodput_bps")
            measured[f"{stream}_share_bps"] = share
    there = {name: column for name, column in measured.items() if column is not None}
    return _long(wide.select(*KEYS, **there))


def _difference(wide: pl.DataFrame, larger: str, smaller: str) -> pl.Expr | None:
    import polars as pl

    return pl.col(larger) - pl.col(smaller) if {larger, smaller} <= set(wide.columns) else None


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


def sojourn_measures(result: CampaignResult) -> pl.DataFrame:
    """Those of `buffer_measures`, and the same of sojourn times summed over batches: `SOJOURNS`.

    `batch_sojourn_imbalance`: as `sojourn_imbalance`, but the messages of a stream that were created in the
    same slot of 50 ms count once, from the first creation until the last has left the buffer.
    """
    import polars as pl

    batches = (
        result.scan("messages")
        .group_by(*KEYS, "stream", slot=pl.col("created_ns") // _SLOT_NS)
        .agg(arrived=pl.col("created_ns").min(), left=pl.col("first_sent_ns").max())
        .collect(engine="streaming")
        .partition_by(*KEYS, "stream", as_dict=True)
    )
    samples = result.tables.streams.select(*KEYS, "t_ns").unique().sort(*KEYS, "t_ns")
    rows = []
    for (variant, replicate), times in samples.group_by(*KEYS, maintain_order=True):
        sums = [
            _sojourns(batches.get((variant, replicate, stream)), times["t_ns"].to_numpy())
            for stream in STREAMS
        ]
        total = float(np.mean(sums[0] + sums[1]))
        imbalance = float(np.mean(np.abs(sums[0] - sums[1]))) / total if total else None
        rows.append((variant, replicate, SOJOURNS[0], imbalance))
    buffers = buffer_measures(result)
    return pl.concat([buffers, pl.DataFrame(rows, buffers.schema, orient="row")])


def _sojourns(batches: pl.DataFrame | None, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sum of the ages of the batches waiting at each time, in nanoseconds."""
    if batches is None:
        return np.zeros(len(times))
    totals = []
    for event in ("arrived", "left"):
        happened = batches.drop_nulls(event).sort(event)
        count = np.searchsorted(happened[event].to_numpy(), times, "right")
        ages = np.concatenate(([0.0], np.cumsum(happened["arrived"].to_numpy().astype(float))))
        totals.append(times.astype(float) * count - ages[count])
    return np.asarray(totals[0] - totals[1])


def _long(measured: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    long = measured.unpivot(index=list(KEYS), variable_name="metric", value_name="value")
    return long.with_columns(pl.when(pl.col("value").is_finite()).then(pl.col("value")))
