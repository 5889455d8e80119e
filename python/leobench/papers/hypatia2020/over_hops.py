"""Measures of the ways of links through the network in orbit, and of the lasers on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from leobench.campaign import CampaignResult

KEYS = ("variant", "replicate")
CROSS = ("unused_share", "unused_mean_bps", "unused_third_share")

# The samples of `pair.toml`, and the rate of its lasers.
STEP_NS, RATE_BPS = 100_000_000, 10e6
_LINK = "sky/here->there"
# Samples in one of the averages that the authors draw.
_AVERAGED = 10


def changes(result: CampaignResult) -> pl.DataFrame:
    """The ways of each link of each run in the direction of its terminal.

    `changes`: how often the way changes; its loss and its return count as one each, as in the authors' code.
    `hops_min` and `hops_max`: links on a way, those to and from the ground included.
    """
    import polars as pl

    name = pl.col("link").str.split("/").list.first()
    hops = pl.col("hops") + 2
    rows = result.tables.ways.with_columns(name=name)
    first = pl.col("link") == pl.col("link").first().over(*KEYS, "name")
    there = rows.filter(first).sort(*KEYS, "name", "t_ns")
    return there.group_by(*KEYS, "name", maintain_order=True).agg(
        changes=pl.len() - 1, hops_min=hops.min(), hops_max=hops.max()
    )


def of_cross(result: CampaignResult) -> pl.DataFrame:
    """The capacity that is left unused along the way from Rio de Janeiro; `CROSS` names the measures.

    `unused_mean_bps` and `unused_share`: the mean, and its share of the rate, while there is a way.
    `unused_third_share`: the share of samples with a way in which a third of the rate or more is unused.
    """
    import polars as pl

    left = unused(result).drop_nulls("unused")
    measured = left.group_by(KEYS, maintain_order=True).agg(
        unused_share=pl.col("unused").mean(),
        unused_mean_bps=RATE_BPS * pl.col("unused").mean(),
        unused_third_share=(pl.col("unused") > 1 / 3).mean(),
    )
    values = measured.unpivot(index=list(KEYS), variable_name="metric", value_name="value")
    return values.with_columns(pl.col("value").cast(pl.Float64))


def unused(result: CampaignResult) -> pl.DataFrame:
    """The share of the rate that is unused at the busiest laser of the way, sample by sample.

    `t_ns` is the start of a sample. `unused` is null without a way, and on ways without lasers. A laser is
    busy while it sends; a transmission counts when it ends.
    """
    import polars as pl

    ways = result.tables.ways.filter(link=_LINK).sort("t_ns").select(*KEYS, "t_ns", "satellites")
    hops = result.tables.hops.filter(pl.col("hop").str.starts_with("laser/"))
    busy = hops.select(
        *KEYS,
        (pl.col("t_ns") - STEP_NS).alias("t_ns"),
        pl.col("hop").str.strip_prefix("laser/").alias("laser"),
        (pl.col("busy_ns") / STEP_NS).clip(upper_bound=1.0).alias("used"),
    )
    samples = busy.select(*KEYS, "t_ns").unique().sort("t_ns")
    sampled = samples.join_asof(ways, on="t_ns", by=list(KEYS), check_sortedness=False)
    satellites = pl.col("satellites").str.split("->")
    ends = sampled.with_columns(satellites=satellites).with_columns(
        laser=pl.col("satellites").list.slice(0, pl.col("satellites").list.len() - 1),
        to=pl.col("satellites").list.slice(1),
    )
    lasers = ends.filter(pl.col("laser").list.len() > 0).explode("laser", "to")
    lasers = lasers.with_columns(laser=pl.concat_str("laser", "to", separator="->"))
    # A hop that no packet has reached yet has no rows.
    used = lasers.join(busy, on=[*KEYS, "t_ns", "laser"], how="left")
    most = used.group_by(*KEYS, "t_ns").agg(unused=1 - pl.col("used").fill_null(0.0).max())
    return samples.join(most, on=[*KEYS, "t_ns"], how="left").sort(*KEYS, "t_ns")


def drawn(result: CampaignResult) -> pl.DataFrame:
    """The unused rate by second in Mbit/s, all of it where there is no way: as the authors draw it."""
    import polars as pl

    second = (pl.col("t_ns") // (_AVERAGED * STEP_NS)).alias("t_s")
    whole = unused(result).with_columns(pl.col("unused").fill_null(1.0))
    averaged = whole.group_by(*KEYS, second, maintain_order=True)
    return averaged.agg(unused_mbps=RATE_BPS / 1e6 * pl.col("unused").mean())
