"""The figures for Mazilu et al. 2025: goodput and delay over a path, fairness at a bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.overrides import as_text
from leobench.papers.words import Word, means_of, rename
from leobench.plots import style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult


def _linux(kind: str) -> str:
    return as_text({"kind": kind, "slow_start": "hystart", "full_reno_slope": False})


_CONTROLLERS = {_linux("cubic"): "cubic", _linux("satcp"): "satcp"}

PATH_WORDS = (Word("flows.main.transport.congestion", "controller", _CONTROLLERS),)
FAIRNESS_WORDS = (
    Word("flows.near.transport.congestion", "controller", _CONTROLLERS),
    Word("links.far.delay", "far", {"9 ms": "20 ms", "49 ms": "100 ms", "99 ms": "200 ms"}),
    Word("links.bottleneck.queue", "queue", {
        as_text({"kind": "fifo", "limit": "2.5 MB"}): "drop-tail",
        as_text({"kind": "codel", "ecn": False}): "CoDel",
        as_text({"kind": "fq_codel", "ecn": False}): "FQ-CoDel",
    }),
)  # fmt: skip


def path(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
    """Goodput and mean round-trip time of each controller."""
    panels = (("flows.main.goodput_bps", "goodput", "bit/s"), ("flows.main.rtt_ms.mean", "mean RTT", "ms"))
    return _bars(campaign, result, PATH_WORDS, panels, group="controller", series=None)


def fairness(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
    """Jain's index by the longer round trip, a panel for each controller."""
    panels = (("fairness_jain", "Jain's index", ""),)
    return _bars(campaign, result, FAIRNESS_WORDS, panels, group="far", series="queue", columns="controller")


def _bars(
    campaign: Campaign,
    result: CampaignResult,
    words: tuple[Word, ...],
    panels: tuple[tuple[str, str, str], ...],
    *,
    group: str,
    series: str | None,
    columns: str | None = None,
) -> Figure:
    """Grouped bars of means: a row for each metric, a column for each value of `columns`."""
    import polars as pl

    from leobench import stats
    from leobench.plots import bars
    from leobench.plots.frames import Column, Interval

    runs = rename(result.runs, words)
    keys = [key for key in (group, series, columns) if key is not None]
    means = stats.mean_intervals(runs, [*keys, "metric"]).with_columns(one=pl.lit("mean"))
    cases = means[columns].unique(maintain_order=True).to_list() if columns else [""]
    size = (max(4.8, style.HALF * len(cases)), 0.8 + 2.1 * len(panels))
    figure, grid = style.grid(len(panels), len(cases), size, sharex="all", sharey="row")
    for axes_row, (metric, label, unit) in zip(grid, panels, strict=True):
        shown = means.filter(metric=metric)
        largest = float(shown.select(pl.max_horizontal("mean", "high").max()).item())
        for axes, case in zip(axes_row, cases, strict=True):
            bars.draw(
                shown.filter(pl.col(columns) == case) if columns else shown,
                group=Column(group),
                series=Column(series or "one"),
                value=Column("mean", label=label, unit=unit, largest=largest),
                interval=Interval("low", "high"),
                title=str(case),
                axes=axes,
            )
    style.label_edges(grid)
    if series:
        style.key(figure, grid[0][0])
    style.note(figure, means_of(campaign))
    return figure
