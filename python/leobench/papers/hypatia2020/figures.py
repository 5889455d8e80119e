"""The figures for Kassing et al. 2020: round trips and TCP, ways between cities, and unused capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.papers.hypatia2020 import measures, over_hops
from leobench.papers.words import Word, rename
from leobench.plots import bands, style

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_PAIRS = {
    "rio-de-janeiro": "Rio de Janeiro-St. Petersburg",
    "manila": "Manila-Dalian",
    "istanbul": "Istanbul-Nairobi",
    "paris": "Paris-Moscow",
}
_CONSTELLATIONS = {
    "kuiper-k1.csv": "Kuiper K1",
    "telesat-t1.csv": "Telesat T1",
    "starlink-s1.csv": "Starlink S1",
}
_HIGHEST_MS = 300.0
_SAMPLED, _SEGMENT = ("latest_rtt_ns", "cwnd_bytes"), 1380.0
_SATELLITES = {"100 ms": "moving", "300 s": "at rest"}
_CONTROLLERS = {"newreno": style.BLUE, "vegas": style.VERMILION}

PAIR_WORDS = (
    Word("links.sky.constellation.terminal", "pair", _PAIRS),
    Word("flows.main.transport.congestion", "controller"),
)
PAIRS_WORDS = (Word("constellation.satellites.elements", "constellation", _CONSTELLATIONS),)
CROSS_WORDS = (Word("constellation.isl.every", "satellites", _SATELLITES),)


def over_time(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
    """Round trips and windows of TCP over the first run of each controller, a column for each pair."""
    import polars as pl

    del campaign
    runs = rename(result.runs.filter(replicate=1), PAIR_WORDS)
    figure, grid = style.grid(2, len(_PAIRS), (4 * style.HALF, 5.6), sharex="all", sharey="row")
    for column, pair in zip(grid.T, _PAIRS.values(), strict=True):
        for controller, colour in _CONTROLLERS.items():
            (variant,) = runs.filter(pair=pair, controller=controller)["variant"].unique()
            own = pl.col("variant") == variant, pl.col("replicate") == 1, pl.col("flow") == "main"
            sampled = result.tables.transport.filter(own)
            for axes, name, factor in zip(column, _SAMPLED, (1e6, _SEGMENT), strict=True):
                times, values = _series(sampled, name)
                axes.plot(*bands.thin(times, values / factor), color=colour, linewidth=1.0, label=controller)
        times, values = _series(measures.ways(result).filter(own), "rtt_ms")
        column[0].plot(times, values, color=style.BLACK, linewidth=1.0, label="without queues")
        style.dress(column[0], pair, "RTT (ms)")
        # Samples after the time without a way would be far above.
        column[0].set_ylim(top=_HIGHEST_MS)
        style.dress(column[1], "", "window (packets)")
        style.label_x(column[1], "time (s)")
    style.label_edges(grid)
    style.key(figure, grid[0][0])
    style.note(figure, "one run of each")
    return figure


def of_pairs(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
    """Distributions over pairs: round trips above, ways below."""
    import polars as pl

    del campaign
    spans = measures.spans(result).join(
        over_hops.changes(result).rename({"name": "flow"}), on=[*over_hops.KEYS, "flow"]
    )
    named = rename(result.runs.filter(replicate=1), PAIRS_WORDS)
    figure, grid = style.grid(2, 3, (3 * style.HALF, 5.4))
    drawn = {
        "largest RTT (ms)": pl.col("max_ms"),
        "largest less smallest RTT (ms)": pl.col("max_ms") - pl.col("min_ms"),
        "largest over smallest RTT": pl.col("max_ms") / pl.col("min_ms"),
        "changes of the way": pl.col("changes"),
        "most less fewest hops": pl.col("hops_max") - pl.col("hops_min"),
        "most over fewest hops": pl.col("hops_max") / pl.col("hops_min"),
    }
    for name, colour in zip(_CONSTELLATIONS.values(), style.CATEGORIES, strict=False):
        (variant,) = named.filter(constellation=name)["variant"].unique()
        own = spans.filter(variant=variant, replicate=1)
        shares = np.arange(1, own.height + 1) / own.height
        for axes, values in zip(grid.flat, drawn.values(), strict=True):
            ordered = np.sort(own.select(values).to_series().to_numpy())
            axes.step(ordered, shares, where="post", color=colour, linewidth=1.0, label=name)
    for axes, label in zip(grid.flat, drawn, strict=True):
        style.dress(axes, "", "share of pairs")
        style.label_x(axes, label)
    style.key(figure, grid[0][0])
    return figure


def unused_rate(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
    """The rate that is unused at the busiest laser from Rio de Janeiro to St. Petersburg."""
    del campaign
    runs = rename(result.runs.filter(replicate=1), CROSS_WORDS)
    drawn = over_hops.drawn(result).filter(replicate=1)
    figure, (axes,) = style.panels(1, width=2 * style.HALF)
    for name, colour in (("at rest", style.VERMILION), ("moving", style.BLUE)):
        (variant,) = runs.filter(satellites=name)["variant"].unique()
        own = drawn.filter(variant=variant)
        axes.plot(own["t_s"], own["unused_mbps"], color=colour, linewidth=1.0, label=name)
    style.dress(axes, "", "unused (Mbit/s)")
    style.label_x(axes, "time (s)")
    style.key(figure, axes)
    style.note(figure, "one run of each; all is unused while there is no way")
    return figure


def _series(rows: pl.DataFrame, column: str) -> tuple[style.Array, style.Array]:
    return rows["t_ns"].to_numpy() / 1e9, rows[column].cast(float).to_numpy()
