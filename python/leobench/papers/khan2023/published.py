"""The means of TCP end to end that the authors publish with their code, beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.durations import seconds
from leobench.files import write_text
from leobench.papers.words import Word, means_of, rename

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

WORDS = (
    Word("links.isl.channel.off", "interruption"),
    Word("flows.main.transport.receive_buffer", "window"),
)
MEASURES = ("throughput_ratio", "delay_ratio")

# Read off the plots of the authors' repository, TCP CUBIC, five runs: the mean interruption, Mbit/s, and ms.
PUBLISHED = (
    ("0 s", 26.3, 28.5),
    ("400 ms", 22.3, 32.5),
    ("1 s", 18.3, 38.0),
    ("1600 ms", 16.5, 43.0),
    ("2 s", 11.9, 59.0),
    ("3 s", 9.5, 79.0),
)

# Our metric, the name of the ratio, the title of the panel and of the table, and the factor to its unit.
_METRICS = (
    ("flows.main.goodput_bps", "throughput_ratio", "Throughput", "Mbit/s", 1e-6),
    ("flows.main.delay_ms.mean", "delay_ratio", "Mean delay", "ms", 1.0),
)

TABLE = "published.md"


def measures(result: CampaignResult) -> pl.DataFrame:
    """`throughput_ratio`, `delay_ratio`: those of each run over the published means."""
    import polars as pl

    parts = []
    for (metric, ratio, _, _, factor), theirs in zip(_METRICS, _published(), strict=True):
        published = pl.col(WORDS[0].place).replace_strict(theirs, return_dtype=pl.Float64)
        parts.append(
            result.runs.filter(metric=metric).select(
                "variant", "replicate", metric=pl.lit(ratio), value=pl.col("value") * factor / published
            )
        )
    return pl.concat(parts)


def _published() -> tuple[dict[str, float], dict[str, float]]:
    """The published throughputs and delays by mean interruption."""
    return {off: rate for off, rate, _ in PUBLISHED}, {off: delay for off, _, delay in PUBLISHED}


def compared(result: CampaignResult) -> pl.DataFrame:
    """A row per metric, receive window and mean interruption.

    Columns: `of`, `unit`, `window`, `interruption`, `theirs`, `ours`, `low`, `high` (95 %), and `ratio`, ours
    over theirs.
    """
    import polars as pl

    from leobench import stats

    runs = rename(result.runs, WORDS)
    parts = []
    for (metric, _, title, unit, factor), published in zip(_METRICS, _published(), strict=True):
        scaled = runs.filter(metric=metric).with_columns(pl.col("value") * factor)
        means = stats.mean_intervals(scaled, ["window", "interruption", "metric"])
        theirs = pl.col("interruption").replace_strict(published, return_dtype=pl.Float64)
        parts.append(
            means.select(
                "window", "interruption", "low", "high", of=pl.lit(title), unit=pl.lit(unit), theirs=theirs,
                ours=pl.col("mean"), ratio=pl.col("mean") / theirs,
            )
        )  # fmt: skip
    return pl.concat(parts)


def draw(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """Throughput and delay over the mean interruption, a line per window, and the published means.

    Writes the numbers to `folder`/published.md.
    """
    import polars as pl

    from leobench.plots import style

    rows = compared(result)
    write_text(folder / TABLE, table(rows))
    figure, panels = style.panels(2, height=3.0)
    windows = rows["window"].unique(maintain_order=True).to_list()
    for axes, (_, _, title, unit, _) in zip(panels, _METRICS, strict=True):
        shown = rows.filter(of=title)
        for window, colour in zip(windows, style.ramp(len(windows)), strict=True):
            line = shown.filter(window=window)
            times = [seconds(each) for each in line["interruption"]]
            axes.plot(times, line["ours"], color=colour, marker="o", markersize=3, label=window)
            known = line.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
            axes.vlines(
                [seconds(each) for each in known["interruption"]], known["low"], known["high"], colour
            )
        theirs = [(seconds(off), rate if title == "Throughput" else delay) for off, rate, delay in PUBLISHED]
        axes.plot(*zip(*theirs, strict=True), "x", color=style.INK, label="published")
        style.dress(axes, f"{title} ({unit})", "")
        style.label_x(axes, "mean interruption (s)")
    style.key(figure, panels[0], "receive window")
    style.note(figure, means_of(campaign))
    return figure


def table(rows: pl.DataFrame) -> str:
    """The rows of `compared` as a page."""
    lines = ["# TCP end to end: the authors' published means and ours", ""]
    for of, unit in rows.select("of", "unit").unique(maintain_order=True).iter_rows():
        lines += [
            f"## {of} ({unit})",
            "",
            "| receive window | mean interruption | theirs | ours | 95 % interval | ours / theirs |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows.filter(of=of).iter_rows(named=True):
            low, high = ("?" if row[end] is None else f"{row[end]:.3g}" for end in ("low", "high"))
            lines.append(
                f"| {row['window']} | {row['interruption']} | {row['theirs']:.3g} | {row['ours']:.3g} "
                f"| {low} to {high} | {row['ratio']:.2f} |"
            )
        lines.append("")
    return "\n".join(lines)
