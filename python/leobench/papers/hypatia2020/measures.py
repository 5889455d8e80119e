"""The metrics that the claims of Kassing et al. 2020 need beyond a run's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.papers.hypatia2020.over_hops import KEYS as _KEYS
from leobench.papers.hypatia2020.over_hops import changes

if TYPE_CHECKING:
    import polars as pl

    from leobench.campaign import CampaignResult

# Seconds: the way from Rio de Janeiro to St. Petersburg is 15 ms longer between 33 s and 155 s.
_SHORT_S, _LONG_S = (10.0, 30.0), (45.0, 150.0)

PAIR = (
    "rtt_min_ms", "rtt_max_ms", "rtt_ratio", "rtt_30s_ms", "rtt_40s_ms", "without_way_s", "queueing_max_ms",
    "short_goodput_bps", "long_goodput_bps", "long_queueing_ms", "reductions_without_loss", "way_changes",
    "hops_min", "hops_max",
)  # fmt: skip
PAIRS = (
    "rtt_ratio_median", "rtt_ratio_median_all", "rtt_span_median_ms", "way_changes_median_all",
    "hops_ratio_median_all", "hops_vary_share_all",
)  # fmt: skip


def of_pair(result: CampaignResult) -> pl.DataFrame:
    """The measures of a flow between two cities; `PAIR` names them.

    `rtt_min_ms`, `rtt_max_ms` and `rtt_ratio` are those of the way, without queues; `rtt_30s_ms` and
    `rtt_40s_ms` at these times. `without_way_s`: for how long there is none. `queueing_max_ms`: the longest
    round trip of TCP above that of the way. `short_goodput_bps`, `long_goodput_bps` and `long_queueing_ms`:
    while the way from Rio de Janeiro is short and long. `way_changes`, `hops_min` and `hops_max` are those of
    `over_hops.changes`.
    """
    import polars as pl

    rtt = pl.col("rtt_ms")
    own = ways(result).filter(flow="main")
    lasting = pl.col("until_s") - pl.col("t_s")
    of_ways = own.group_by(_KEYS, maintain_order=True).agg(
        rtt_min_ms=rtt.min(),
        rtt_max_ms=rtt.max(),
        rtt_ratio=rtt.max() / rtt.min(),
        rtt_30s_ms=_at(30.0),
        rtt_40s_ms=_at(40.0),
        without_way_s=lasting.filter(rtt.is_null()).sum(),
    )
    samples = result.tables.transport.filter(flow="main").with_columns(
        (pl.col("t_ns") / 1e9).alias("t_s"), (pl.col("latest_rtt_ns") / 1e6).alias("latest_ms")
    )
    sampled = samples.sort("t_s").join_asof(
        own.sort("t_s").select(*_KEYS, "t_s", "rtt_ms"), on="t_s", by=list(_KEYS), check_sortedness=False
    )
    above = pl.col("latest_ms") - rtt
    of_flow = sampled.group_by(_KEYS, maintain_order=True).agg(
        queueing_max_ms=above.filter(pl.col("t_s").is_between(*_LONG_S)).max(),
        short_goodput_bps=_goodput(*_SHORT_S),
        long_goodput_bps=_goodput(*_LONG_S),
        long_queueing_ms=above.filter(pl.col("t_s").is_between(*_LONG_S)).mean(),
    )
    of_hops = changes(result).select(*_KEYS, "hops_min", "hops_max", pl.col("changes").alias("way_changes"))
    parts = (of_flow, of_hops, reductions_without_loss(result))
    for part in parts:
        of_ways = of_ways.join(part, on=_KEYS, how="left")
    return _long(of_ways)


def reductions_without_loss(result: CampaignResult) -> pl.DataFrame:
    """How often a flow reduced its window for packets none of which the network had dropped.

    Those are the packets that it declared lost from the reduction until the next one. Timeouts do not count.
    """
    import polars as pl

    answered = result.tables.events.filter(kind="congestion", subject="main/sender").sort("t_ns")
    declared = result.tables.losses.filter(flow="main", end="sender").drop_nulls("declared_ns")
    declared = declared.select(*_KEYS, "dropped_ns", pl.col("declared_ns").alias("t_ns")).sort("t_ns")
    reductions = answered.select(*_KEYS, "t_ns", "detail", pl.col("t_ns").alias("reduced_ns"))
    joined = declared.join_asof(reductions, on="t_ns", by=list(_KEYS), check_sortedness=False)
    by_loss = joined.filter(pl.col("detail").str.starts_with("loss"))
    dropped = by_loss.group_by(*_KEYS, "reduced_ns").agg(pl.col("dropped_ns").count().alias("dropped"))
    counted = dropped.filter(dropped=0).group_by(_KEYS).len("reductions_without_loss")
    runs = result.runs.select(_KEYS).unique(maintain_order=True)
    counts = runs.join(counted, on=_KEYS, how="left")
    return counts.with_columns(pl.col("reductions_without_loss").fill_null(0))


def of_pairs(result: CampaignResult) -> pl.DataFrame:
    """How much round trips change over a run; `PAIRS` names the measures.

    Replicate k of n is about every n-th pair, from the k-th on, so that an interval is one over pairs.
    `rtt_ratio_median`: the largest round trip over the smallest, the median of pairs. `rtt_span_median_ms`:
    their difference. A name with `_all` is about all pairs, which nothing random changes:
    `way_changes_median_all` counts changes of the way, `hops_ratio_median_all` has the most hops over the
    fewest, `hops_vary_share_all` the share of pairs whose number of hops changes.
    """
    import polars as pl

    count = result.runs["replicate"].n_unique()
    ratio = pl.col("max_ms") / pl.col("min_ms")
    both = spans(result).join(changes(result).rename({"name": "flow"}), on=[*_KEYS, "flow"], how="left")
    pairs = both.with_columns(
        rtt_ratio_median_all=ratio.median().over(_KEYS),
        way_changes_median_all=pl.col("changes").median().over(_KEYS),
        hops_ratio_median_all=(pl.col("hops_max") / pl.col("hops_min")).median().over(_KEYS),
        hops_vary_share_all=(pl.col("hops_max") > pl.col("hops_min")).mean().over(_KEYS),
        batch=pl.col("flow").rank("dense").over("variant") % count + 1,
    )
    own = pairs.filter(pl.col("batch") == pl.col("replicate"))
    measured = own.group_by(_KEYS, maintain_order=True).agg(
        rtt_ratio_median=ratio.median(),
        rtt_span_median_ms=(pl.col("max_ms") - pl.col("min_ms")).median(),
        **{name: pl.col(name).first() for name in PAIRS if name.endswith("_all")},
    )
    return _long(measured)


def spans(result: CampaignResult) -> pl.DataFrame:
    """The smallest and the largest round trip of each pair of each run, without queues."""
    import polars as pl

    rtt = pl.col("rtt_ms")
    return ways(result).group_by(*_KEYS, "flow", maintain_order=True).agg(min_ms=rtt.min(), max_ms=rtt.max())


def ways(result: CampaignResult) -> pl.DataFrame:
    """The round trips of ways, each from `t_s` to `until_s`; null while there is no way."""
    import polars as pl

    # Both directions change at an instant, in two rows.
    ways = result.tables.paths.unique([*_KEYS, "flow", "t_ns"], keep="last", maintain_order=True)
    rtt = pl.when(pl.col("bottleneck_bps") > 0).then(pl.col("base_rtt_ns") / 1e6)
    ways = ways.with_columns((pl.col("t_ns") / 1e9).alias("t_s"), rtt.alias("rtt_ms"))
    until = pl.col("t_s").shift(-1).over(*_KEYS, "flow").fill_null(pl.col("t_s"))
    return ways.with_columns(until_s=until)


def _at(seconds: float) -> pl.Expr:
    import polars as pl

    return pl.col("rtt_ms").filter(pl.col("t_s") <= seconds).last()


def _goodput(start_s: float, end_s: float) -> pl.Expr:
    import polars as pl

    within = pl.col("bytes_delivered").filter(pl.col("t_s").is_between(start_s, end_s))
    return (within.last() - within.first()) * 8 / (end_s - start_s)


def _long(wide: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    values = wide.unpivot(index=list(_KEYS), variable_name="metric", value_name="value")
    return values.with_columns(pl.col("value").cast(pl.Float64))
