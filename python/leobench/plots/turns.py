"""The links of a constellation, and the times that satellites serve them without a break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from leobench.orbit import Survey

# Links in a figure; beyond, panels and colours cannot be told apart.
_MOST = 4


def links(seen: Survey) -> list[str]:
    """The links that a figure shows."""
    return seen.samples["link"].unique(maintain_order=True).to_list()[:_MOST]


def of(seen: Survey, link: str) -> list[pl.DataFrame]:
    """The samples of each time that a satellite serves a link without a break, in order."""
    return of_rows(seen.samples.filter(link=link))


def of_rows(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The same for samples of one link."""
    if not rows.height:
        return []
    changed = (pl.col("satellite") != pl.col("satellite").shift()).fill_null(value=True)
    gone = pl.col("satellite").is_null() != pl.col("satellite").shift().is_null()
    numbered = rows.with_columns((changed | gone).cum_sum().alias("run"))
    runs = numbered.partition_by("run", maintain_order=True)
    return [run for run in runs if run["satellite"][0] is not None]
