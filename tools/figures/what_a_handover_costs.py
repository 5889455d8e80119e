"""Parts of the time after a handover: the figure of docs/reports/what-a-handover-costs.md.

Run it after the campaign `handover-cost`, beside its `results`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import leobench
from leobench import plots, stats
from leobench.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OF = "flows.file.handovers.each.backhaul-1."
CAUSES = {
    "detection": style.VERMILION,
    "validation": style.PURPLE,
    "retransmission": style.ORANGE,
    "slow start": style.SKY,
}
KINDS = {"reroute": "another route", "rebind": "a NAT rebinds", "migrate": "the device migrates"}
LOOK: dict[str, Any] = {"fmt": "D", "color": style.INK, "markersize": 3.5, "linewidth": 1.2, "capsize": 2.5}


def transport(flow: str) -> str:
    """The transport of a row, from the TOML of its flow."""
    means = tomllib.loads(f"flow = {flow}")["flow"]["transport"]
    if means["kind"] == "tcp":
        return "TCP"
    return {"keep": "QUIC, keeps", "reset": "QUIC, resets", "careful_resume": "QUIC, resumes"}[
        means["after_migration"]
    ]


def draw(axes: Axes, at: float, rows: pl.DataFrame, *, named: bool) -> None:
    """The phases of a recovery as a bar, and below it when the flow has recovered; times are in ms."""
    found = {row["metric"].removeprefix(OF): row for row in rows.iter_rows(named=True)}
    left = 0.0
    for cause, colour in CAUSES.items():
        row = found[f"{cause.replace(' ', '_')}_ms"]
        axes.barh(at, row["mean"] / 1e3, left=left, color=colour, height=0.42, label=cause if named else "_")
        left += row["mean"] / 1e3
        half = (row["high"] - row["low"]) / 2e3
        if half > 0.01:
            axes.hlines(at, max(left - half, 0), left + half, color=style.INK, linewidth=0.8)
    mean, half = (
        found["recovery_ms"]["mean"],
        (found["recovery_ms"]["high"] - found["recovery_ms"]["low"]) / 2,
    )
    around = [[min(half, mean) / 1e3], [half / 1e3]]
    axes.errorbar(mean / 1e3, at + 0.36, xerr=around, label="recovered after" if named else "_", **LOOK)
    told = f"{mean:,.0f} ± {half:,.0f}" if half >= 0.5 else f"{mean:,.0f}"
    right = max(left, (mean + half) / 1e3) + 0.06
    axes.text(right, at + 0.18, f"{told} ms", va="center", fontsize=style.SMALL)


runs = leobench.CampaignResult.open("results/handover-cost").runs
runs = runs.filter(pl.col("handovers.backhaul.outage") == "0 s")
places = ["handovers.backhaul.kind", "flows.file"]
means = stats.mean_intervals(runs, [*places, "metric"])
figure, panels = style.panels(2, width=4.2, height=6.4)
for axes, sender, title in zip(panels, ("device", "office"), ("upload", "download"), strict=True):
    at = 0.0
    ticks: list[tuple[float, str]] = []
    for kind, said in KINDS.items():
        axes.text(0.02, at, said, va="center", fontsize=style.FONT, fontweight="bold", color=style.INK)
        at += 0.8
        cells = means.filter(
            pl.col(places[0]) == kind, pl.col(places[1]).str.contains(f'"from" = "{sender}"')
        )
        for (flow,), rows in cells.group_by(places[1], maintain_order=True):
            draw(axes, at, rows, named=not ticks)
            ticks.append((at + 0.1, transport(flow)))
            at += 1.1
        at += 0.2
    axes.set_yticks(*zip(*ticks, strict=True))
    axes.set_ylim(at - 0.4, -0.5)
    axes.set_xlim(0, 4.6)
    style.dress(axes, title, "", zero=False)
    axes.set_xlabel("time from the handover (s)", fontsize=style.FONT)
style.key(figure, panels[0])
style.note(
    figure,
    "From a terrestrial network to a LEO satellite, 10 Mbit/s; means of 10 runs. Lines: 95 % confidence "
    "intervals, in bars\nthat of the phase which ends there, if above 10 ms. What was lost may still be "
    "repeated after the recovery",
)
plots.save(figure, Path("what-a-handover-costs.png"))
