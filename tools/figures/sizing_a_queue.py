"""Goodput of a file over the delay of a call, by queue: the figure of docs/reports/sizing-a-queue.md.

Run it after the campaigns `queue-sizing-fading` and `queue-sizing-targets`, beside their `results`.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import leobench
from leobench import plots
from leobench.plots import style

MANAGED = {"codel": (7, -1), "fq_codel": (-14, -13), "cake": (-9, 7), "red": (7, -6), "pie": (7, -6)}
FILE, CALL = "flows.file.goodput_bps", "flows.call.delay_ms.p95"


def means(campaign: str) -> dict[str, tuple[float, float]]:
    """The call's delay in ms and the file's goodput in Mbit/s beside TCP with CUBIC, by queue."""
    runs = leobench.CampaignResult.open(f"results/{campaign}").runs
    runs = runs.filter(pl.col("flows.file.transport").str.contains('"tcp".*"cubic"'))
    table = runs.pivot("metric", index="links.leo.queue", values="value", aggregate_function="mean")
    rows = table.select("links.leo.queue", CALL, pl.col(FILE) / 1e6)
    return {queue: (delay, goodput) for queue, delay, goodput in rows.iter_rows()}


queues = means("queue-sizing-fading")
targets = means("queue-sizing-targets")
(tuned,) = [point for queue, point in targets.items() if '"target" = "50 ms"' in queue]
figure, (axes,) = style.panels(1, width=5.6, height=3.2)


def name(
    text: str, point: tuple[float, float], offset: tuple[float, float], colour: str, side: str = "left"
) -> None:
    """Writes the name of a queue beside its point."""
    axes.annotate(text, point, offset, textcoords="offset points", fontsize=style.FONT, color=colour, ha=side)


fifo = {queue.split('"')[-2]: point for queue, point in queues.items() if "fifo" in queue}
axes.plot(*zip(*fifo.values(), strict=True), color=style.FAINT, marker="o", label="drop tail")
for size, point in fifo.items():
    late = point[0] > 150
    name(
        size.replace("1000", "1,000"),
        point,
        (0, -13) if late else (-4, 6),
        style.FAINT,
        "center" if late else "right",
    )
managed = {kind: queues[f'{{ "kind" = "{kind}" }}'] for kind in MANAGED}
axes.plot(
    *zip(*managed.values(), strict=True), "s", color=style.BLUE, label="managed queue, default parameters"
)
for kind, offset in MANAGED.items():
    name(kind, managed[kind], offset, style.BLUE)
axes.plot(*tuned, "*", color=style.VERMILION, markersize=13, label="fq_codel, target 50 ms")
name("fq_codel, target 50 ms", tuned, (-14, 9), style.VERMILION)
axes.axvline(150, color=style.INK, linewidth=0.8, linestyle=":")
axes.text(155, 10.3, "too late for a call", fontsize=style.FONT, color=style.INK)
axes.set(xscale="log", xlim=(20, 1_000), ylim=(10, 21))
style.dress(axes, "", "goodput of the file (Mbit/s)", zero=False)
axes.set_xlabel("delay of the call, 95 % quantile (ms)", fontsize=style.FONT)
style.plain_log(axes.xaxis)
style.key(figure, axes)
style.note(
    figure,
    "Better: up and to the left. Fading link; a file over TCP with CUBIC beside a call; means of 5 runs",
)
plots.save(figure, Path("sizing-a-queue.png"))
