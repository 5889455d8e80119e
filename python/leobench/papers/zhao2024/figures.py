"""The figure for Zhao and Pan 2024: four measures of a live stream by the target of latency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leobench.overrides import as_text
from leobench.papers.words import Word, rename, with_measures
from leobench.papers.zhao2024 import measures
from leobench.plots import style

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_ALGORITHMS = {as_text({"kind": "dynamic", "version": 4, "window": 3}): "dynamic"}
_COLOURS = {"dynamic": style.VERMILION, "l2a": style.BLUE}
_SESSIONS = Path(__file__).parent / "sessions.csv"
_PANELS = {
    "bitrate_mbps": "bitrate (Mbit/s)",
    "switches": "changes of the bitrate",
    "behind_s": "behind the target (s)",
    "stalled_percent": "without pictures (%)",
}

WORDS = (
    Word("flows.stream.video.adaptation", "algorithm", _ALGORITHMS),
    Word(measures.TARGET, "target"),
)


def draw(network: str) -> Callable[[Campaign, CampaignResult, Path], Figure]:
    """Draws the campaign of a network."""

    def drawn(campaign: Campaign, result: CampaignResult, _folder: Path) -> Figure:
        import polars as pl

        from leobench import stats

        runs = rename(with_measures(result.runs, measures.of_sessions(result)), WORDS)
        ours = stats.mean_intervals(runs, ["algorithm", "target", "metric"])
        figure, grid = style.grid(2, 2, (style.PAGE, 4.6), sharex="all")
        for axes, (metric, label) in zip(grid.flat, _PANELS.items(), strict=True):
            shown = ours.filter(metric=metric)
            for algorithm, colour in _COLOURS.items():
                _ours(axes, shown.filter(algorithm=algorithm), algorithm, colour)
                measured = pl.col("network") == network, pl.col("algorithm") == algorithm
                _theirs(axes, sessions().filter(measured), metric, algorithm, colour)
            style.dress(axes, "", label)
        for axes in grid[-1]:
            axes.set_xticks(range(3, 7))
            style.label_x(axes, "target of latency (s)")
        style.key(figure, grid[0][0])
        style.note(
            figure,
            f"lines: means of {campaign.replicates} runs, 95 % intervals; rings: of the authors' sessions",
        )
        return figure

    return drawn


def sessions() -> pl.DataFrame:
    """The means of the authors' sessions, with the latency as what it is behind the target."""
    import polars as pl

    target = pl.col("target").str.strip_suffix("s").cast(pl.Float64)
    rows = pl.read_csv(_SESSIONS).with_columns(target_s=target)
    behind = pl.col("latency_s_mean") - pl.col("target_s")
    return rows.with_columns(behind_s_mean=behind, behind_s_sd=pl.col("latency_s_sd"))


def _seconds(rows: pl.DataFrame) -> list[float]:
    return [float(text.removesuffix(" s")) for text in rows["target"]]


def _ours(axes: Axes, rows: pl.DataFrame, algorithm: str, colour: str) -> None:
    means = rows["mean"].to_numpy()
    errors = [means - rows["low"].to_numpy(), rows["high"].to_numpy() - means]
    axes.errorbar(
        _seconds(rows), means, errors, color=colour, linewidth=1.2, capsize=2, label=f"{algorithm}, here"
    )


def _theirs(axes: Axes, rows: pl.DataFrame, metric: str, algorithm: str, colour: str) -> None:
    at, means, spread = rows["target_s"], rows[f"{metric}_mean"], rows["sessions"].sqrt()
    # Standard errors make 95 % intervals by Student's t with 9 degrees of freedom.
    errors = 2.262 * rows[f"{metric}_sd"] / spread
    axes.errorbar(
        at + 0.06, means, errors, color=colour, linestyle="none", marker="o", markersize=5, linewidth=0.8,
        fillstyle="none", label=f"{algorithm}, measured",
    )  # fmt: skip
