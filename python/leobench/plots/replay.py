"""The path that a replay inferred: its capacity over time, and where the transfer only bounded it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.plots import style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

# Share of the draws from which a bin counts as bounded only.
_BOUNDED = 0.5


def draw(bands: pl.DataFrame) -> Figure:
    """Draws the bands of `leobench.fitting.replay.outcome.bands`: capacity above, base round trip below."""
    figure, (above, below) = style.stack(2, 4.2, ratios=(2, 1))
    times = bands["time_s"].to_numpy()
    for axes, name, colour in ((above, "capacity_mbps", style.BLUE), (below, "base_ms", style.PURPLE)):
        column = {share: bands[f"{name}_p{share:02}"].to_numpy() for share in (5, 25, 50, 75, 95)}
        axes.fill_between(times, column[5], column[95], color=colour, alpha=0.2, linewidth=0, label="90 %")
        axes.fill_between(times, column[25], column[75], color=colour, alpha=0.4, linewidth=0, label="50 %")
        axes.plot(times, column[50], color=colour, linewidth=1.0, label="median")
    observed = bands["observed_mbps"].to_numpy()
    above.plot(times, observed, color=style.BLACK, linewidth=0.7, label="throughput of the recording")
    bounded = bands["bounded"].to_numpy() > _BOUNDED
    top = float(bands["capacity_mbps_p95"].quantile(0.99) or 1.0) * 1.1
    above.fill_between(
        times, 0, top, where=bounded.tolist(), step="mid", color=style.CLOSED, alpha=0.35, linewidth=0,
        label="lower bound only",
    )  # fmt: skip
    style.dress(above, "Inferred capacity", "Mbit/s")
    above.set_ylim(0, top)
    style.dress(below, "Inferred round trip of the idle path", "ms", zero=False)
    style.label_x(below, "time (s)")
    style.key(figure, above)
    return figure
