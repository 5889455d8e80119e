"""Friendliness ratios by controller, transport and queue: the figure of docs/reports/competition.md.

Run it after the campaign `competition`, beside its `results`.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import leobench
from leobench import plots, stats
from leobench.plots import bars, style
from leobench.plots.frames import Column, Interval

runs = leobench.CampaignResult.open("results/competition").runs.filter(
    metric="competition.friendliness_ratio"
)
newcomer = pl.col("flows.newcomer.transport")
runs = runs.with_columns(
    transport=newcomer.str.extract('"kind" = "(.*?)"').str.to_uppercase(),
    controller=newcomer.str.extract('"congestion" = "(.*?)"'),
).filter(pl.col("flows.incumbent.transport.congestion") == "cubic")
queue = Column("links.bottleneck.queue.limit", "queue")
means = stats.mean_intervals(runs, ["transport", queue.name, "controller"], method="t")
figure, panels = style.panels(2)
for axes, transport in zip(panels, ("TCP", "QUIC"), strict=True):
    bars.draw(
        means.filter(transport=transport),
        group=Column("controller", "controller of the newcomer"),
        series=queue,
        value=Column("mean", "friendliness ratio", log=True),
        interval=Interval("low", "high"),
        colours=style.ramp(3),
        title=f"{transport} newcomer against TCP CUBIC",
        axes=axes,
    )
    axes.axhline(1, color=style.INK, linewidth=0.8)
    axes.set_ylim(0.02, 50)
    style.plain_log(axes.yaxis)
style.key(figure, panels[0], "queue")
style.note(
    figure,
    "1: equal shares; above: the newcomer gets more. Whiskers: 95 % confidence interval of the mean, 5 runs",
)
plots.save(figure, Path("friendliness.png"))
